// The contribution of each part to the logit of an answer, and the tokens each feed-forward promotes and suppresses.

import { areIndependent, areScores } from "../../../ui/frontend/charts/answer_numbers.js";
import { formatNumber, formatSigned } from "../../../ui/frontend/charts/charts.js";
import {
  activeElement,
  createElement,
  createHeading,
  inlineText,
  quotedToken,
  updateChildren,
} from "../../../ui/frontend/dom/dom.js";
import { table } from "../../../ui/frontend/dom/table.js";
import { createTable } from "../../../ui/frontend/export/page_export.js";
import { drawSigned } from "../export/layer_figures.js";
import { runOf } from "../export/shown_run.js";
import { componentName } from "../prediction/why.js";
import { askFloats } from "../server.js";
import { drawCellTable } from "./cell_table.js";
import { answerPosition, isCurrentHead, layerElement, selectHeadOf, showLayersMessage } from "./layer_panel.js";
import { chosenNeuron, drawNeurons, openNeurons } from "./neurons.js";
import { createPromotedCell } from "./promoted_tokens.js";
import { drawRankedBars } from "./ranked_bars.js";

/** @import { ComponentAnswer, ExplorePage, LogitAttributionAnswer, RankedEntry, Tab, TableCell, TableRow } from "../types.js" */
/** @import { ShownDrawing } from "../../../ui/frontend/export/types.js" */
/** @typedef {ComponentAnswer & { value: number }} Contribution */

const HELP =
  "Orange adds to the logit, blue takes from it. Click a head to choose it, a feed-forward (FF) to see its neurons.";
const RANKED = 10;
/** Rows of parts outside the layers. @type {Readonly<Record<string, string>>} */
const ROW_LABELS = table({ embedding: "token", positions: "position", bias: "answer", edit: "edits" });

export default /** @type {Tab} */ ({ draw: drawContributions, exported: exportContributions });

/** @param {ExplorePage} page */
function drawContributions(page) {
  const found = page.server.get("logit_attribution", attributionQuery(page));
  if (!found) return;
  const { meta, numbers } = found;
  if (meta.error) return showLayersMessage(page, meta.error);
  const parts = meta.components.map((part, row) => ({ ...part, value: numbers[row] }));
  const sum = numbers.reduce((total, number) => total + number, 0);
  drawTotal(page, meta, sum);
  drawComponentTable(page, parts);
  drawRankedBars(layerElement(page, "ranked"), rankedEntries(page, parts, sum));
  drawNeurons(page);
  drawPromoted(page, meta);
  layerElement(page, "conventions").textContent = meta.assumptions.join(" ");
}

/** @param {ExplorePage} page */
function attributionQuery(page) {
  return { query: answerPosition(page), token: page.state.choice.target_token };
}

/** @param {ExplorePage} page @returns {Promise<ShownDrawing>} */
async function exportContributions(page) {
  const { meta, numbers } = await askFloats(page, "logit_attribution", attributionQuery(page));
  const parts = meta.components.map((part, row) => ({ ...part, value: numbers[row] }));
  const place = meta.token_text === null ? "" : ` ${meta.preposition} “${inlineText(meta.token_text)}”`;
  const answer = `the logit of “${inlineText(meta.text)}”${place}`;
  const ranked = { title: "The largest parts", entries: rankedEntries(page, parts, meta.logit) };
  return {
    name: "logit-attribution",
    shown: `direct logit attribution: what each part adds to ${answer}, ${formatNumber(meta.logit)}`,
    sides: [runOf(page)],
    draw: drawSigned(
      tableOf(parts, (part) => componentCell(page, part)),
      ranked,
      "added to the logit",
    ),
    tables: {
      "Logit attribution": createTable(
        "logit attribution",
        { part: meta.components.map(componentName), number: ["added to the logit"] },
        numbers,
      ),
    },
  };
}

/** @param {ExplorePage} page @param {LogitAttributionAnswer} meta @param {number} sum */
function drawTotal(page, { text, preposition, token_text, logit, problem_type }, sum) {
  const place = token_text === null ? "" : quotedToken({ text: token_text });
  const isExclusive = !areScores({ problem_type }) && !areIndependent({ problem_type });
  layerElement(page, "shares-total").replaceChildren(
    "The logit of ",
    quotedToken({ text }),
    ` ${preposition}`,
    place,
    " is ",
    createElement("b", "", formatNumber(logit)),
    `; all parts add up to ${formatNumber(sum)}.${isExclusive ? " Adding the same amount to all logits changes no probability." : ""}`,
  );
}

/** @param {ExplorePage} page @param {Contribution[]} parts */
function drawComponentTable(page, parts) {
  const [table, reading] = [layerElement(page, "shares", HTMLTableElement), layerElement(page, "shares-reading")];
  const { columns, rows } = tableOf(parts, (part) => componentCell(page, part));
  const help = columns.includes("LE") ? `${HELP} LE is the token's own vector for the layer.` : HELP;
  drawCellTable(table, columns, rows, {
    most: Math.max(...parts.map(({ value }) => Math.abs(value)), 1e-9),
    read: (cell) => {
      reading.textContent =
        cell?.value === undefined || cell.value === null ? help : `${cell.title} adds ${formatSigned(cell.value)}`;
    },
    pick: (cell) => pickPart(page, cell),
  });
  if (!table.contains(activeElement(table))) reading.textContent = help;
}

/**
 * Selects a head, or opens a feed-forward.
 * @param {ExplorePage} page @param {Pick<TableCell, "layer" | "head" | "kind">} part
 */
function pickPart(page, { layer, head, kind }) {
  if (kind === "feed_forward") openNeurons(page, layer);
  else selectHeadOf(page, layer, head, kind);
}

/** @param {ComponentAnswer} part */
function canBePicked({ head, kind }) {
  return head >= 0 || kind === "feed_forward";
}

/**
 * Rows are layers, columns heads; feed-forward and biases are beside them, parts outside the layers above and below.
 * @param {Contribution[]} parts @param {(part: Contribution) => TableCell} cell
 * @returns {{ columns: string[], rows: TableRow[] }}
 */
export function tableOf(parts, cell) {
  const kinds = ["self", "cross"].filter((kind) => parts.some((part) => part.kind === kind));
  const heads = Math.max(...parts.map((part) => part.head)) + 1;
  const biased = parts.some((part) => part.kind === "bias" && part.layer >= 0 && part.value !== 0);
  const others = [
    ...[
      { kind: "feed_forward", title: "FF" },
      { kind: "layer_embedding", title: "LE" },
    ].filter(({ kind }) => parts.some((part) => part.kind === kind)),
    ...(biased ? [{ kind: "bias", title: "bias" }] : []),
  ];
  const headColumns = kinds.flatMap((kind) =>
    Array.from({ length: heads }, (_, head) => (kind === "cross" ? `×${head}` : `${head}`)),
  );
  const layers = [...new Set(parts.map((part) => part.layer))].filter((layer) => layer >= 0);
  const outside = (/** @type {string[]} */ wanted) =>
    parts
      .filter(({ layer, kind, value }) => layer < 0 && wanted.includes(kind) && (value !== 0 || kind === "embedding"))
      .map((part) => ({ label: ROW_LABELS[part.kind], cells: [cell(part)] }));
  const layerRow = (/** @type {number} */ layer) => {
    const own = parts.filter((part) => part.layer === layer);
    const inHeads = kinds.flatMap((kind) => own.filter((part) => part.kind === kind));
    const found = [...inHeads, ...others.map(({ kind }) => own.find((part) => part.kind === kind))];
    return { label: `L${layer}`, cells: found.map((part) => part && cell(part)) };
  };
  return {
    columns: [...headColumns, ...others.map(({ title }) => title)],
    rows: [...outside(["embedding", "positions"]), ...layers.map(layerRow), ...outside(["bias", "edit"])],
  };
}

/** @param {ExplorePage} page @param {Contribution} part @returns {TableCell} */
function componentCell(page, part) {
  return {
    ...part,
    title: componentName(part),
    chosen:
      part.kind === "feed_forward"
        ? chosenNeuron(page)?.layer === part.layer
        : part.head >= 0 && isCurrentHead(page, part.layer, part.head, part.kind),
    testid: part.kind === "feed_forward" ? `feed-forward-${part.layer}` : undefined,
  };
}

/** @param {ExplorePage} page @param {Contribution[]} parts @param {number} sum */
function rankedEntries(page, parts, sum) {
  const order = parts.filter(({ value }) => value !== 0).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const others = order.slice(RANKED);
  /** @type {RankedEntry[]} */
  const entries = order
    .slice(0, RANKED)
    .map((part) => ({
      title: componentName(part),
      value: part.value,
      pick: canBePicked(part) ? () => pickPart(page, part) : undefined,
    }));
  if (others.length)
    entries.push({
      title: `All ${others.length} others`,
      value: others.reduce((total, { value }) => total + value, 0),
    });
  return [...entries, { title: "Together: the logit", value: sum, total: true }];
}

/** @param {ExplorePage} page @param {LogitAttributionAnswer} meta */
function drawPromoted(page, meta) {
  const heading = createElement("tr");
  heading.append(...["Layer", "Promoted", "Suppressed"].map((text) => createHeading(text, "col")));
  const rows = meta.promoted.map(({ layer, promoted, suppressed }) => {
    const title = `The neurons of layer ${layer}’s feed-forward`;
    const button = createElement("button", "", layer, { title, onclick: () => openNeurons(page, layer) });
    const cells = [promoted, suppressed].map(createPromotedCell);
    return createElement("tr", "", [createHeading([button], "row"), ...cells]);
  });
  layerElement(page, "promoted-part").hidden = !rows.length;
  updateChildren(layerElement(page, "promoted"), heading, ...rows);
}
