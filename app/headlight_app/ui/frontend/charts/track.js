// A number as a bar on a track, for lists of candidates and of metrics.

import { createElement } from "../dom/dom.js";

/** @typedef {{ least: number, most: number }} Ends of a track whose bars begin at zero */

/**
 * A share of the track, or a number between two ends, which may be negative.
 * @param {number | null} number null: no bar @param {number | null} [before] the number to compare with @param {Ends} [ends]
 */
export function createTrack(number, before, ends) {
  const track = createElement("span", ends ? "track of-scores" : "track");
  if (before !== undefined) track.append(createBar("ghost", before, ends));
  track.append(createBar("bar", number, ends));
  if (ends) track.style.setProperty("--zero", `${100 * zeroOf(ends)}%`);
  return track;
}

/** @param {string} style @param {number | null} number @param {Ends} [ends] without them, a share of the track */
export function createBar(style, number, ends) {
  const bar = createElement("i", style);
  const share = (number ?? 0) / (ends ? ends.most - ends.least || 1 : 1);
  bar.style.width = `${Math.abs(share) * 100}%`;
  if (ends) bar.style.left = `${100 * (zeroOf(ends) + Math.min(share, 0))}%`;
  if (ends && share < 0) bar.classList.add("minus");
  bar.hidden = number === null;
  return bar;
}

/** The place of zero, as a share of the track. @param {Ends} ends */
function zeroOf({ least, most }) {
  return -least / (most - least || 1);
}
