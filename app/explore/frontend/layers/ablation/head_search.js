// Heads without which the answer is another one: a greedy search that the server takes a step of at each request.

import { switchHeads } from "../../../../../model/rendering/static/state/head_ablation.js";
import { remembered } from "../../../../../model/rendering/static/state/memory.js";
import {
  createElement,
  formatPercent,
  inlineText,
  updateChildren,
} from "../../../../../model/rendering/static/ui/dom.js";
import { failureText, isAbort } from "../../../../ui/frontend/server.js";
import { answerPosition, layerElement, showLayersMessage } from "../layer_panel.js";

/** @import { AblatedHead, ExplorePage, HeadSearchMeta, Tab } from "../../types.js" */
/** @import { Grid } from "../../../../../model/rendering/static/types.js" */

/**
 * A search and where it stands; `applied` once its heads are off on the page.
 * @typedef {{ meta: HeadSearchMeta | null, running: AbortController | null, problem: string, applied: boolean }} Search
 */

/** By the question that is searched, so that undo leads back to what was found. */
const memory = remembered((/** @type {ExplorePage} */ _page) => /** @type {Map<string, Search>} */ (new Map()));

export default /** @type {Tab} */ ({ draw: drawSearch });

/** The question that is on the screen; with other edits, another. @param {ExplorePage} page @param {string[]} [edits] */
function searchedQuestion(page, edits = page.state.answer.question.edits) {
  return JSON.stringify({ ...page.state.answer.question, query: answerPosition(page), edits });
}

/** @param {ExplorePage} page @returns {Search} */
function currentSearch(page) {
  return memory(page).get(searchedQuestion(page)) ?? { meta: null, running: null, problem: "", applied: false };
}

/** @param {ExplorePage} page */
function drawSearch(page) {
  const { attention_groups, predictions } = page.state.answer;
  if (!attention_groups.length)
    return showLayersMessage(page, "This model has no layers, so it has no heads to switch off.");
  if (!predictions.length)
    return showLayersMessage(
      page,
      "This model ends without a head, so there is no answer that its heads could change.",
    );
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

/** @param {ExplorePage} page @param {Search} search */
function drawProgress(page, search) {
  const { meta, running, problem } = search;
  const button = layerElement(page, "search", HTMLButtonElement);
  const bar = layerElement(page, "search-progress", HTMLProgressElement);
  button.textContent = running ? "Stop" : meta ? "Go on" : "Find the heads";
  button.hidden = Boolean(meta?.done);
  button.onclick = () => (running ? stopSearch(page, search) : runSearch(page, search));
  bar.hidden = !meta || meta.done;
  bar.value = meta ? meta.search.tested / meta.heads : 0;
  const status = layerElement(page, "search-status");
  if (problem) status.textContent = problem;
  else if (!meta || meta.done) status.textContent = "";
  else
    status.textContent = `${ordinal(meta.search.heads.length + 1)} head: ${meta.search.tested} of ${meta.heads} tried`;
}

/** @param {number} number */
function ordinal(number) {
  const ending = { 1: "st", 2: "nd", 3: "rd" }[number % 10];
  return `${number}${Math.floor(number / 10) === 1 ? "th" : (ending ?? "th")}`;
}

/** @param {string} text */
function quoted(text) {
  return createElement("bdi", "token", inlineText(text));
}

/** A row for all heads, and one for each head that is switched off. @param {ExplorePage} page @param {HeadSearchMeta} meta */
function createRows(page, { search, text }) {
  const shares = search.leads.map(({ log_probability }) => Math.exp(log_probability));
  const start = createElement("span", "name");
  start.append(quoted(text), " with all of these on");
  const names = [start, ...search.heads.map((head) => createHeadButton(page, head))];
  return shares.map((share, place) => createRow(names[place], share, shares[place - 1]));
}

/** @param {HTMLElement} name @param {number} share of the answer @param {number | undefined} before */
function createRow(name, share, before) {
  const row = createElement("li");
  const track = createElement("span", "track");
  const bar = createElement("i", "bar");
  bar.style.width = `${share * 100}%`;
  if (before !== undefined) {
    const ghost = createElement("i", "ghost");
    ghost.style.width = `${before * 100}%`;
    track.append(ghost);
  }
  track.append(bar);
  const words = before === undefined ? "" : `${formatPercent(before)} → `;
  row.append(name, track, createElement("span", "number", `${words}${formatPercent(share)}`));
  return row;
}

/** @param {ExplorePage} page @param {AblatedHead} ablated */
function createHeadButton(page, { path, head }) {
  const { grid, layer } = attentionOf(page, path);
  const where = page.state.answer.attention_groups.length > 1 ? `${grid.title}, layer ${layer}` : `Layer ${layer}`;
  const button = createElement("button", "name", `${where}, head ${head}`);
  button.title = "Select this head";
  button.onclick = () => page.change({ attention: grid.name, layer, head });
  return button;
}

/** @param {ExplorePage} page @param {string} path such as "decoder.3.self" @returns {{ grid: Grid, layer: number }} */
function attentionOf(page, path) {
  const [stack, layer, kind] = path.split(".");
  const grids = page.state.answer.attention_groups;
  return { grid: grids.find((grid) => grid.stack === stack && grid.kind === kind) ?? grids[0], layer: Number(layer) };
}

/** What was found, in a sentence. @param {HeadSearchMeta} meta */
export function outcomeWords({ changed, text, likeliest, most, search }) {
  const count = search.heads.length;
  const these = count === 1 ? "this head" : `these ${count} heads`;
  if (changed) return [`Without ${these} the answer is `, quoted(likeliest), " and no longer ", quoted(text), "."];
  const another = "Heads were tried one at a time, so another set may still change it.";
  if (!search.stuck)
    return [`Without ${these} the answer is still `, quoted(text), `. The search stops at ${most}. ${another}`];
  const found = count ? `Beyond ${these} no` : "No";
  return [`${found} head makes `, quoted(text), ` less sure, so the answer stays. ${another}`];
}

/** The heads become edits of the page like any other. @param {ExplorePage} page @param {HeadSearchMeta} meta */
function applySearch(page, { search }) {
  let { edits } = page.state.choice;
  for (const { path, head } of search.heads) {
    const { grid, layer } = attentionOf(page, path);
    edits = switchHeads(edits, grid, [[layer, head]], true);
  }
  memory(page).set(searchedQuestion(page, edits), { ...currentSearch(page), applied: true });
  page.change({ edits });
}

/** @param {ExplorePage} page @param {Search} search */
function stopSearch(page, search) {
  search.running?.abort();
  search.running = null;
  page.view.redraw();
}

/**
 * Asks for one step after the other, from where it stopped; another question on the page ends it.
 * @param {ExplorePage} page @param {Search} search
 */
async function runSearch(page, search) {
  const question = searchedQuestion(page);
  const running = new AbortController();
  const isShown = () => question === searchedQuestion(page);
  const redraw = () => {
    if (isShown() && page.state.choice.tab === "layers") page.view.redraw();
  };
  memory(page).set(question, Object.assign(search, { running, problem: "" }));
  redraw();
  try {
    while (!search.meta?.done && isShown() && !running.signal.aborted) {
      const body = { ...JSON.parse(question), ...(search.meta ? { search: search.meta.search } : {}) };
      search.meta = await fetchStep(page, body, running.signal);
      redraw();
    }
  } catch (error) {
    if (!isAbort(error)) search.problem = failureText(error);
  } finally {
    if (search.running === running) search.running = null;
    redraw();
  }
}

/** @param {ExplorePage} page @param {object} body @param {AbortSignal} signal */
async function fetchStep(page, body, signal) {
  /** @type {import("../../../../../model/rendering/static/ui/wire.js").Packed<HeadSearchMeta & { error?: string }>} */
  const { meta } = await page.server.post("head_search", body, signal);
  if (meta.error) throw new Error(meta.error);
  return meta;
}
