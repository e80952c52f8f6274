// Course screens as places: their numbers and titles, and the question on each.

import { remembered } from "../../ui/frontend/dom/memory.ts";
import { askRoute } from "../../ui/frontend/server.ts";
import type { ContentsEntry } from "./contract.ts";
import { ChangedInputs } from "./inputs.ts";
import { isGoal } from "./question.ts";
import { screenRequest } from "./screen.ts";

const contents = remembered((_page: Document) => ({ asked: null as Promise<ContentsEntry[]> | null }));

/** "2.3 Look up"; "" for an unknown screen. */
export async function titleScreen(api: string, [chapter, screen]: string[]): Promise<string> {
  const known = contents(document);
  known.asked ??= askRoute(api, "course_chapter", {}).then(({ meta }) => meta.contents);
  known.asked.catch(() => (known.asked = null));
  const all = await known.asked;
  const place = all.findIndex(({ name }) => name === chapter);
  if (place < 0 || !screen) return all[place]?.title ?? "";
  const within = all[place].screens.findIndex(({ name }) => name === screen);
  return within < 0 ? "" : `${place + 1}.${within + 1} ${all[place].screens[within].title}`;
}

/**
 * The first question of a screen in its initial state, after tries; null if it has none. A goal has no mark: the answer
 * is how a student has changed the screen, which the room does not know.
 */
export async function describeScreen(api: string, [chapter, screen]: string[], _variant: string, tries: string[]) {
  const { meta } = await askRoute(api, "course_chapter", { chapter });
  const row = meta.screens.find(({ name }) => name === screen);
  if (!row) return null;
  const asked = { chapter, ...screenRequest(row, new ChangedInputs().all(row)), asks: true, tries };
  const answer = row.is_long ? askRoute(api, "course_run", asked) : askRoute(api, "course_screen", asked);
  const { answered, question } = (await answer).meta;
  const first = answered[0] ?? question;
  return first && isGoal(first) ? { ...first, is_right: null, mistake: "" } : first;
}
