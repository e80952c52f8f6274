// Lesson steps as places: their titles, and the question of each. Learners get different texts, and so different
// options; the options of all texts are merged.

import { askRoute } from "../../ui/frontend/server.js";

/** @import { Asked } from "../../room/frontend/counts.js" */

const SEEDS = 8; // a lesson's seed selects one of its few texts

/** "Sharp and soft, step 2"; "" for an unknown step. @param {string} api @param {string[]} names @returns {Promise<string>} */
export async function titleStep(api, [lesson, step]) {
  const { lessons } = (await askRoute(api, "lessons", {})).meta;
  const row = lessons.find(({ name }) => name === lesson);
  if (!row || !step) return row?.title ?? "";
  return row.steps[Number(step)] ? `${row.title}, step ${Number(step) + 1}` : "";
}

/** The question of a step; null if it has none. @param {string} api @param {string[]} names @returns {Promise<Asked | null>} */
export async function describeStep(api, [lesson, step]) {
  const asked = Array.from({ length: SEEDS }, (_, seed) => askRoute(api, "lesson_step", { lesson, seed, step: +step }));
  const questions = (await Promise.all(asked)).flatMap(({ meta }) => meta.question ?? []);
  if (!questions.length) return null;
  const [{ kind, text }] = questions;
  const options = [...new Set(questions.flatMap((question) => question.options))];
  return { kind, text, options, rows: shared(questions, "rows"), columns: shared(questions, "columns") };
}

/**
 * The names along an axis, or numbers if they differ between the questions.
 * @param {Asked[]} questions @param {"rows" | "columns"} axis
 */
function shared(questions, axis) {
  const [first, ...others] = questions.map((question) => question[axis]);
  const isSame = others.every((names) => JSON.stringify(names) === JSON.stringify(first));
  return isSame ? first : first.map((_, place) => String(place));
}
