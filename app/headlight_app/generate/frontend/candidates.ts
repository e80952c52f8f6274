// Candidates before and after the sampling settings, and the random number that chose one of them.

import { svg } from "../../ui/frontend/charts/svg.ts";
import { createTrack } from "../../ui/frontend/charts/track.ts";
import {
  canvasStyle,
  createElement,
  formatPercent,
  hidpiContext,
  inlineText,
  quotedToken,
  updateChildren,
  visibleText,
} from "../../ui/frontend/dom/dom.ts";
import { onArrows, VERTICAL_STEPS } from "../../ui/frontend/dom/keyboard.ts";
import type { GenerateElements } from "./elements.ts";
import type { Generator } from "./generator.ts";
import { sampledCandidate } from "./generator.ts";
import type { Candidate, GeneratedToken, Mode, StepRecord } from "./types.ts";

const STRIP = { height: 30, shown: 12, width: 240 }; // pixels; candidates; pixels if it has no width yet

export function drawNext(elements: GenerateElements, generator: Generator, mode: Mode) {
  const { record, viewed, endReason } = generator;
  const { nextTitle, nextWhere, newest, candidates, sample } = elements;
  newest.hidden = viewed === null;
  candidates.ariaBusy = String(!record);
  if (!record && candidates.childElementCount) return; // they keep the keyboard focus until the next arrive
  if (!record || record.done || (endReason && viewed === null)) {
    nextTitle.textContent = record ? "The end" : "…";
    nextWhere.textContent = endReason;
    candidates.replaceChildren();
    sample.hidden = true;
    return;
  }
  const taken = viewed === null ? null : generator.generated[viewed];
  nextTitle.textContent = taken
    ? "Other candidates for this token"
    : mode === "fill"
      ? "The most certain mask"
      : "Next token";
  const outdated = generator.isOutdated(record)
    ? ` · sampled at temperature ${record.sampling.temperature.toFixed(2)}`
    : "";
  nextWhere.replaceChildren(
    ...positionWords(generator, record, mode),
    ` · entropy ${record.entropy.toFixed(2)} bits${outdated}`,
  );
  nextWhere.title =
    "How undecided the model is, over its whole vocabulary: 0 bits is certain, each further bit doubles the choice";
  drawCandidates(candidates, generator, record, taken);
  drawRandomNumber(elements, record);
}

function positionWords({ tokens }: Generator, { position }: StepRecord, mode: Mode) {
  return mode === "fill"
    ? [`at position ${position}`]
    : ["after ", quotedToken(tokens[position - 1]), ` (position ${position - 1})`];
}

function drawCandidates(list: HTMLElement, generator: Generator, record: StepRecord, taken: GeneratedToken | null) {
  const { candidates } = record;
  const { step } = generator;
  const rows = candidates.map((candidate) => {
    const button = createCandidate(candidate, record.chosen, taken);
    button.onclick = () => {
      if (generator.record !== record) return; // the next ones are being fetched
      generator.stop();
      generator.take(step, { position: record.position, id: candidate.id, text: candidate.text });
    };
    onArrows(button, VERTICAL_STEPS, (step) => {
      const buttons = [...list.querySelectorAll("button")];
      const next = buttons[buttons.indexOf(button) + step];
      next?.focus();
      return Boolean(next);
    });
    return createElement("li", "candidate", [button]);
  });
  updateChildren(list, ...rows);
}

/** The sign of the candidate that was sampled. */
function createDie() {
  const dots = svg("path", { d: "M5 5h.01M11 5h.01M8 8h.01M5 11h.01M11 11h.01" });
  const sides = svg("rect", { x: 2, y: 2, width: 12, height: 12, rx: 2 });
  return svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, [sides, dots]);
}

/**
 * One candidate with two bars: its probability by the model, and after the sampling settings.
 * @param chosen the id that was sampled @param taken the token at this step
 */
function createCandidate({ id, text, before, after }: Candidate, chosen: number, taken: GeneratedToken | null) {
  const mark = taken?.id === id ? "taken" : "";
  const seen = [visibleText(text), after ? formatPercent(after) : "filtered out", mark];
  const button = createElement("button", "takes-it", [
    createElement("bdi", "token", seen[0]),
    createTrack(after, before),
    createElement("span", "number", seen[1]),
    createElement("span", "mark", [id === chosen && !mark ? createDie() : mark]),
  ]);
  button.classList.toggle("cut", !after);
  button.classList.toggle("chosen", id === (taken?.id ?? chosen));
  const words = `after sampling settings, ${formatPercent(before)} by the model${id === chosen ? ", sampled" : ""}`;
  button.ariaLabel = `Take ${seen.join(" ").trim()}: ${words}`;
  button.title = `${visibleText(text)}  probability ${before.toPrecision(4)}, after sampling settings ${after.toPrecision(4)}. Click to take it`;
  return button;
}

/** Draws the shares side by side, largest first, and marks the random number among them. */
function drawRandomNumber({ root, sample, sampleStrip, sampleWords }: GenerateElements, record: StepRecord) {
  sample.hidden = false;
  const greedy = record.sampling.temperature === 0;
  sampleStrip.hidden = greedy;
  if (greedy) {
    sampleWords.textContent = "Temperature 0: the likeliest token is taken; nothing is random.";
    return;
  }
  const width = sample.clientWidth || STRIP.width;
  const style = canvasStyle(root);
  const context = hidpiContext(sampleStrip, width, STRIP.height);
  paintShares(context, width, record, style);
  paintMarker(context, record.random_number * width, style.ink);
  const sampled = sampledCandidate(record);
  const count =
    record.kept_count === record.vocabulary
      ? `all ${record.vocabulary} tokens`
      : `${record.kept_count} of ${record.vocabulary} tokens`;
  const number = record.random_number.toFixed(3);
  sampleWords.replaceChildren(
    `Random number ${number}: `,
    quotedToken(sampled),
    ` (rank ${record.rank}). The sampling settings leave ${count}.`,
  );
  sampleStrip.ariaLabel = `The random number ${number} falls on ${inlineText(sampled.text)}`;
}

function paintShares(
  context: CanvasRenderingContext2D,
  width: number,
  { candidates, chosen }: StepRecord,
  style: ReturnType<typeof canvasStyle>,
) {
  const kept = candidates.filter(({ after }) => after > 0).sort((a, b) => b.after - a.after || b.before - a.before);
  let left = 0;
  kept.slice(0, STRIP.shown).forEach(({ id, after: share }, rank) => {
    context.fillStyle = id === chosen ? style.beam : style.quiet;
    context.globalAlpha = id === chosen ? 1 : 0.5 - 0.03 * rank;
    context.fillRect(left * width, 10, Math.max(share * width - 1, 0.5), 14);
    left += share;
  });
  context.globalAlpha = 0.12;
  context.fillStyle = style.ink;
  context.fillRect(left * width, 10, (1 - left) * width, 14);
  context.globalAlpha = 1;
}

function paintMarker(context: CanvasRenderingContext2D, x: number, ink: string) {
  context.fillStyle = ink;
  context.beginPath();
  context.moveTo(x - 5, 1);
  context.lineTo(x + 5, 1);
  context.lineTo(x, 9);
  context.fill();
  context.fillRect(x - 0.75, 8, 1.5, 20);
}
