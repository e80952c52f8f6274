// The Lessons page: what a class is brought to from a teacher's notes, and the work of another browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { offeredFields, reportedPlace } from "../../../app/headlight_app/room/frontend/answers.ts";
import { open, settle, until } from "../opened.js";

const PENCIL = "attention-with-a-pencil";
const WORK = { version: 1, seed: 7, model: "", step: 0, tries: [["1234"]], settled: [], right: [] };

/** @param {Record<string, string>} choice */
async function lesson(choice) {
  const address = `lesson?model=stories-causal&lesson=${PENCIL}`;
  const page = await open({ module: "lesson/frontend/main.ts", address, choice });
  await until(() => page.all("[data-testid=step], [data-testid=notes-0]")[0]);
  await settle();
  return page;
}

test("from the notes the class is brought to the lesson, without notes and without the work of others", async () => {
  localStorage.setItem(`headlight-lesson-${PENCIL}`, JSON.stringify(WORK));
  const steps = await lesson({ lesson_step: "1" });
  assert.deepEqual(offeredFields(true), {
    ...{ lesson: PENCIL, lesson_step: "1" },
    lesson_work: localStorage.getItem(`headlight-lesson-${PENCIL}`),
  });
  assert.ok(!steps.shows("of-another"));
  const notes = await lesson({ notes: "1" });
  assert.ok(notes.shows("notes-0"));
  assert.deepEqual(offeredFields(true), { lesson: PENCIL, notes: "", lesson_step: "", lesson_work: "" });
  assert.equal(reportedPlace(), `lesson/${PENCIL}`);
  localStorage.clear();
});

test("the work of another browser is named so, cannot be handed in, and is not kept", async () => {
  localStorage.clear();
  const page = await lesson({ lesson_work: JSON.stringify(WORK), lesson_step: "4" });
  assert.equal(page.text("of-another"), "Work of another browser; nothing here is kept.");
  assert.equal(page.all(".hand-in").length, 0);
  assert.equal(localStorage.length, 0);
  localStorage.setItem(`headlight-lesson-${PENCIL}`, JSON.stringify(WORK));
  const own = await lesson({ lesson_step: "4" });
  assert.ok(!own.shows("of-another") && own.shows("hand-in"));
  localStorage.clear();
});
