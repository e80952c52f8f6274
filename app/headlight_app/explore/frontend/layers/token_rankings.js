// Which tokens count: several rankings of the tokens, each tested by deleting tokens in its order.

import { unitOf } from "../../../ui/frontend/charts/answer_numbers.js";
import { divergingColour, formatNumber, formatShort, formatSigned } from "../../../ui/frontend/charts/charts.js";
import { HEAD_COLOURS } from "../../../ui/frontend/charts/colours.js";
import { addLineChart } from "../../../ui/frontend/charts/figure_charts.js";
import { paintFigure } from "../../../ui/frontend/charts/paint_shapes.js";
import {
  createElement,
  createHeading,
  inlineText,
  onHover,
  quotedToken,
  updateChildren,
} from "../../../ui/frontend/dom/dom.js";
import { createTable, numbered } from "../../../ui/frontend/export/page_export.js";
import { currentStyle } from "../../../ui/frontend/heads/measurements.js";
import { drawCharts } from "../export/layer_figures.js";
import { runOf } from "../export/shown_run.js";
import { askFloats } from "../server.js";
import { answerPosition, layerElement, markWaiting, showLayersMessage } from "./layer_panel.js";

/** @import { LineChart } from "../../../ui/frontend/charts/figure_charts.js" */
/** @import { ExplorePage, Found, ShownDrawing, Tab, TokenRanking, TokenRankingsAnswer } from "../types.js" */
/** @typedef {TokenRanking & { scores: Float32Array, deletion: Float32Array, insertion: Float32Array }} Ranked */

const PAUSE = 400; // milliseconds without another choice
const CURVES = /** @type {const} */ (["deletion", "insertion"]);
/** The colour of random order first; all hues differ. */
const COLOURS = [6, 0, 1, 2, 4, 5].map((place) => HEAD_COLOURS[place]);
const HELP =
  "Orange supports the answer, blue opposes it; a row is shaded by its own largest score. " +
  "Deletion and insertion are the areas under the curves below.";

export default /** @type {Tab} */ ({ draw: drawRankings, exported: exportRankings });

/** @param {ExplorePage} page */
function rankingsQuery(page) {
  return { query: answerPosition(page), token: page.state.choice.target_token };
}

/** @param {ExplorePage} page */
function drawRankings(page) {
  const found = page.server.get("token_rankings", rankingsQuery(page), PAUSE);
  const words = layerElement(page, "rankings-words");
  markWaiting(words, !found);
  if (!found) return;
  const { meta } = found;
  if (meta.error) return showLayersMessage(page, meta.error);
  const ranked = readRankings(found, page.state.answer.tokens.length);
  words.replaceChildren(...faithfulWords(meta));
  drawTable(page, meta, ranked);
  for (const curve of CURVES) drawCurves(page, meta, ranked, curve);
}

/**
 * Each ranking with its scores and curves.
 * @param {Found<TokenRankingsAnswer>} found @param {number} tokens how many @returns {Ranked[]}
 */
export function readRankings({ meta: { rankings, steps }, numbers }, tokens) {
  const size = tokens + 2 * steps.length;
  return rankings.map((ranking, place) => {
    const own = numbers.subarray(place * size, (place + 1) * size);
    const curves = own.subarray(tokens);
    return {
      ...ranking,
      scores: own.subarray(0, tokens),
      deletion: curves.subarray(0, steps.length),
      insertion: curves.subarray(steps.length),
    };
  });
}

/** Names the most faithful rankings. @param {TokenRankingsAnswer} meta @returns {(Node | string)[]} */
export function faithfulWords({ text, rankings, best_deletion, best_insertion }) {
  const random = rankings.find(({ name }) => name === "random");
  const useless = rankings
    .filter((one) => random && one !== random)
    .filter(
      (one) => one.deletion_area >= (random?.deletion_area ?? 0) || one.insertion_area <= (random?.insertion_area ?? 0),
    )
    .map(({ title }) => title);
  const titles = (/** @type {string[]} */ names) =>
    rankings.filter(({ name }) => names.includes(name)).map(({ title }) => title);
  const [deletion, insertion] = [best_deletion, best_insertion].map((names) => titles(names).join(", "));
  const none = "random order";
  const faithful =
    deletion === insertion
      ? deletion
        ? `Most faithful here: ${deletion}.`
        : "No ranking beats random order here."
      : `Most faithful in deletion: ${deletion || none}; in insertion: ${insertion || none}.`;
  const others = useless.length
    ? ` In deletion, in insertion or in both no better than random order: ${useless.join(", ")}.`
    : "";
  return ["Which tokens does ", quotedToken({ text }), ` stand on? ${faithful}${others}`];
}

/** @param {ExplorePage} page @param {TokenRankingsAnswer} meta @param {Ranked[]} ranked */
function drawTable(page, meta, ranked) {
  const { tokens } = page.state.answer;
  const reading = layerElement(page, "rankings-reading");
  reading.textContent = HELP;
  const top = createElement("tr", "", [
    createHeading("", "col"),
    ...["deletion", "insertion"].map((name) => createHeading(name, "col")),
    ...meta.can_go.map((token) => createHeading([createElement("bdi", "", inlineText(tokens[token].text))], "col")),
  ]);
  const rows = ranked.map((one) => {
    const most = Math.max(...meta.can_go.map((token) => Math.abs(one.scores[token]))) || 1;
    const areas = [one.deletion_area, one.insertion_area].map((area) => createElement("td", "", formatNumber(area, 3)));
    const cells =
      one.name === "random"
        ? []
        : meta.can_go.map((token) => createScore(reading, one, tokens[token], one.scores[token], most));
    const name = createHeading(one.title, "row");
    name.title = one.source;
    return createElement("tr", "", [name, ...areas, ...cells]);
  });
  updateChildren(layerElement(page, "rankings", HTMLTableElement), top, ...rows);
}

/**
 * @param {HTMLElement} reading @param {Ranked} ranking @param {{ text: string }} token @param {number} score
 * @param {number} most the largest absolute score of the row
 */
function createScore(reading, ranking, token, score, most) {
  const cell = createElement("td", "score", formatShort(score, most));
  cell.style.background = divergingColour(score / most);
  onHover(cell, {
    read: () =>
      reading.replaceChildren(`${ranking.title}, `, quotedToken(token), `: ${formatSigned(score)} (${ranking.source})`),
  });
  return cell;
}

/** @param {TokenRankingsAnswer} meta @param {Ranked[]} ranked @param {"deletion" | "insertion"} curve @returns {LineChart} */
function curveChart({ steps, text, problem_type }, ranked, curve) {
  const series = ranked.map((one, place) => {
    const isRandom = one.name === "random";
    return { name: one.title, values: one[curve], isBroken: isRandom, stroke: COLOURS[isRandom ? 0 : place + 1] };
  });
  const done = curve === "deletion" ? "deleted" : "put back";
  return {
    series,
    x: [...steps],
    xTitle: `tokens ${done}`,
    yTitle: `${unitOf({ problem_type })} of “${inlineText(text)}”`,
    fromZero: true,
  };
}

/** @param {ExplorePage} page @param {TokenRankingsAnswer} meta @param {Ranked[]} ranked @param {"deletion" | "insertion"} curve */
function drawCurves(page, meta, ranked, curve) {
  const canvas = layerElement(page, `rankings-${curve}`, HTMLCanvasElement);
  const width = canvas.parentElement?.clientWidth;
  if (!width) return;
  const chart = curveChart(meta, ranked, curve);
  paintFigure(canvas, width, currentStyle(page), (figure) => addLineChart(figure, chart, { x: 0, y: 0, width }));
  const areas = ranked.map((one) => `${one.title} ${formatNumber(one[`${curve}_area`], 3)}`);
  canvas.ariaLabel = `${curve}, area under each curve: ${areas.join(", ")}`;
}

/** @param {ExplorePage} page @returns {Promise<ShownDrawing>} */
async function exportRankings(page) {
  const found = await askFloats(page, "token_rankings", rankingsQuery(page));
  const { meta } = found;
  const { tokens } = page.state.answer;
  const ranked = readRankings(found, tokens.length);
  const ranking = ranked.map(({ title }) => title);
  const curves = CURVES.map((curve) => curveChart(meta, ranked, curve));
  return {
    name: "token-rankings",
    shown: `rankings of the tokens by importance for “${inlineText(meta.text)}”, tested by deletion and insertion`,
    sides: [runOf(page)],
    draw: drawCharts([
      { title: "Deletion: low is faithful", chart: curves[0] },
      { title: "Insertion: high is faithful", chart: curves[1] },
    ]),
    tables: {
      "Scores of the tokens": createTable(
        "token rankings",
        { ranking, token: numbered(tokens) },
        ranked.flatMap(({ scores }) => [...scores]),
      ),
      ...Object.fromEntries(
        CURVES.map((curve) => [
          `Curves of ${curve}`,
          createTable(
            curve,
            { ranking, tokens: meta.steps.map(String) },
            ranked.flatMap((one) => [...one[curve]]),
          ),
        ]),
      ),
      "Areas under the curves": createTable(
        "faithfulness",
        { ranking, number: ["deletion area", "insertion area"] },
        ranked.flatMap(({ deletion_area, insertion_area }) => [deletion_area, insertion_area]),
      ),
    },
  };
}
