// A share as a bar on a track, for lists of candidates and of metrics.

import { createElement } from "../dom/dom.js";

/** @param {number | null} share of the track; null: no bar @param {number | null} [before] the share to compare with */
export function createTrack(share, before) {
  const track = createElement("span", "track");
  if (before !== undefined) track.append(createBar("ghost", before));
  track.append(createBar("bar", share));
  return track;
}

/** @param {string} style @param {number | null} share of the track */
export function createBar(style, share) {
  const bar = createElement("i", style);
  bar.style.width = `${(share ?? 0) * 100}%`;
  bar.hidden = share === null;
  return bar;
}
