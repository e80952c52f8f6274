// Course screens as places: their numbers and titles, and the question on each.

import { remembered } from "../../ui/frontend/dom/memory.js";
import { askRoute } from "../../ui/frontend/server.js";
import { ChangedInputs } from "./inputs.js";
import { screenRequest } from "./screen.js";

/** @import { ContentsEntry } from "./contract.js" */

const contents = remembered((/** @type {Document} */ _page) => ({
  /** @type {Promise<ContentsEntry[]> | null} */
  asked: null,
}));

/** "2.3 Look up"; "" for an unknown screen. @param {string} api @param {string[]} names @returns {Promise<string>} */
export async function titleScreen(api, [chapter, screen]) {
  const known = contents(document);
  known.asked ??= askRoute(api, "course_chapter", {}).then(({ meta }) => meta.contents);
  known.asked.catch(() => (known.asked = null));
  const all = await known.asked;
  const place = all.findIndex(({ name }) => name === chapter);
  if (place < 0 || !screen) return all[place]?.title ?? "";
  const within = all[place].screens.findIndex(({ name }) => name === screen);
  return within < 0 ? "" : `${place + 1}.${within + 1} ${all[place].screens[within].title}`;
}

/** The question of a screen in its initial state; null if it has none. @param {string} api @param {string[]} names */
export async function describeScreen(api, [chapter, screen]) {
  const { meta } = await askRoute(api, "course_chapter", { chapter });
  const row = meta.screens.find(({ name }) => name === screen);
  if (!row) return null;
  const asked = { chapter, ...screenRequest(row, new ChangedInputs().all(row)), asks: true };
  const answer = row.is_long ? askRoute(api, "course_run", asked) : askRoute(api, "course_screen", asked);
  return (await answer).meta.question;
}
