// Without this head: its direct effect, the responses of later parts, and the effect of the norms.

import { formatNumber, formatSigned } from "../../../../ui/frontend/charts/charts.js";
import { formatPercent, inlineText, quotedToken } from "../../../../ui/frontend/dom/dom.js";
import { createTable } from "../../../../ui/frontend/export/page_export.js";
import { currentGroup } from "../../../../ui/frontend/state/head_selection.js";
import { drawRanked } from "../../export/layer_figures.js";
import { runOf } from "../../export/shown_run.js";
import { writerOf } from "../../prediction/ledger.js";
import { componentName, partChoice } from "../../prediction/why.js";
import { askFloats } from "../../server.js";
import { answerPosition, layerElement, markWaiting, showLayersMessage } from "../layer_panel.js";
import { drawFlow } from "../ranked_bars.js";
import { whyNoHeads } from "./steps.js";

/** @import { ExplorePage, HeadRemovalAnswer, RankedEntry, ShownDrawing, Tab } from "../../types.js" */

const LISTED = 8; // responses
const PAUSE = 150; // milliseconds without another choice

export default /** @type {Tab} */ ({ draw: drawRemoval, exported: exportRemoval });

/** The chosen head and the chosen answer. @param {ExplorePage} page */
function removalQuery(page) {
  const { layer, head, target_token: token } = page.state.choice;
  const { stack, kind } = currentGroup(page);
  return { query: answerPosition(page), token, attention: `${stack}.${layer}.${kind}`, head };
}

/** @param {ExplorePage} page */
function drawRemoval(page) {
  const why = whyNoHeads(page);
  if (why) return showLayersMessage(page, why);
  const found = page.server.get("head_removal", removalQuery(page), PAUSE);
  const words = layerElement(page, "removal-words");
  markWaiting(words, !found);
  if (!found) return;
  if (found.meta.error) return showLayersMessage(page, found.meta.error);
  words.replaceChildren(...removalWords(found.meta, headTitle(page)));
  drawFlow(layerElement(page, "removal-ranked"), found.meta.before, flowEntries(page, found.meta));
}

/** @param {ExplorePage} page */
function headTitle(page) {
  const { layer, head } = page.state.choice;
  return componentName({ kind: currentGroup(page).kind, layer, head });
}

/**
 * The result in words: the change, and whether later parts compensated for the head.
 * @param {HeadRemovalAnswer} meta @param {string} title of the head @returns {(Node | string)[]}
 */
export function removalWords({ text, before, after, direct, self_repair, repairs_itself }, title) {
  const change = `${formatNumber(before, 3)} to ${formatNumber(after, 3)} (${formatSigned(after - before)})`;
  const own = `The head itself no longer adds ${formatSigned(-direct)}`;
  const rest =
    self_repair === null
      ? "that is too little to say which share of it the rest undoes."
      : repairs_itself
        ? `self-repair: the rest undoes ${formatPercent(self_repair)} of that.`
        : self_repair >= 0
          ? `the rest undoes ${formatPercent(self_repair)} of that, too little to call it self-repair.`
          : `the rest adds ${formatPercent(-self_repair)} to that.`;
  return [
    `Without ${title.replace("Layer", "layer")} the logit of `,
    quotedToken({ text }),
    ` goes from ${change}. ${own}; ${rest}`,
  ];
}

/**
 * The change part by part, from the logit with the head to the logit without it.
 * @param {ExplorePage} page @param {HeadRemovalAnswer} meta
 */
function flowEntries(page, meta) {
  const others = meta.responses.slice(LISTED);
  /** @type {RankedEntry[]} */
  const responses = meta.responses.slice(0, LISTED).map(({ name, value }) => {
    const part = writerOf(name);
    return { title: componentName(part), value, pick: () => page.change(partChoice(page, part)) };
  });
  if (others.length)
    responses.push({
      title: `All ${others.length} other responses`,
      value: others.reduce((sum, { value }) => sum + value, 0),
    });
  return [
    { title: "With the head", value: meta.before, total: true },
    { title: `${headTitle(page)}: direct effect`, value: meta.direct, chosen: true },
    ...responses,
    { title: "Norms", value: meta.norms },
    { title: "Without the head", value: meta.after, total: true },
  ];
}

/** @param {ExplorePage} page @returns {Promise<ShownDrawing>} */
async function exportRemoval(page) {
  const { meta } = await askFloats(page, "head_removal", removalQuery(page));
  const parts = [
    { name: "direct effect", value: meta.direct },
    ...meta.responses,
    { name: "norms", value: meta.norms },
    { name: "whole change", value: meta.after - meta.before },
  ];
  const words = removalWords(meta, headTitle(page)).map((word) => (typeof word === "string" ? word : word.textContent));
  return {
    name: "without-a-head",
    shown: inlineText(words.join("")),
    sides: [runOf(page)],
    draw: drawRanked({ title: "Changes of the logit", entries: flowEntries(page, meta) }),
    tables: {
      "Without a head": createTable(
        "without a head",
        { part: parts.map(({ name }) => name), number: ["change of the logit"] },
        parts.map(({ value }) => value),
      ),
    },
  };
}
