// Large maps of the chosen head of both sides, and their difference at corresponding tokens.

import { paintCodes, SIGNED_COLOURS } from "../../ui/frontend/charts/colours.js";
import { cellAtPointer, drawHeatmap, listenToMap } from "../../ui/frontend/charts/heatmap.js";
import { canvasStyle, createElement, hidpiContext } from "../../ui/frontend/dom/dom.js";
import { encodeWeight } from "../../ui/frontend/weight_code.js";
import { weightDifference } from "./difference.js";

/** @import { MapActions } from "../../ui/frontend/charts/heatmap.js" */
/** @import { AttentionPair, Comparison } from "./comparison.js" */
/** @import { WeightDifference } from "./difference.js" */
/** @import { CompareElements } from "./elements.js" */
/** @import { Axis, Cell, HeadIndex, PositionPair, QueryKey } from "./types.d.ts" */

/** @typedef {{ comparison: Comparison, attention: AttentionPair, heads: HeadIndex[], difference: WeightDifference }} Shown */
/** @typedef {ReturnType<typeof drawHeatmap>} Layout */

const SIDES = [0, 1];

export class Heatmaps {
  #elements;
  #sideImages = [createElement("canvas"), createElement("canvas")];
  #differenceImage = createElement("canvas");
  /** @type {(Layout | null)[]} */
  #sideLayouts = [null, null];
  /** @type {Layout | null} */
  #differenceLayout = null;
  /** @type {Shown | null} */
  #shown = null;

  /** @param {CompareElements} elements @param {MapActions<Cell>} actions */
  constructor(elements, actions) {
    this.#elements = elements;
    elements.sideMaps.forEach((canvas, side) => {
      listenToMap(canvas, (event) => this.#cellOfSide(side, event), actions);
    });
    listenToMap(elements.differenceMap, (event) => this.#cellOfDifference(event), actions);
  }

  /**
   * Makes the images of two heads and of their difference.
   * @param {Comparison} comparison @param {AttentionPair} attention @param {HeadIndex[]} heads of each side
   */
  show(comparison, attention, heads) {
    for (const side of SIDES) paintSide(this.#sideImages[side], comparison, side, attention, heads[side]);
    const difference = weightDifference(comparison, attention, heads);
    const { codes, queries, keys } = difference;
    if (codes.length) paintCodes(this.#differenceImage, codes, queries.length, keys.length, SIGNED_COLOURS);
    this.#shown = { comparison, attention, heads, difference };
    this.#drawRange(this.#shown);
  }

  /**
   * Draws the maps with a query and a key marked on each, without recomputing their images.
   * @param {QueryKey[]} positions on each side
   */
  paint(positions) {
    if (!this.#shown) return;
    const { comparison, attention, heads, difference } = this.#shown;
    const style = canvasStyle(this.#elements.root);
    attention.groups.forEach(({ queries, keys }, side) => {
      const canvas = this.#elements.sideMaps[side];
      canvas.ariaLabel = `Attention of ${"AB"[side]}, layer ${heads[side].layer}, head ${heads[side].head}`;
      const axes = { queries: comparison.tokens(side, queries), keys: comparison.tokens(side, keys) };
      this.#sideLayouts[side] = paintMap(canvas, { ...axes, image: this.#sideImages[side] }, positions[side], style);
    });
    const canvas = this.#elements.differenceMap;
    canvas.ariaLabel = "Difference of the two, B minus A, at corresponding tokens";
    this.#differenceLayout = null;
    if (!difference.codes.length) return void hidpiContext(canvas, 1, 1);
    const { queries, keys } = attention.groups[0];
    const axes = {
      queries: sharedTokens(comparison, queries, difference.queries),
      keys: sharedTokens(comparison, keys, difference.keys),
    };
    const hot = {
      query: indexOfPair(difference.queries, positions, "query"),
      key: indexOfPair(difference.keys, positions, "key"),
    };
    this.#differenceLayout = paintMap(canvas, { ...axes, image: this.#differenceImage, ground: true }, hot, style);
  }

  /** @param {Shown} shown */
  #drawRange({ comparison, attention, difference: { codes, extent } }) {
    const { low, high, unmatched } = this.#elements;
    low.textContent = `−${extent.toFixed(2)}`;
    high.textContent = `+${extent.toFixed(2)}`;
    const [a, b] = attention.groups.map(
      ({ keys }, side) => comparison.tokens(side, keys).length - comparison.pairs(keys).length,
    );
    const words = [a && `${a} of A`, b && `${b} of B`].filter(Boolean).join(" and ");
    unmatched.textContent = !codes.length
      ? "No token has a partner."
      : words
        ? `Without a partner, left out: ${words}.`
        : "";
  }

  /** @param {number} side @param {MouseEvent} event @returns {Cell | null} */
  #cellOfSide(side, event) {
    const cell = cellAtPointer(this.#elements.sideMaps[side], this.#sideLayouts[side], event);
    return cell && { side, ...cell };
  }

  /**
   * The cell of the difference under the pointer, as a cell of a side.
   * @param {MouseEvent} event @returns {Cell | null}
   */
  #cellOfDifference(event) {
    const cell = cellAtPointer(this.#elements.differenceMap, this.#differenceLayout, event);
    if (!cell || !this.#shown) return null;
    const { queries, keys } = this.#shown.difference;
    return { side: 0, query: queries[cell.query][0], key: keys[cell.key][0] };
  }
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Omit<Parameters<typeof drawHeatmap>[2], "hot" | "rows" | "style">} picture @param {QueryKey} hot
 * @param {ReturnType<typeof canvasStyle>} style
 */
function paintMap(canvas, picture, hot, style) {
  const width = canvas.parentElement?.clientWidth;
  if (!width) return null;
  const rows = hot.query === null ? [] : [hot.query];
  return drawHeatmap(canvas, width, { ...picture, hot, rows, style });
}

/**
 * @param {HTMLCanvasElement} image @param {Comparison} comparison @param {number} side @param {AttentionPair} attention
 * @param {HeadIndex} head
 */
function paintSide(image, comparison, side, { groups }, head) {
  const group = groups[side];
  if (!comparison.exact(side, group, head))
    return paintCodes(image, comparison.codes(group, head), ...group.pooled_shape);
  const weight = comparison.weights(side, group, head);
  const codes = Uint8Array.from({ length: group.rows * group.columns }, (_, cell) =>
    encodeWeight(weight(Math.floor(cell / group.columns), cell % group.columns)),
  );
  paintCodes(image, codes, group.rows, group.columns);
}

/**
 * The labels of corresponding tokens: one text if both are equal, else both texts.
 * @param {Comparison} comparison @param {Axis} axis @param {PositionPair[]} pairs
 */
export function sharedTokens(comparison, axis, pairs) {
  const [ours, theirs] = SIDES.map((side) => comparison.tokens(side, axis));
  return pairs.map(([a, b]) => {
    const [one, other] = [ours[a].text, theirs[b].text.trim()];
    return { text: one.trim() === other ? one : `${one}/${other}` };
  });
}

/** @param {PositionPair[]} pairs @param {QueryKey[]} positions @param {keyof QueryKey} axis */
function indexOfPair(pairs, positions, axis) {
  const index = pairs.findIndex(([a, b]) => a === positions[0][axis] && b === positions[1][axis]);
  return index < 0 ? null : index;
}
