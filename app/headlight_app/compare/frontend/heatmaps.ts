// Large maps of the chosen head of both sides, and their difference at corresponding tokens.

import { paintCodes, SIGNED_COLOURS } from "../../ui/frontend/charts/colours.ts";
import type { MapActions } from "../../ui/frontend/charts/heatmap.ts";
import { cellAtPointer, drawHeatmap, listenToMap } from "../../ui/frontend/charts/heatmap.ts";
import { canvasStyle, createElement, hidpiContext } from "../../ui/frontend/dom/dom.ts";
import { formatPlaces } from "../../ui/frontend/dom/numbers.ts";
import { encodeWeight } from "../../ui/frontend/weight_code.ts";
import type { AttentionPair, Comparison } from "./comparison.ts";
import type { WeightDifference } from "./difference.ts";
import { weightDifference } from "./difference.ts";
import type { CompareElements } from "./elements.ts";
import type { Axis, Cell, HeadIndex, PositionPair, QueryKey } from "./types.ts";

type Shown = { comparison: Comparison; attention: AttentionPair; heads: HeadIndex[]; difference: WeightDifference };
type Layout = ReturnType<typeof drawHeatmap>;

const SIDES = [0, 1];

export class Heatmaps {
  #elements;
  #sideImages = [createElement("canvas"), createElement("canvas")];
  #differenceImage = createElement("canvas");
  #sideLayouts: (Layout | null)[] = [null, null];
  #differenceLayout: Layout | null = null;
  #shown: Shown | null = null;

  constructor(elements: CompareElements, actions: MapActions<Cell>) {
    this.#elements = elements;
    elements.sideMaps.forEach((canvas, side) => {
      listenToMap(canvas, (event) => this.#cellOfSide(side, event), actions);
    });
    listenToMap(elements.differenceMap, (event) => this.#cellOfDifference(event), actions);
  }

  /** Makes the images of two heads and of their difference. @param heads of each side */
  show(comparison: Comparison, attention: AttentionPair, heads: HeadIndex[]) {
    for (const side of SIDES) paintSide(this.#sideImages[side], comparison, side, attention, heads[side]);
    const difference = weightDifference(comparison, attention, heads);
    const { codes, queries, keys } = difference;
    if (codes.length) paintCodes(this.#differenceImage, codes, queries.length, keys.length, SIGNED_COLOURS);
    this.#shown = { comparison, attention, heads, difference };
    this.#drawRange(this.#shown);
  }

  /**
   * Draws the maps with a query and a key marked on each, without recomputing their images.
   * @param positions on each side
   */
  paint(positions: QueryKey[]) {
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

  #drawRange({ comparison, attention, difference: { codes, extent } }: Shown) {
    const { low, high, unmatched } = this.#elements;
    low.textContent = `−${formatPlaces(extent, 2)}`;
    high.textContent = `+${formatPlaces(extent, 2)}`;
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

  #cellOfSide(side: number, event: MouseEvent): Cell | null {
    const cell = cellAtPointer(this.#elements.sideMaps[side], this.#sideLayouts[side], event);
    return cell && { side, ...cell };
  }

  /** The cell of the difference under the pointer, as a cell of a side. */
  #cellOfDifference(event: MouseEvent): Cell | null {
    const cell = cellAtPointer(this.#elements.differenceMap, this.#differenceLayout, event);
    if (!cell || !this.#shown) return null;
    const { queries, keys } = this.#shown.difference;
    return { side: 0, query: queries[cell.query][0], key: keys[cell.key][0] };
  }
}

function paintMap(
  canvas: HTMLCanvasElement,
  picture: Omit<Parameters<typeof drawHeatmap>[2], "hot" | "rows" | "style">,
  hot: QueryKey,
  style: ReturnType<typeof canvasStyle>,
) {
  const width = canvas.parentElement?.clientWidth;
  if (!width) return null;
  const rows = hot.query === null ? [] : [hot.query];
  return drawHeatmap(canvas, width, { ...picture, hot, rows, style });
}

function paintSide(
  image: HTMLCanvasElement,
  comparison: Comparison,
  side: number,
  { groups }: AttentionPair,
  head: HeadIndex,
) {
  const group = groups[side];
  if (!comparison.exact(side, group, head))
    return paintCodes(image, comparison.codes(group, head), ...group.pooled_shape);
  const weight = comparison.weights(side, group, head);
  const codes = Uint8Array.from({ length: group.rows * group.columns }, (_, cell) =>
    encodeWeight(weight(Math.floor(cell / group.columns), cell % group.columns)),
  );
  paintCodes(image, codes, group.rows, group.columns);
}

/** The labels of corresponding tokens: one text if both are equal, else both texts. */
export function sharedTokens(comparison: Comparison, axis: Axis, pairs: PositionPair[]) {
  const [ours, theirs] = SIDES.map((side) => comparison.tokens(side, axis));
  return pairs.map(([a, b]) => {
    const [one, other] = [ours[a].text, theirs[b].text.trim()];
    return { text: one.trim() === other ? one : `${one}/${other}` };
  });
}

function indexOfPair(pairs: PositionPair[], positions: QueryKey[], axis: keyof QueryKey) {
  const index = pairs.findIndex(([a, b]) => a === positions[0][axis] && b === positions[1][axis]);
  return index < 0 ? null : index;
}
