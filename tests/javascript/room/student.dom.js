// A student in a room: where the class is brought, nicknames, and the line above the page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { SCENES_EVENT } from "../../../app/headlight_app/room/frontend/scene_list.ts";
import { settle } from "../opened.js";
import { CODE, nextVisit, openRoom, STUDENT } from "./opened_room.js";

const STEP = { page: "course", query: "chapter=masks" };
const ROOT = document.documentElement;

/** A room whose teacher has brought the class so often to a view, as the server tells it. */
function teacher() {
  const told = { brought: 0, gone: 0, view: /** @type {object | null} */ (null) };
  /** @param {any} body */
  const room_visit = (body) => {
    told.gone = Math.max(told.gone, body.brought);
    return { ...STUDENT, brought: told.brought, view: told.gone < told.brought ? told.view : null };
  };
  /** @param {object} view */
  const bring = (view) => Object.assign(told, { view, brought: told.brought + 1 });
  return { told, bring, room_visit };
}

test("the class is brought to a view once, also who comes late, and each time it is brought again", async () => {
  const { bring, room_visit } = teacher();
  bring(STEP);
  const { page, asked } = await openRoom({ room_visit });
  assert.equal(location.pathname + location.search, "/course?chapter=masks");
  assert.match(page.text("room-said"), /Your teacher has brought the class here\./);
  history.replaceState(null, "", "/course?chapter=heads");
  await nextVisit();
  assert.equal(location.search, "?chapter=heads", "who goes on is left there");
  bring(STEP);
  await nextVisit();
  assert.equal(location.search, "?chapter=masks");
  bring(STEP);
  const before = history.length;
  await nextVisit();
  await nextVisit();
  assert.equal(history.length, before, "who is there already goes nowhere");
  assert.equal(asked.at(-1)?.body.brought, 3);
});

test("who is writing is asked, and goes by a button or once nothing is being written", async () => {
  const box = document.createElement("textarea");
  document.body.append(box);
  const { bring, room_visit } = teacher();
  const { page, asked } = await openRoom({ room_visit });
  box.focus();
  box.value = "the cat";
  bring(STEP);
  await nextVisit();
  assert.equal(location.search, "?chapter=attention");
  assert.match(page.text("room-said"), /Your teacher brings the class to another view\./);
  assert.equal(asked.at(-1)?.body.brought, 0);
  page.click("room-go");
  await settle();
  assert.equal(location.search, "?chapter=masks");
  assert.ok(!page.shows("room-go"));
  assert.equal(asked.at(-1)?.body.brought, 1);
  box.focus();
  bring({ ...STEP, query: "chapter=heads" });
  await nextVisit();
  assert.ok(page.shows("room-go"));
  box.value = "";
  await nextVisit();
  assert.equal(location.search, "?chapter=heads");
  box.remove();
});

test("a nickname is sent once, so that the server may forget it", async () => {
  let wants = true;
  const room_visit = () => ({ ...STUDENT, wants_nickname: wants });
  const { page, asked } = await openRoom({ room_visit });
  assert.ok(page.shows("room-nickname-form"));
  const pattern = new RegExp(`^(?:${/** @type {HTMLInputElement} */ (page.get("room-nickname")).pattern})$`, "v");
  for (const name of ["Zoë", "Ильза", "明", "Ann_2"]) assert.match(name, pattern);
  assert.doesNotMatch("<b>", pattern);
  page.fill("room-nickname", "Zoë");
  wants = false;
  page.get("room-nickname-form").dispatchEvent(new Event("submit", { cancelable: true }));
  await settle();
  assert.ok(!page.shows("room-nickname-form"));
  await nextVisit();
  assert.deepEqual(
    asked.map(({ body }) => body.nickname),
    ["", "Zoë", ""],
  );
});

test("a run of the page does not move the line, and scenes are one click away", async () => {
  const { page, rerun } = await openRoom({ room_visit: () => STUDENT });
  const isAbove = () => ROOT.classList.contains("headlight-in-room");
  assert.ok(page.shows("room-line") && isAbove());
  rerun();
  assert.ok(isAbove());
  let opened = 0;
  document.addEventListener(SCENES_EVENT, () => opened++, { once: true });
  page.click("room-own-scenes");
  assert.equal(opened, 1);
  page.click("room-leave");
  await settle();
  assert.ok(!isAbove() && page.shows("room-button"));
});

test("a view with its answers is sent only once the student agrees", async () => {
  const { page, asked } = await openRoom({ room_visit: () => ({ ...STUDENT, is_shown: true }) });
  await nextVisit();
  assert.ok(asked.every(({ body }) => body.view === null && body.code === CODE));
  page.click("room-agree");
  await settle();
  assert.deepEqual(asked.at(-1)?.body.view, { page: "course", query: "chapter=attention" });
});
