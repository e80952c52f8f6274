// An answer and its text as two rows of tokens, with lines from each token of the answer to the tokens it looked at.

import { svg } from "../../ui/frontend/charts/svg.js";
import {
  createChip,
  createElement,
  formatPercent,
  listenToChip,
  NO_LARGE_SHARE,
  quotedToken,
  updateChildren,
} from "../../ui/frontend/dom/dom.js";
import { currentGroup } from "../../ui/frontend/state/head_selection.js";
import { remembered } from "../../ui/frontend/state/memory.js";
import { chooseQuery, setHover } from "../../ui/frontend/state/token_selection.js";
import { alignmentWeights } from "./alignment_weights.js";

/** @import { Alignment, AlignmentWeights, ExplorePage, OutputToken } from "./types.js" */

const MOST = 40; // tokens on each side; larger alignments are shown only as a map
const FAINTEST = 0.03; // weight of a line
const NAMED = 3; // tokens named in the sentence

/** @typedef {{ output: number | null, input: number | null }} Pointed by their indices */

const memory = remembered((/** @type {HTMLElement} */ _) => ({
  built: "",
  width: 0,
  hovered: /** @type {Pointed | null} */ (null),
  drawn: /** @type {{ alignment: Alignment, weights: AlignmentWeights | null } | null} */ (null),
}));

/** @param {ExplorePage} page @param {HTMLElement} place @param {Alignment} alignment */
export function drawAlignment(page, place, alignment) {
  const known = memory(place);
  const { inputs, outputs } = alignment;
  const tooLong = Math.max(inputs.length, outputs.length) > MOST;
  const weights = tooLong ? null : alignmentWeights(page, alignment.attention);
  known.drawn = { alignment, weights };
  const built = JSON.stringify([inputs, outputs, Boolean(weights)]);
  const width = place.clientWidth;
  if (known.built !== built || known.width !== width) {
    if (known.built !== built) build(page, place, alignment, weights !== null);
    arrange(place);
  }
  Object.assign(known, { built, width });
  markAlignment(page, place);
}

/** Highlights the tokens under the pointer and their lines. @param {ExplorePage} page @param {HTMLElement} place */
export function markAlignment(page, place) {
  const { drawn } = memory(place);
  const [inputs, outputs] = rowsOf(place);
  if (!drawn || !inputs) return;
  const { alignment, weights } = drawn;
  const pointed = pointedTokens(page, place, alignment);
  if (weights) drawLines(place, alignment, weights, pointed);
  const shown = (/** @type {number} */ output, /** @type {number} */ input) =>
    weights?.at(alignment.outputs[output].query, input) ?? 0;
  inputs.forEach((chip, input) => {
    shade(chip, pointed.output === null ? 0 : shown(pointed.output, input));
    chip.classList.toggle("key", pointed.input === input);
  });
  outputs.forEach((chip, output) => {
    shade(chip, pointed.input === null || pointed.output !== null ? 0 : shown(output, pointed.input));
    chip.classList.toggle("query", pointed.output === output);
  });
  const reading = place.querySelector(".reading");
  reading?.replaceChildren(...pointedWords(alignment, weights, pointed));
}

/** @param {HTMLElement} chip @param {number} share */
function shade(chip, share) {
  chip.style.setProperty("--shade", `${100 * share}%`);
}

/** The chips of the two rows. @param {HTMLElement} place */
function rowsOf(place) {
  return [...place.querySelectorAll(".side")].map(
    (row) => /** @type {HTMLElement[]} */ ([...row.querySelectorAll(".chip")]),
  );
}

/** @param {ExplorePage} page @param {HTMLElement} place @param {Alignment} alignment @param {boolean} withLines */
function build(page, place, alignment, withLines) {
  const [inputs, outputs] = ["inputs", "outputs"].map((side) =>
    createElement("div", `side ${side}`, [], { role: "group" }),
  );
  inputs.ariaLabel = "What was read";
  outputs.ariaLabel = "The answer";
  inputs.append(...alignment.inputs.map((token, input) => inputChip(page, place, token, input)));
  outputs.append(...alignment.outputs.map((token, output) => outputChip(page, place, token, output)));
  const lines = svg("svg", { "aria-hidden": "true", class: "lines" });
  const board = createElement("div", "two-sides", [inputs, ...(withLines ? [lines] : []), outputs]);
  const reading = createElement("p", "reading", [], { ariaLive: "off" });
  updateChildren(place, board, reading);
}

/** @param {ExplorePage} page @param {HTMLElement} place @param {Alignment["inputs"][number]} token @param {number} input */
function inputChip(page, place, token, input) {
  const chip = createChip(token, input === 0);
  listen(page, place, chip, { output: null, input });
  return chip;
}

/** @param {ExplorePage} page @param {HTMLElement} place @param {OutputToken} token @param {number} output */
function outputChip(page, place, token, output) {
  const { text, query, note, wrong, ahead } = token;
  const chip = createChip({ text, special: false, masked: false }, output === 0);
  chip.classList.toggle("wrong", wrong);
  chip.classList.toggle("ahead", ahead);
  if (note) chip.append(createElement("small", "", note));
  chip.onclick = () => chooseQuery(page, page.state.choice.query === query ? -1 : query);
  listen(page, place, chip, { output, input: null });
  return chip;
}

/** @param {ExplorePage} page @param {HTMLElement} place @param {HTMLElement} chip @param {Pointed} pointed */
function listen(page, place, chip, pointed) {
  const point = () => hover(page, place, pointed);
  const leave = () => hover(page, place, null);
  listenToChip(chip, { read: point, left: leave });
}

/** Sets the pointer to the same cell in the heads' panel, if that shows the same attention.
 * @param {ExplorePage} page @param {HTMLElement} place @param {Pointed | null} pointed */
function hover(page, place, pointed) {
  const { drawn } = memory(place);
  memory(place).hovered = pointed;
  if (drawn && currentGroup(page).name === drawn.alignment.attention) {
    const query = pointed?.output == null ? null : drawn.alignment.outputs[pointed.output].query;
    setHover(page, pointed && { query, key: pointed.input });
  }
  markAlignment(page, place);
}

/** @param {ExplorePage} page @param {HTMLElement} place @param {Alignment} alignment @returns {Pointed} */
function pointedTokens(page, place, { attention, outputs, inputs }) {
  const { hovered } = memory(place);
  if (hovered) return hovered;
  /** @param {number | null | undefined} query */
  const outputOf = (query) => {
    const found = outputs.findIndex((token) => token.query === query);
    return found < 0 ? null : found;
  };
  const { pointer, choice } = page.state;
  if (pointer && currentGroup(page).name === attention)
    return {
      output: outputOf(pointer.query),
      input: pointer.key !== null && pointer.key < inputs.length ? pointer.key : null,
    };
  return { output: outputOf(choice.query), input: null };
}

/** Rows above each other if both have room, else columns with the text at the left. @param {HTMLElement} place */
function arrange(place) {
  const board = /** @type {HTMLElement} */ (place.firstElementChild);
  board.classList.remove("upright");
  board.classList.toggle(
    "upright",
    [...board.querySelectorAll(".side")].some((row) => row.scrollWidth > board.clientWidth),
  );
}

/** @param {HTMLElement} place @param {Alignment} alignment @param {AlignmentWeights} weights @param {Pointed} pointed */
function drawLines(place, { outputs }, weights, { output: hotOutput, input: hotInput }) {
  const board = /** @type {HTMLElement} */ (place.firstElementChild);
  const lines = board.querySelector("svg");
  if (!lines) return;
  const frame = lines.getBoundingClientRect();
  const upright = board.classList.contains("upright");
  const [froms, tos] = rowsOf(place).map((chips, side) => chips.map((chip) => lineEnd(chip, frame, side, upright)));
  const paths = outputs.flatMap((token, output) =>
    froms.flatMap((from, input) => {
      const weight = weights.at(token.query, input);
      const hot = (hotOutput === null || hotOutput === output) && (hotInput === null || hotInput === input);
      if (weight < FAINTEST || token.ahead) return [];
      return [createLine(from, tos[output], weight * (hot ? 1 : 0.1), weight, upright)];
    }),
  );
  lines.replaceChildren(...paths);
}

/** @param {HTMLElement} chip @param {DOMRect} frame @param {number} side @param {boolean} upright */
function lineEnd(chip, frame, side, upright) {
  const box = chip.getBoundingClientRect();
  if (upright) return { x: side ? frame.width : 0, y: box.top + box.height / 2 - frame.top };
  return { x: box.left + box.width / 2 - frame.left, y: side ? frame.height : 0 };
}

/** @typedef {{ x: number, y: number }} Point */
/** @param {Point} from @param {Point} to @param {number} opacity @param {number} weight @param {boolean} upright */
function createLine(from, to, opacity, weight, upright) {
  const [halfX, halfY] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
  const bend = upright ? `${halfX} ${from.y} ${halfX} ${to.y}` : `${from.x} ${halfY} ${to.x} ${halfY}`;
  const d = `M${from.x} ${from.y}C${bend} ${to.x} ${to.y}`;
  return svg("path", { d, "stroke-opacity": opacity, "stroke-width": 1 + 3.5 * weight });
}

/** @param {AlignmentWeights} weights @param {number} inputs how many @param {OutputToken[]} outputs */
function summary(weights, inputs, outputs) {
  const places = Array.from({ length: inputs }, (_, input) => input);
  const isDark = outputs.every(({ query }) => places.every((input) => weights.at(query, input) === 0));
  if (isDark) return `All weights of ${weights.title} are 0.`;
  return `Weights: ${weights.title}. Point at a token to see only its lines.`;
}

/** @param {Alignment} alignment @param {AlignmentWeights | null} weights @param {Pointed} pointed */
export function pointedWords({ inputs, outputs, verb }, weights, { output, input }) {
  if (!weights) return ["Too many tokens for lines; the map below shows the weights."];
  if (output === null && input === null)
    return [createElement("span", "quiet", summary(weights, inputs.length, outputs))];
  const others = output !== null ? inputs : outputs;
  const shares = others.map((_, place) =>
    output !== null ? weights.at(outputs[output].query, place) : weights.at(outputs[place].query, input ?? 0),
  );
  const best = [...shares.keys()].sort((one, other) => shares[other] - shares[one]).slice(0, NAMED);
  const named = best
    .filter((place, rank) => rank === 0 || shares[place] >= 0.01)
    .flatMap((place, rank) => [rank ? ", " : "", quotedToken(others[place]), ` ${formatPercent(shares[place])}`]);
  const isLarge = shares[best[0]] > 0.005;
  if (output !== null) return [quotedToken(outputs[output]), ` ${verb} `, ...(isLarge ? named : [NO_LARGE_SHARE]), "."];
  if (!(shares[best[0]] >= 0.01)) return [quotedToken(inputs[input ?? 0]), " was hardly looked at."];
  return [quotedToken(inputs[input ?? 0]), " was looked at for ", ...named, "."];
}
