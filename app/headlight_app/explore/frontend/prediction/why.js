// Why the likeliest answer leads the second: the parts whose direct contributions to the two logits differ most.

import { areScores, formatScore } from "../../../ui/frontend/charts/answer_numbers.js";
import { formatShort } from "../../../ui/frontend/charts/charts.js";
import { createElement, quotedToken, updateChildren } from "../../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../../ui/frontend/dom/elements.js";

/** @import { Candidate, ComponentAnswer, ExplorePage } from "../types.js" */
/** @typedef {Pick<ComponentAnswer, "kind" | "layer" | "head">} Part */
/** @typedef {{ part: Part, value: number }} Reason */

const PAUSE = 900; // milliseconds without a letter
const LISTED = 4;

/**
 * The heads and networks that contribute most for or against one answer over another.
 * @param {Part[]} parts @param {ArrayLike<number>} differences the contribution of each to the first answer's lead in
 * logits
 * @returns {Reason[]}
 */
export function reasons(parts, differences) {
  return parts
    .map((part, row) => ({ part, value: differences[row] }))
    .filter(({ part }) => part.head >= 0 || part.kind === "feed_forward")
    .sort((one, other) => Math.abs(other.value) - Math.abs(one.value))
    .slice(0, LISTED);
}

/** Draws the reasons below the prediction. @param {ExplorePage} page */
export function drawWhy(page) {
  const place = findByTestId(page.view.elements.board, "why");
  const [prediction] = page.state.answer.predictions;
  const [first, second] = [...(prediction?.candidates ?? [])].sort((one, other) => other.after - one.after);
  place.hidden = !second || prediction.token_text === null;
  if (place.hidden) return;
  const asked = { query: prediction.position, token: first.id, other: second.id };
  const found = page.server.get("logit_difference", asked, PAUSE);
  if (!found) {
    place.hidden = !place.childElementCount; // the earlier reasons stay until the new ones have arrived
    return;
  }
  place.hidden = Boolean(found.meta.error);
  if (place.hidden) return;
  updateChildren(place, ...whyParts(page, first, second, reasons(found.meta.components, found.numbers)));
}

/** @param {ExplorePage} page @param {Candidate} first @param {Candidate} second @param {Reason[]} largest */
function whyParts(page, first, second, largest) {
  const title = createElement("h3", "", ["Why ", quotedToken(first), " and not ", quotedToken(second)]);
  const most = largest.find(({ value }) => value > 0);
  const speaks = most ? `${partName(most.part)} favours it most.` : "no single part favours it.";
  const lead = areScores(page.state.answer.predictions[0])
    ? `Its score is higher by ${formatScore(first.after - second.after)}`
    : likelihoodText(first.after / second.after);
  const sentence = createElement("p", "quiet", `${lead}; ${speaks}`);
  const unit = createElement("p", "quiet", "Largest parts of the difference of the two logits:");
  const list = createElement("ol", "reasons", [...largest.map((reason) => createReason(page, reason))]);
  return [title, sentence, unit, list];
}

/** @param {number} times ratio of the two probabilities */
export function likelihoodText(times) {
  if (times < 1.05) return "It is hardly likelier";
  return `It is ${times >= 10 ? Math.round(times) : times.toFixed(1)} times as likely`;
}

/** @param {Part} part */
export function componentName({ kind, layer, head }) {
  if (kind === "bias") return layer < 0 ? "Biases of embedding and answer" : `Layer ${layer}, biases`;
  if (head >= 0) return `Layer ${layer}, ${kind === "cross" ? "cross " : ""}head ${head}`;
  const names = { embedding: "Token embedding", positions: "Added positions", edit: "Edits of the stream" };
  if (kind === "layer_embedding") return `Layer ${layer}, layer embedding`;
  return /** @type {Record<string, string>} */ (names)[kind] ?? `Layer ${layer}, feed-forward`;
}

/** @param {Part} part */
export function partName(part) {
  return part.kind === "feed_forward"
    ? `the network of layer ${part.layer}`
    : componentName(part).replace("Layer", "layer");
}

/** @param {ExplorePage} page @param {Reason} reason */
function createReason(page, { part, value }) {
  const name = createElement("button", "name", partName(part).replace("the network", "network"));
  name.onclick = () => page.change(partChoice(page, part));
  return createElement("li", "", [name, createElement("b", value > 0 ? "for" : "against", formatShort(value))]);
}

/** The choice that opens a head or a network. @param {ExplorePage} page @param {Part} part */
export function partChoice(page, { kind, layer, head }) {
  if (kind === "feed_forward") return { tab: "layers", analysis: "logit_attribution", neuron: String(layer), layer };
  const own = page.state.answer.attention_groups.filter((group) => group.kind === kind);
  const attention = (own.find(({ stack }) => stack === "decoder") ?? own[0])?.name;
  return { tab: "heads", layer, head, heads: [], ...(attention ? { attention } : {}) };
}
