// Heads without which the answer changes: a greedy search; each request makes the server continue it.

import { areIndependent } from "../../../../ui/frontend/charts/answer_numbers.js";
import { createTrack } from "../../../../ui/frontend/charts/track.js";
import {
  createElement,
  formatPercent,
  inlineText,
  quotedToken,
  updateChildren,
} from "../../../../ui/frontend/dom/dom.js";
import { createTable } from "../../../../ui/frontend/export/page_export.js";
import { askRoute } from "../../../../ui/frontend/server.js";
import { switchHeads } from "../../../../ui/frontend/state/head_ablation.js";
import { remembered } from "../../../../ui/frontend/state/memory.js";
import { drawShares } from "../../export/layer_figures.js";
import { runOf } from "../../export/shown_run.js";
import { answerPosition, layerElement, showLayersMessage } from "../layer_panel.js";
import { drawSteps, takeSteps, whyNoHeads } from "./steps.js";

/** @import { AblatedHead, AttentionGroup, ExplorePage, HeadSearchAnswer, ShownDrawing, Tab } from "../../types.js" */
/** @import { Steps } from "./steps.js" */

/**
 * A search and its progress; `applied` once its heads are off on the page.
 * @typedef {Steps & { meta: HeadSearchAnswer | null, applied: boolean }} Search
 */

/** Searches by question, so that undo restores earlier results. */
const memory = remembered((/** @type {ExplorePage} */ _page) => /** @type {Map<string, Search>} */ (new Map()));

export default /** @type {Tab} */ ({ draw: drawSearch, exported: exportSearch });

/** The question to search; other edits make another question. @param {ExplorePage} page @param {string[]} [edits] */
function searchedQuestion(page, edits = page.state.answer.question.edits) {
  return { question: { ...page.state.answer.question, edits }, query: answerPosition(page) };
}

/** The key of a search. @param {ExplorePage} page @param {string[]} [edits] */
function searchKey(page, edits) {
  return JSON.stringify(searchedQuestion(page, edits));
}

/** @param {ExplorePage} page @returns {Search} */
function currentSearch(page) {
  return memory(page).get(searchKey(page)) ?? { meta: null, running: null, problem: "", applied: false };
}

/** @param {ExplorePage} page */
function drawSearch(page) {
  const why = whyNoHeads(page);
  if (why) return showLayersMessage(page, why);
  const search = currentSearch(page);
  drawProgress(page, search);
  const { meta } = search;
  layerElement(page, "search-result").hidden = !meta?.search.leads.length;
  if (!meta) return;
  updateChildren(layerElement(page, "search-found"), ...createRows(page, meta));
  layerElement(page, "search-outcome").replaceChildren(...(meta.done ? outcomeWords(meta) : []));
  const apply = layerElement(page, "search-apply", HTMLButtonElement);
  apply.hidden = !meta.changed || search.applied;
  apply.onclick = () => applySearch(page, meta);
  layerElement(page, "search-applied").hidden = !search.applied;
}

/** @param {ExplorePage} page @returns {Promise<ShownDrawing>} */
async function exportSearch(page) {
  const { meta } = currentSearch(page);
  if (!meta?.search.leads.length) throw new Error("No head has been found yet: start the search first.");
  const shares = meta.search.leads.map(({ log_probability }) => Math.exp(log_probability));
  const names = [
    "all heads on",
    ...meta.search.heads.map(({ path, head }) => `without ${headTitle(page, path, head)}`),
  ];
  const steps = shares.map((share, place) => ({ label: names[place], share }));
  return {
    name: "head-search",
    shown: `the probability of “${inlineText(meta.text)}”, the heads switched off one after another`,
    sides: [runOf(page)],
    draw: drawShares(steps),
    tables: {
      "Search of heads": createTable(
        "head search",
        { heads: names.slice(0, shares.length), number: ["probability of the answer"] },
        shares,
      ),
    },
  };
}

/** @param {ExplorePage} page @param {Search} search */
function drawProgress(page, search) {
  const { meta } = search;
  const isUnderway = meta !== null && !meta.done;
  const words = isUnderway
    ? `${ordinal(meta.search.heads.length + 1)} head: ${meta.search.tested} of ${meta.heads} tried`
    : "";
  drawSteps(page, "search", search, () => runSearch(page, search), {
    title: meta ? "Go on" : "Find the heads",
    share: meta ? meta.search.tested / meta.heads : 0,
    isUnderway,
    words: [words],
  });
  layerElement(page, "search").hidden = Boolean(meta?.done);
}

/** @param {number} number */
function ordinal(number) {
  const ending = { 1: "st", 2: "nd", 3: "rd" }[number % 10];
  return `${number}${Math.floor(number / 10) === 1 ? "th" : (ending ?? "th")}`;
}

/** A row for all heads, and one for each head that is switched off. @param {ExplorePage} page @param {HeadSearchAnswer} meta */
function createRows(page, { search, text }) {
  const shares = search.leads.map(({ log_probability }) => Math.exp(log_probability));
  const start = createElement("span", "name", [quotedToken({ text }), " with all of these on"]);
  const names = [start, ...search.heads.map((head) => createHeadButton(page, head))];
  return shares.map((share, place) => createRow(names[place], share, shares[place - 1]));
}

/** @param {HTMLElement} name @param {number} share of the answer @param {number | undefined} before */
function createRow(name, share, before) {
  const row = createElement("li");
  const words = before === undefined ? "" : `${formatPercent(before)} → `;
  row.append(name, createTrack(share, before), createElement("span", "number", `${words}${formatPercent(share)}`));
  return row;
}

/** @param {ExplorePage} page @param {AblatedHead} ablated */
function createHeadButton(page, { path, head }) {
  const { group, layer } = attentionOf(page, path);
  const onclick = () => page.change({ attention: group.name, layer, head });
  return createElement("button", "name", headTitle(page, path, head), { title: "Select this head", onclick });
}

/** @param {ExplorePage} page @param {string} path @param {number} head */
function headTitle(page, path, head) {
  const { group, layer } = attentionOf(page, path);
  const where = page.state.answer.attention_groups.length > 1 ? `${group.title}, layer ${layer}` : `Layer ${layer}`;
  return `${where}, head ${head}`;
}

/** @param {ExplorePage} page @param {string} path such as "decoder.3.self" @returns {{ group: AttentionGroup, layer: number }} */
function attentionOf(page, path) {
  const [stack, layer, kind] = path.split(".");
  const groups = page.state.answer.attention_groups;
  return {
    group: groups.find((group) => group.stack === stack && group.kind === kind) ?? groups[0],
    layer: Number(layer),
  };
}

/** The result in a sentence. @param {HeadSearchAnswer} meta */
export function outcomeWords({ changed, text, likeliest, most, search, problem_type }) {
  const count = search.heads.length;
  const these = count === 1 ? "this head" : `these ${count} heads`;
  if (changed && areIndependent({ problem_type }))
    return [
      count ? `Without ${these} the label ` : "The label ",
      quotedToken({ text }),
      " has less than 50 %: the model no longer gives it.",
    ];
  if (changed)
    return [
      `Without ${these} the answer is `,
      quotedToken({ text: likeliest }),
      " and no longer ",
      quotedToken({ text }),
      ".",
    ];
  const another = "Heads were tried one at a time, so another set may still change it.";
  if (!search.stuck)
    return [
      `Without ${these} the answer is still `,
      quotedToken({ text }),
      `. The search stops at ${most}. ${another}`,
    ];
  const found = count ? `Besides ${these}, no` : "No";
  return [`${found} head makes `, quotedToken({ text }), ` less likely, so the answer stays. ${another}`];
}

/** Turns the found heads into ordinary edits of the page. @param {ExplorePage} page @param {HeadSearchAnswer} meta */
function applySearch(page, { search }) {
  let { edits } = page.state.choice;
  for (const { path, head } of search.heads) {
    const { group, layer } = attentionOf(page, path);
    edits = switchHeads(edits, group, [[layer, head]], true);
  }
  memory(page).set(searchKey(page, edits), { ...currentSearch(page), applied: true });
  page.change({ edits });
}

/** Requests the search step by step. @param {ExplorePage} page @param {Search} search */
function runSearch(page, search) {
  const asked = searchedQuestion(page);
  const key = searchKey(page);
  memory(page).set(key, search);
  const isShown = () => key === searchKey(page);
  return takeSteps(page, search, isShown, async (signal) => {
    if (search.meta?.done) return false;
    const request = search.meta ? { ...asked, search: search.meta.search } : asked;
    search.meta = (await askRoute(page.server.api, "head_search", request, signal)).meta;
    return true;
  });
}
