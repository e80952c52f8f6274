// The chosen heads and tokens of a view, as in app/headlight_app/inference/head_selection.py.

import type { HeadChoice } from "../../../ui/frontend/contract.ts";
import { Refused } from "../engine/refused.ts";
import type { Head } from "./quantities.ts";
import type { GroupFacts, ModelFacts } from "./types.ts";

const ZOOM = /^(\d{1,9})-(\d{1,9})\/(\d{1,9})-(\d{1,9})$/;

/** The positions from the first to before the end. */
export type Span = readonly [first: number, end: number];

/** The attention of a name, or the first. */
export function selectedGroup({ groups }: ModelFacts, name = ""): GroupFacts {
  const group = groups.find((each) => each.name === name) ?? groups[0];
  if (!group) throw new Refused("This model has no layers, so there is no attention to show.");
  return group;
}

/** "2.3" as layer 2, head 3; null if the group has no such head. */
export function parseHead(label: string, { layers, heads }: GroupFacts): Head | null {
  const [layer, head] = /^(\d+)\.(\d+)$/.exec(label)?.slice(1).map(Number) ?? [layers, heads];
  return layer < layers && head < heads && label.length < 12 ? [layer, head] : null;
}

/** The selected heads, or the nearest one to the chosen one if none are selected. */
export function selectedHeads(choice: HeadChoice, group: GroupFacts): Head[] {
  const selected = [...new Set(choice.heads)].map((label) => parseHead(label, group)).filter((head) => head !== null);
  const nearest = (at: number, count: number) => Math.min(Math.max(at, 0), count - 1);
  return selected.length ? selected : [[nearest(choice.layer, group.layers), nearest(choice.head, group.heads)]];
}

/** The queries and keys in the zoomed part of a map; all of them without a valid zoom. */
export function zoomSpans({ zoom }: HeadChoice, length: number): [Span, Span] {
  const numbers = ZOOM.exec(zoom)?.slice(1).map(Number);
  if (numbers) {
    const spans: [Span, Span] = [
      [numbers[0], Math.min(numbers[1], length)],
      [numbers[2], Math.min(numbers[3], length)],
    ];
    if (spans.every(([first, end]) => first < end)) return spans;
  }
  return [
    [0, length],
    [0, length],
  ];
}
