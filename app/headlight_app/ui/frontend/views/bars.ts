// Bars to the right of their labels, with their numbers; several series are below each other.

import { formatScore } from "../charts/answer_numbers.ts";
import { HEAD_COLOURS } from "../charts/colours.ts";
import { createBar } from "../charts/track.ts";
import { createElement, formatPercent } from "../dom/dom.ts";
import { formatFixed, largestSize } from "./numbers.ts";
import type { BarsView, Picks } from "./types.ts";

const GREY = "color-mix(in srgb, var(--ink) 40%, var(--surface))";

export function createBars(view: BarsView, picks?: Picks) {
  const { labels, series, high, compared } = view;
  const named = Object.entries(series);
  const coloured = Object.keys(series).filter((name) => name !== compared);
  const colourOf = (name: string) => HEAD_COLOURS[coloured.indexOf(name)] ?? GREY;
  const largest = high ?? largestSize(named.flatMap(([, values]) => values));
  const signed = named.some(([, values]) => values.some((value) => Number(value) < 0));
  return createElement("ul", "bar-list", [
    ...labels.map((label, index) => {
      const bars = createElement("div", "bar-stack", [
        ...named.map(([name, values]) =>
          createLine(named.length > 1 ? name : "", Number(values[index]), largest, colourOf(name), signed, view),
        ),
      ]);
      const name = createLabel(label, view.picks[index], picks);
      name.classList.toggle("marked", index === view.marked);
      if (name instanceof HTMLButtonElement && view.marked !== null) name.ariaPressed = String(index === view.marked);
      return createElement("li", "", [name, bars]);
    }),
  ]);
}

/** Whether there is one number, of which nothing says how much it is. */
export function isAlone({ high, labels, series }: BarsView) {
  return high === null && labels.length === 1 && Object.keys(series).length === 1;
}

function createLabel(label: string, pick: BarsView["picks"][number] | undefined, picks?: Picks) {
  if (!picks || !pick || !Object.keys(pick).length) return createElement("span", "bar-label", label);
  return createElement("button", "bar-label", label, { onclick: () => picks.choose(pick) });
}

/** A number of the bars in words. */
export function barNumber({ as_percent, digits }: Pick<BarsView, "as_percent" | "digits">, number: number) {
  if (as_percent) return formatPercent(number);
  return digits === null ? formatScore(number) : formatFixed(number, digits);
}

/** @param signed whether bars may go to both sides */
function createLine(name: string, value: number, largest: number, colour: string, signed: boolean, view: BarsView) {
  const line = createElement("div", "bar-line");
  const share = Number.isFinite(value) ? Math.min(Math.abs(value) / largest, 1) : 1;
  const [room, zero] = signed ? [50, 50] : [100, 0];
  const bar = createBar("", (share * room) / 100);
  bar.style.left = `${value < 0 ? zero - share * room : zero}%`;
  bar.style.background = colour;
  const track = createElement("span", "bar-track", isAlone(view) ? [] : [bar]);
  line.append(track, createElement("span", "bar-number", `${name ? `${name} ` : ""}${barNumber(view, value)}`));
  return line;
}
