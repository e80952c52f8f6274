// Explore under Node, once it shows its first answer.

import { open, until, wordsOf } from "../opened.js";

/** @import { Answered, Opened } from "../opened.js" */

export const WORDS = "cat lamp pan fan cat lamp";

/**
 * @param {Record<string, unknown>} [choice] @param {string} [model]
 * @param {(route: string, answer: Answered) => Answered | Promise<Answered>} [change] of each answer
 */
export async function explore(choice = {}, model = "induction", change) {
  const state = { text: WORDS, ...choice };
  const page = await open({
    module: "explore/frontend/main.ts",
    address: `explore?model=${model}`,
    choice: state,
    change,
  });
  await shown(page, String(state.text));
  return page;
}

/** Waits until the page shows the answer to a sentence, and every module that it draws with is there. @param {Opened} page @param {string} sentence */
export async function shown(page, sentence) {
  await until(() => page.one(".instrument").dataset.sentence === sentence);
  await until(() => page.all("[data-testid^=panel-]").some((panel) => !panel.hidden));
}

/** @param {Opened} page */
export const thumbs = (page) => page.all(".thumb");

/** The numbers of the sorted heads, in percent; -1 where there is none. @param {Opened} page */
export function ranks(page) {
  return page
    .all(".rank span")
    .map(wordsOf)
    .map((text) => (text.startsWith("<") ? 0.04 : text === "–" ? -1 : parseFloat(text)));
}

/** @param {Opened} page */
export const chips = (page) => page.all("[data-testid=tokens] .chip");

/** The last reported choices. @param {Opened} page */
export async function reported(page) {
  const before = page.reports.length;
  await until(() => page.reports.length > before);
  return page.reports[page.reports.length - 1];
}
