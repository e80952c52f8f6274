// The time of each step as a bar, and the rate.

import { canvasStyle, hidpiContext } from "../../ui/frontend/dom/dom.ts";
import { formatPlaces } from "../../ui/frontend/dom/numbers.ts";
import type { GenerateElements } from "./elements.ts";
import type { Generator } from "./generator.ts";
import type { StepRecord } from "./types.ts";

const SHOWN = 40; // steps
const RECENT = 8; // steps in the rate
const HEIGHT = 64; // pixels
const CUT_ABOVE = 4; // times the median: longer bars are cut, so that the others stay visible

/** @param numbers in rising order */
function median(numbers: number[]) {
  return numbers[numbers.length >> 1];
}

/** The available answers from step `from` to the newest. */
function recordsFrom(generator: Generator, from: number): StepRecord[] {
  const steps = Array.from({ length: generator.generated.length + 1 - from }, (_, step) =>
    generator.recordAt(from + step),
  );
  return steps.filter((record) => record && !record.done) as StepRecord[];
}

/** Draws the server's time for each step. */
export function drawStepTimes({ root, times: canvas, timesWords }: GenerateElements, generator: Generator) {
  const records = recordsFrom(generator, 0).slice(-SHOWN);
  const width = canvas.parentElement?.clientWidth;
  const last = records.at(-1);
  if (!width || !last) return;
  const style = canvasStyle(root);
  const context = hidpiContext(canvas, width, HEIGHT);
  const times = records.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const longest = Math.max(...times);
  const top = Math.min(longest, CUT_ABOVE * median(times));
  const step = Math.min(width / SHOWN, 14);
  records.forEach(({ milliseconds, tokens_read }, place) => {
    const tall = Math.max((Math.min(milliseconds, top) / top) * 60, 1);
    context.fillStyle = tokens_read === 1 ? style.beam : style.quiet;
    context.fillRect(place * step, 62 - tall, step - 1.5, tall);
    context.fillStyle = style.surface;
    if (milliseconds > top * 1.01) context.fillRect(place * step, 9, step, 3);
  });
  const words = `The last step read ${last.tokens_read} of ${last.length} tokens in ${formatPlaces(last.milliseconds, 1)} ms. Longest here: ${formatPlaces(longest, 1)} ms.`;
  timesWords.textContent = words;
  canvas.ariaLabel = words;
}

/** The rate in words: by the clock during playback, and by the server's time of the last steps. */
export function describeRate(generator: Generator) {
  const first = Math.max(generator.generated.length - RECENT, 0) + 1;
  const times = recordsFrom(generator, first)
    .map(({ milliseconds }) => milliseconds)
    .sort((a, b) => a - b);
  const pace = generator.pace.slice(-RECENT);
  const words = [];
  if (pace.length > 1) words.push(`${formatPlaces(1_000 / (pace.reduce((a, b) => a + b) / pace.length), 1)} tokens/s`);
  if (times.length) words.push(`${formatPlaces(median(times), 1)} ms a step`);
  return words.join(" · ");
}
