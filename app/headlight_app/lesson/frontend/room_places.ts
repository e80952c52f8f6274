// Lesson steps as places: their titles, and the question of each, which depends on the learner's seed.

import { askRoute } from "../../ui/frontend/server.ts";

/** "Sharp and soft, step 2"; "" for an unknown step. */
export async function titleStep(api: string, [lesson, step]: string[]): Promise<string> {
  const { lessons } = (await askRoute(api, "lessons", {})).meta;
  const row = lessons.find(({ name }) => name === lesson);
  if (!row || !step) return row?.title ?? "";
  return row.steps[Number(step)] ? `${row.title}, step ${Number(step) + 1}` : "";
}

/** The question of a step for a seed, after tries; null if it has none. */
export async function describeStep(api: string, [lesson, step]: string[], seed: string, tries: string[]) {
  const { meta } = await askRoute(api, "lesson_step", { lesson, seed: Number(seed), step: Number(step), tries });
  return meta.question && { ...meta.question, about: [meta.text, ...meta.prose].join("\n") };
}
