// Candidates before and after the sampling settings, and the random number that chose one of them.

import {
  canvasStyle,
  createElement,
  formatPercent,
  hidpiContext,
  inlineText,
  quotedToken,
  updateChildren,
  visibleText,
} from "../../../model/rendering/static/ui/dom.js";
import { sampledCandidate } from "./generator.js";

/** @import { GenerateElements } from "./elements.js" */
/** @import { Generator } from "./generator.js" */
/** @import { Candidate, Kind, StepRecord, WrittenToken } from "./types.d.ts" */

const STRIP = { height: 30, shown: 12, width: 240 }; // pixels; candidates; pixels where it has no width yet

/**
 * @param {GenerateElements} elements
 * @param {Generator} generator
 * @param {Kind} kind
 */
export function drawNext(elements, generator, kind) {
  const { record, viewed, endReason } = generator;
  const { nextTitle, nextWhere, newest, candidates, draw } = elements;
  newest.hidden = viewed === null;
  if (!record || record.done || (endReason && viewed === null)) {
    nextTitle.textContent = record ? "The end" : "…";
    nextWhere.textContent = endReason;
    candidates.replaceChildren();
    draw.hidden = true;
    return;
  }
  const taken = viewed === null ? null : generator.written[viewed];
  nextTitle.textContent = taken ? "What could have stood here" : kind === "fill" ? "The surest mask" : "Next token";
  const outdated = generator.isOutdated(record)
    ? ` · drawn with temperature ${record.sampling.temperature.toFixed(2)}`
    : "";
  nextWhere.replaceChildren(
    ...positionWords(generator, record, kind),
    ` · entropy ${record.spread.toFixed(2)} bits${outdated}`,
  );
  nextWhere.title =
    "How undecided the model is, over its whole vocabulary: 0 bits is sure, one more doubles the choice";
  drawCandidates(candidates, generator, record, taken);
  drawRandomNumber(elements, record);
}

/**
 * @param {Generator} generator
 * @param {StepRecord} record
 * @param {Kind} kind
 */
function positionWords({ tokens }, { place }, kind) {
  return kind === "fill"
    ? [`at position ${place}`]
    : ["after ", ...quotedToken(tokens[place - 1]), ` (position ${place - 1})`];
}

/**
 * @param {HTMLElement} list
 * @param {Generator} generator
 * @param {StepRecord} record
 * @param {WrittenToken | null} taken
 */
function drawCandidates(list, generator, record, taken) {
  const { candidates } = record;
  const largest = Math.max(...candidates.flatMap(({ before, after }) => [before, after]), 1e-9);
  const { step } = generator;
  const rows = candidates.map((candidate) => {
    const button = createCandidate(candidate, largest, record.chosen, taken);
    button.onclick = () => {
      generator.stop();
      generator.take(step, { place: record.place, id: candidate.id, piece: candidate.piece });
    };
    button.onkeydown = (event) => moveFocus(list, button, event);
    const row = createElement("li", "candidate");
    row.append(button);
    return row;
  });
  updateChildren(list, ...rows);
}

/**
 * One candidate, with two bars: its probability by the model, and after the sampling settings.
 * @param {Candidate} candidate
 * @param {number} largest share of all, as long as the track
 * @param {number} sampled the id that was sampled
 * @param {WrittenToken | null} taken the token that stands there
 */
function createCandidate({ id, piece, before, after }, largest, sampled, taken) {
  const button = createElement("button", "takes-it");
  button.type = "button";
  const track = createElement("span", "track");
  track.append(createBar("ghost", before / largest), createBar("bar", after / largest));
  const mark = taken?.id === id ? "taken" : id === sampled ? "⚄" : "";
  button.append(
    createElement("bdi", "token", visibleText(piece)),
    track,
    createElement("span", "number", after ? formatPercent(after) : "cut"),
    createElement("span", "mark", mark),
  );
  button.classList.toggle("cut", !after);
  button.classList.toggle("chosen", id === (taken?.id ?? sampled));
  const note = id === sampled ? ", chosen by the dice" : "";
  button.setAttribute(
    "aria-label",
    `Take ${inlineText(piece)}: ${formatPercent(before)} by the model, ${formatPercent(after)} by the rule${note}`,
  );
  button.title = `${visibleText(piece)}  probability ${before.toPrecision(4)}, chance by the rule ${after.toPrecision(4)}. Click to take it`;
  return button;
}

/**
 * @param {string} className
 * @param {number} share of the track
 */
function createBar(className, share) {
  const bar = createElement("i", className);
  bar.style.width = `${share * 100}%`;
  return bar;
}

/**
 * @param {HTMLElement} list
 * @param {HTMLButtonElement} button
 * @param {KeyboardEvent} event
 */
function moveFocus(list, button, event) {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const buttons = [...list.querySelectorAll("button")];
  const next = step ? buttons[buttons.indexOf(button) + step] : undefined;
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/**
 * The shares laid side by side, largest first, and the number among them that chose.
 * @param {GenerateElements} elements
 * @param {StepRecord} record
 */
function drawRandomNumber({ root, draw, drawStrip, drawWords }, record) {
  draw.hidden = false;
  const greedy = record.sampling.temperature === 0;
  drawStrip.hidden = greedy;
  if (greedy) {
    drawWords.textContent = "Temperature 0: the likeliest token is taken, no dice are thrown.";
    return;
  }
  const width = draw.clientWidth || STRIP.width;
  const style = canvasStyle(root);
  const context = hidpiContext(drawStrip, width, STRIP.height);
  paintShares(context, width, record, style);
  paintMarker(context, record.number * width, style.ink);
  const sampled = sampledCandidate(record);
  const count =
    record.kept === record.vocabulary
      ? `all ${record.vocabulary} tokens`
      : `${record.kept} of ${record.vocabulary} tokens`;
  const number = record.number.toFixed(3);
  drawWords.replaceChildren(
    `The dice show ${number}: `,
    ...quotedToken(sampled),
    ` (rank ${record.rank}). The rule leaves ${count}.`,
  );
  drawStrip.setAttribute("aria-label", `The dice show ${number} and hit ${inlineText(sampled.piece)}`);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} width
 * @param {StepRecord} record
 * @param {ReturnType<typeof canvasStyle>} style
 */
function paintShares(context, width, { candidates, chosen }, style) {
  const kept = candidates.filter(({ after }) => after > 0).sort((a, b) => b.after - a.after || b.before - a.before);
  let left = 0;
  kept.slice(0, STRIP.shown).forEach(({ id, after }, rank) => {
    context.fillStyle = id === chosen ? style.beam : style.quiet;
    context.globalAlpha = id === chosen ? 1 : 0.5 - 0.03 * rank;
    context.fillRect(left * width, 10, Math.max(after * width - 1, 0.5), 14);
    left += after;
  });
  context.globalAlpha = 0.12;
  context.fillStyle = style.ink;
  context.fillRect(left * width, 10, (1 - left) * width, 14);
  context.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {string} ink
 */
function paintMarker(context, x, ink) {
  context.fillStyle = ink;
  context.beginPath();
  context.moveTo(x - 5, 1);
  context.lineTo(x + 5, 1);
  context.lineTo(x, 9);
  context.fill();
  context.fillRect(x - 0.75, 8, 1.5, 20);
}
