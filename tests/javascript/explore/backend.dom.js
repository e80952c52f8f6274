// Explore with answers that come from no server: what has no answer is absent, and the link is in the fragment.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, settle, until } from "../opened.js";
import { shown, WORDS } from "./opened.js";

const TABS = [
  { name: "heads", title: "Heads", route: "head_view" },
  { name: "walkthrough", title: "Step by step", route: "walkthrough" },
  { name: "layers", title: "Layers", route: "analysis" },
  { name: "tokens", title: "Tokens and vectors", route: "input_vectors" },
];
const ROUTES = ["trace", "head_view", "head_metrics", "query_key_weights"];

/** What answers a page's questions; the answers are those of the app. */
const BACKEND = {
  patches: false,
  answers: (/** @type {string} */ route) => ROUTES.includes(route),
  /** @param {string} route @param {unknown} body @param {AbortSignal} [signal] */
  async post(route, body, signal) {
    assert.ok(ROUTES.includes(route), route);
    return (await fetch(`api/${route}`, { method: "POST", body: JSON.stringify(body), signal })).arrayBuffer();
  },
};

async function opened() {
  const page = await open({
    module: "explore/frontend/main.ts",
    address: "explore?model=induction",
    choice: { text: WORDS },
    data: { api: BACKEND, link_place: "hash", tabs: TABS, link_settings: { model: "", device: "auto", measure: "" } },
  });
  await shown(page, WORDS);
  return page;
}

test("a page asks its backend alone, for routes that it answers", async () => {
  const page = await opened();
  await settle();
  assert.ok(page.questions.length > 0);
  assert.deepEqual(
    page.questions.map(({ route }) => route).filter((route) => !ROUTES.includes(route)),
    [],
  );
  assert.match(page.text("predictions"), /after lamp/);
});

test("what needs another route is absent", async () => {
  const page = await opened();
  await settle();
  for (const absent of ["export-menu-button", "positions-link", "stair-code"])
    assert.ok(page.get(absent).closest("[data-absent]"), absent);
  assert.ok(!page.shows("inside-weights") && page.shows("head-title"));
  assert.equal(page.place.querySelector("[data-testid=plot-qk_projection]"), null);
  for (const part of page.all("[data-testid=picture] button"))
    assert.equal(/** @type {HTMLButtonElement} */ (part).disabled, !part.classList.contains("heads"));
  assert.ok(!page.shows("why") && !page.shows("offer"));
  const named = page.all("[data-testid=picture] .part > .name").map((name) => name.textContent);
  assert.deepEqual(named, ["tokens", "prediction"]);
  assert.equal(page.text("hint"), "Click the heads of a layer to open them below.");
});

test("values of another text's run are not offered", async () => {
  const page = await opened();
  page.click("changes");
  const offered = page.all("[data-testid=make-operation] option").map((option) => option.textContent);
  assert.ok(offered.length > 2 && !offered.includes("is taken from another text"), offered.join());
});

test("choices are written into the fragment", async () => {
  const page = await opened();
  page.fill("sentence", "cat lamp pan");
  await shown(page, "cat lamp pan");
  await until(() => location.hash.includes("text=cat+lamp+pan"));
  assert.equal(location.pathname, "/explore");
});
