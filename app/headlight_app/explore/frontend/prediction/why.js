// Why the likeliest answer leads the second: the parts whose direct contributions to the two logits differ most.

import { areScores, formatScore } from "../../../ui/frontend/charts/answer_numbers.js";
import { formatShort } from "../../../ui/frontend/charts/charts.js";
import { createElement, quotedToken, updateChildren } from "../../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../../ui/frontend/dom/elements.js";

/** @import { Candidate, ComponentAnswer, ExplorePage, Found, LogitDifferenceAnswer } from "../types.js" */
/** @typedef {Pick<ComponentAnswer, "kind" | "layer" | "head">} Part */
/** @typedef {{ part: Part, value: number }} Reason */

const PAUSE = 900; // milliseconds without a letter
const LISTED = 4;

/**
 * The parts of the model that contribute most for or against one answer over another, and any part that edits have.
 * @param {Part[]} parts @param {ArrayLike<number>} differences the contribution of each to the first answer's lead in
 * logits
 * @returns {Reason[]}
 */
export function reasons(parts, differences) {
  return parts
    .map((part, row) => ({ part, value: differences[row] }))
    .filter(({ value }) => value)
    .sort((one, other) => Math.abs(other.value) - Math.abs(one.value))
    .filter(({ part }, rank) => rank < LISTED || part.kind === "edit");
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
  place.ariaBusy = String(!found);
  if (!found) {
    place.hidden = !place.childElementCount; // the earlier reasons stay, faded, until the new ones have arrived
    return;
  }
  place.hidden = Boolean(found.meta.error);
  if (place.hidden) return;
  updateChildren(place, ...whyParts(page, first, second, found));
}

/**
 * @param {ExplorePage} page @param {Candidate} first @param {Candidate} second
 * @param {Found<LogitDifferenceAnswer>} found
 */
function whyParts(page, first, second, { meta: { components }, numbers }) {
  const title = createElement("h3", "", ["Why ", quotedToken(first), " and not ", quotedToken(second)]);
  const lead = areScores(page.state.answer.predictions[0])
    ? `Its score is higher by ${formatScore(first.after - second.after)}`
    : likelihoodText(first.after / second.after);
  const sentence = createElement("p", "quiet", `${lead}; ${favourText(components, numbers)}`);
  const unit = createElement("p", "quiet", "Largest parts of the difference of the two logits:");
  const list = createElement("ol", "reasons", [
    ...reasons(components, numbers).map((reason) => createReason(page, reason)),
  ]);
  return [title, sentence, unit, list];
}

/** The part that favours the first answer most. @param {Part[]} parts @param {ArrayLike<number>} differences */
export function favourText(parts, differences) {
  const most = Array.from(differences).reduce((best, value, row) => (value > differences[best] ? row : best), 0);
  return differences[most] > 0 ? `${listedName(parts[most])} favours it most.` : "no single part favours it.";
}

/** @param {number} times ratio of the two probabilities; infinite if the second is 0 in the model's precision */
export function likelihoodText(times) {
  if (Number.isNaN(times)) return "The probabilities are not numbers";
  if (times < 1.05) return "It is hardly likelier";
  if (times >= 1e6) return "It is more than a million times as likely";
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

/** The name of a part within a sentence. @param {Part} part */
function listedName(part) {
  const name = partName(part);
  return part.head < 0 ? name.toLowerCase() : name;
}

/** A reason; a head or a network can be opened. @param {ExplorePage} page @param {Reason} reason */
function createReason(page, { part, value }) {
  const opens = part.head >= 0 || part.kind === "feed_forward";
  const name = createElement(opens ? "button" : "span", "name", listedName(part).replace("the network", "network"));
  if (opens) name.onclick = () => page.change(partChoice(page, part));
  return createElement("li", "", [name, createElement("b", value > 0 ? "for" : "against", formatShort(value))]);
}

/** The choice that opens a head or a network. @param {ExplorePage} page @param {Part} part */
export function partChoice(page, { kind, layer, head }) {
  if (kind === "feed_forward") return { tab: "layers", analysis: "logit_attribution", neuron: String(layer), layer };
  const own = page.state.answer.attention_groups.filter((group) => group.kind === kind);
  const attention = (own.find(({ stack }) => stack === "decoder") ?? own[0])?.name;
  return { tab: "heads", layer, head, heads: [], ...(attention ? { attention } : {}) };
}
