// A chat: typed as lines, read by the model's template, and each token marked with whose message it is of.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, settle, until, wordsOf } from "../opened.js";
import { chips } from "./opened.js";

const TEXT = "the cat sat\nassistant: on the mat";
const USER = "A message of the user. ";

/** @param {Record<string, unknown>} [choice] @param {string} [name] of the page */
async function talk(choice = {}, name = "explore") {
  const page = await open({
    module: `${name}/frontend/main.ts`,
    address: `${name}?model=talk`,
    file: "chats",
    choice: { text: TEXT, ...choice },
  });
  await settle();
  return page;
}

test("a press makes the text a chat, whose tokens say whose message they are of", async () => {
  const page = await talk();
  const chat = page.get("chat");
  assert.ok(page.shows("chat") && chat.ariaPressed === "false" && !page.shows("chat-hint"));
  assert.ok(chips(page).every(({ dataset }) => !dataset.role));
  page.click(chat);
  await until(() => chips(page).some(({ dataset }) => dataset.role));
  assert.equal(chat.ariaPressed, "true");
  assert.equal(wordsOf(page.one('[for="sentence"]')), "Chat");
  assert.match(page.text("chat-hint"), /begins with system:, user: or assistant: starts a message/);
  assert.equal(page.get("sentence").getAttribute("aria-describedby"), "chat-hint problem");
  const of = (/** @type {string} */ role) => chips(page).filter(({ dataset }) => dataset.role === role);
  assert.equal(of("user").map(wordsOf).join(" "), "the cat sat");
  assert.equal(of("assistant").map(wordsOf).join(" "), "on the mat");
  assert.equal(of("user").length + of("assistant").length + of("template").length, chips(page).length);
  assert.equal(of("user")[1].ariaLabel, "cat (user)");
  assert.ok(of("user")[1].title.startsWith(USER));
  assert.ok(of("template")[0].title.startsWith("A part of the chat template. "));
  page.click(chat);
  await until(() => chips(page).every(({ dataset }) => !dataset.role));
  assert.equal(chips(page)[1].ariaLabel, null);
});

test("a letter in a chat keeps no mark, because the tokens are of another text than the typed one", async () => {
  const page = await talk({ chat: "1", pinned: [2] });
  page.fill("sentence", `${TEXT} the`);
  await settle();
  const last = page.reports.at(-1);
  assert.deepEqual([last?.text, last?.pinned], [`${TEXT} the`, []]);
  const asked = page.questions.findLast(({ route }) => route === "trace");
  assert.deepEqual([asked?.body.question.text, asked?.body.question.chat], [`${TEXT} the`, "1"]);
});

test("a refusal of the template is shown, and the text stays", async () => {
  const page = await talk({ text: "system: the cat", chat: "1" });
  assert.match(page.text("problem"), /chat template fails at this chat: No system message here\./);
  assert.equal(/** @type {HTMLTextAreaElement} */ (page.get("sentence")).value, "system: the cat");
  assert.ok(page.shows("chat") && page.get("chat").ariaPressed === "true");
});

test("the running text of a chat has the spaces of the text that the template made", async () => {
  const page = await talk({ chat: "1", plot: "text" });
  const text = await until(() => page.get("prose").textContent);
  assert.match(text, /she gave the cat sat to the boy/);
});

test("Generate continues with the answer of the assistant, and deletes no passage of a chat", async () => {
  const page = await talk({ text: "the cat" }, "generate");
  page.click("chat");
  const ahead = () => page.get("generator").dataset.known === "true" && page.all("[data-role=user]").length;
  await until(ahead);
  assert.equal(page.all("[data-role=user]").map(wordsOf).join(" "), "the cat");
  assert.equal(page.all("[data-role=user]")[0].title, USER.trim());
  assert.equal(page.get("chat").ariaPressed, "true");
  page.click("step");
  await until(() => page.get("generator").dataset.generated === "1");
  const written = page.one("button.generated");
  assert.ok(written.dataset.role === "assistant" && written.title.startsWith("A message of the assistant. "));
  await settle();
  assert.ok(page.shows("copied") && page.all("[data-testid=copied-rows] .bar-list button").length === 0);
});
