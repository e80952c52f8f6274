// A number as a bar on a track, for lists of candidates and of metrics.

import { createElement } from "../dom/dom.ts";

type Ends = { least: number; most: number }; // of a track whose bars begin at zero

/**
 * A share of the track, or a number between two ends, which may be negative.
 * @param number null: no bar @param before the number to compare with
 */
export function createTrack(number: number | null, before?: number | null, ends?: Ends) {
  const track = createElement("span", ends ? "track of-scores" : "track");
  if (before !== undefined) track.append(createBar("ghost", before, ends));
  track.append(createBar("bar", number, ends));
  if (ends) track.style.setProperty("--zero", `${100 * zeroOf(ends)}%`);
  return track;
}

/** @param ends without them, a share of the track */
export function createBar(style: string, number: number | null, ends?: Ends) {
  const bar = createElement("i", style);
  const share = (number ?? 0) / (ends ? ends.most - ends.least || 1 : 1);
  bar.style.width = `${Math.abs(share) * 100}%`;
  if (ends) bar.style.left = `${100 * (zeroOf(ends) + Math.min(share, 0))}%`;
  if (ends && share < 0) bar.classList.add("minus");
  bar.hidden = number === null;
  return bar;
}

/** The place of zero, as a share of the track. */
function zeroOf({ least, most }: Ends) {
  return -least / (most - least || 1);
}
