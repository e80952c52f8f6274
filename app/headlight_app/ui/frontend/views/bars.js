// Bars to the right of their labels, with their numbers; several series are below each other.

import { formatScore } from "../charts/answer_numbers.js";
import { HEAD_COLOURS } from "../charts/colours.js";
import { createBar } from "../charts/track.js";
import { createElement, formatPercent } from "../dom/dom.js";
import { formatFixed, largestSize } from "./numbers.js";

/** @import { BarsView, Picks } from "./types.js" */

const GREY = "color-mix(in srgb, var(--ink) 40%, var(--surface))";

/** @param {BarsView} view @param {Picks} [picks] */
export function createBars(view, picks) {
  const { labels, series, high, compared } = view;
  const named = Object.entries(series);
  const coloured = Object.keys(series).filter((name) => name !== compared);
  const colourOf = (/** @type {string} */ name) => HEAD_COLOURS[coloured.indexOf(name)] ?? GREY;
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

/** Whether there is one number, of which nothing says how much it is. @param {BarsView} view */
export function isAlone({ high, labels, series }) {
  return high === null && labels.length === 1 && Object.keys(series).length === 1;
}

/** @param {string} label @param {BarsView["picks"][number] | undefined} pick @param {Picks} [picks] */
function createLabel(label, pick, picks) {
  if (!picks || !pick || !Object.keys(pick).length) return createElement("span", "bar-label", label);
  return createElement("button", "bar-label", label, { onclick: () => picks.choose(pick) });
}

/** A number of the bars in words. @param {Pick<BarsView, "as_percent" | "digits">} view @param {number} number */
export function barNumber({ as_percent, digits }, number) {
  if (as_percent) return formatPercent(number);
  return digits === null ? formatScore(number) : formatFixed(number, digits);
}

/**
 * @param {string} name @param {number} value @param {number} largest @param {string} colour @param {boolean} signed
 * whether bars may go to both sides @param {BarsView} view
 */
function createLine(name, value, largest, colour, signed, view) {
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
