// Bars to the right of their labels, with their numbers; several series are below each other.

import { HEAD_COLOURS } from "../charts/colours.js";
import { createBar } from "../charts/track.js";
import { createElement } from "../dom/dom.js";
import { formatFixed, largestSize } from "./numbers.js";

/** @import { BarsView } from "./types.js" */

/** @param {BarsView} view */
export function createBars({ labels, series, high, digits }) {
  const named = Object.entries(series);
  const largest = high ?? largestSize(named.flatMap(([, values]) => values));
  const signed = named.some(([, values]) => values.some((value) => Number(value) < 0));
  return createElement("ul", "bar-list", [
    ...labels.map((label, index) => {
      const bars = createElement("div", "bar-stack", [
        ...named.map(([name, values], place) =>
          createLine(named.length > 1 ? name : "", Number(values[index]), largest, HEAD_COLOURS[place], signed, digits),
        ),
      ]);
      return createElement("li", "", [createElement("span", "bar-label", label), bars]);
    }),
  ]);
}

/**
 * @param {string} name @param {number} value @param {number} largest @param {string} colour @param {boolean} signed
 * whether bars may go to both sides @param {number} digits
 */
function createLine(name, value, largest, colour, signed, digits) {
  const line = createElement("div", "bar-line");
  const share = Number.isFinite(value) ? Math.min(Math.abs(value) / largest, 1) : 1;
  const [room, zero] = signed ? [50, 50] : [100, 0];
  const bar = createBar("", (share * room) / 100);
  bar.style.left = `${value < 0 ? zero - share * room : zero}%`;
  bar.style.background = colour;
  const track = createElement("span", "bar-track", [bar]);
  line.append(track, createElement("span", "bar-number", `${name ? `${name} ` : ""}${formatFixed(value, digits)}`));
  return line;
}
