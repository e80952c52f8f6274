// Lesson steps as places: their titles, and the question of each. Learners get different texts, and so different
// options; the options of all texts are merged.

import type { Asked } from "../../room/frontend/counts.ts";
import { askRoute } from "../../ui/frontend/server.ts";

const SEEDS = 8; // a lesson's seed selects one of its few texts

/** "Sharp and soft, step 2"; "" for an unknown step. */
export async function titleStep(api: string, [lesson, step]: string[]): Promise<string> {
  const { lessons } = (await askRoute(api, "lessons", {})).meta;
  const row = lessons.find(({ name }) => name === lesson);
  if (!row || !step) return row?.title ?? "";
  return row.steps[Number(step)] ? `${row.title}, step ${Number(step) + 1}` : "";
}

/** The question of a step; null if it has none. */
export async function describeStep(api: string, [lesson, step]: string[]): Promise<Asked | null> {
  const asked = Array.from({ length: SEEDS }, (_, seed) => askRoute(api, "lesson_step", { lesson, seed, step: +step }));
  const questions = (await Promise.all(asked)).flatMap(({ meta }) => meta.question ?? []);
  if (!questions.length) return null;
  const [{ kind, text }] = questions;
  const options = [...new Set(questions.flatMap((question) => question.options))];
  return { kind, text, options, rows: shared(questions, "rows"), columns: shared(questions, "columns") };
}

/** The names along an axis, or numbers if they differ between the questions. */
function shared(questions: Asked[], axis: "rows" | "columns") {
  const [first, ...others] = questions.map((question) => question[axis]);
  const isSame = others.every((names) => JSON.stringify(names) === JSON.stringify(first));
  return isSame ? first : first.map((_, place) => String(place));
}
