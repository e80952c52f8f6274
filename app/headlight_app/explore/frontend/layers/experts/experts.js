// The experts to which each layer sends each token: a table of their numbers, coloured by the first expert.

import { formatNumber } from "../../../../ui/frontend/charts/charts.js";
import {
  createElement,
  createHeading,
  formatPercent,
  inlineText,
  onHover,
  updateChildren,
} from "../../../../ui/frontend/dom/dom.js";
import { createTable, numbered } from "../../../../ui/frontend/export/page_export.js";
import { chooseQuery } from "../../../../ui/frontend/state/token_selection.js";
import { drawLens } from "../../export/layer_figures.js";
import { runOf } from "../../export/shown_run.js";
import { askFloats } from "../../server.js";
import { walkByKeys } from "../cell_table.js";
import { answerPosition, layerElement, showLayersMessage } from "../layer_panel.js";

/** @import { ExpertsAnswer, ExplorePage, Found, ShownDrawing, Tab } from "../../types.js" */

const GOLDEN_ANGLE = 137.5; // degrees between successive hues: a few experts have distinct colours

const HELP = "Point at a cell to read the share of each expert; click it to select its token.";

export default /** @type {Tab} */ ({ draw: drawExperts, exported: exportExperts });

/** @param {ExplorePage} page */
function drawExperts(page) {
  const found = page.server.get("experts", {});
  if (!found) return;
  if (found.meta.error) return showLayersMessage(page, found.meta.error);
  const { tokens } = page.state.answer;
  const heading = createElement("tr");
  heading.append(createElement("td"), ...tokens.map(({ text }) => createHeading(inlineText(text), "col")));
  const rows = found.meta.layers.map((layer, row) => {
    const cells = tokens.map((_, token) => createCell(page, expertsAt(found, row, token, tokens.length), layer, token));
    return createElement("tr", "", [createHeading(`L${layer}`, "row"), ...cells]);
  });
  const table = layerElement(page, "experts", HTMLTableElement);
  updateChildren(table, heading, ...rows);
  walkByKeys(table);
  layerElement(page, "experts-reading").textContent = HELP;
}

/**
 * The experts of a token in a layer that has experts, and the share of each.
 * @param {Found<ExpertsAnswer>} found @param {number} row @param {number} token @param {number} count of tokens
 */
export function expertsAt({ meta: { chosen }, numbers }, row, token, count) {
  const start = (row * count + token) * 2 * chosen;
  return Array.from({ length: chosen }, (_, place) => ({
    expert: numbers[start + place],
    share: numbers[start + chosen + place],
  }));
}

/** @param {ExplorePage} page @param {ReturnType<typeof expertsAt>} experts @param {number} layer @param {number} token */
function createCell(page, experts, layer, token) {
  const asked = token === answerPosition(page) ? "asked" : "";
  const names = experts.map(({ expert }) => expert).join(" · ");
  const button = createElement("button", "", names, { tabIndex: -1, onclick: () => chooseQuery(page, token) });
  const cell = createElement("td", asked, [button]);
  cell.style.setProperty("--hue", String((experts[0].expert * GOLDEN_ANGLE) % 360));
  const shares = experts.map(({ expert, share }) => `expert ${expert} × ${formatNumber(share, 2)}`).join(", ");
  const words = `“${inlineText(page.state.answer.tokens[token].text)}” in layer ${layer}: ${shares}`;
  const read = (/** @type {string} */ text) => {
    layerElement(page, "experts-reading").textContent = text;
  };
  button.ariaLabel = words;
  button.onfocus = () => read(words);
  onHover(cell, { read: () => read(words), left: () => read(HELP) });
  return cell;
}

/** @param {ExplorePage} page @returns {Promise<ShownDrawing>} */
async function exportExperts(page) {
  const found = await askFloats(page, "experts", {});
  const { tokens } = page.state.answer;
  const { layers, chosen } = found.meta;
  const cells = layers.map((_, row) => tokens.map((_, token) => expertsAt(found, row, token, tokens.length)));
  const rows = layers.map((layer, row) => ({
    label: `L${layer}`,
    cells: cells[row].map((experts, token) => ({
      answer: experts.map(({ expert }) => expert).join(" · "),
      share: experts[0].share,
      note: formatPercent(experts[0].share),
      asked: token === answerPosition(page),
    })),
  }));
  const places = Array.from({ length: chosen }, (_, place) => String(place));
  const labels = { layer: layers.map(String), token: numbered(tokens), place: places };
  const table = (/** @type {"expert" | "share"} */ value) =>
    createTable(
      `experts ${value}`,
      labels,
      cells.flat(2).map((one) => one[value]),
    );
  return {
    name: "experts",
    shown: "the experts of each token in each layer, largest share first; below them the share of the first",
    sides: [runOf(page)],
    draw: drawLens({ columns: tokens.map(({ text }) => inlineText(text)), rows, words: "share of the first expert" }),
    tables: { "Expert of each token": table("expert"), "Share of each expert": table("share") },
  };
}
