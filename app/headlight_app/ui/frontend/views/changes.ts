// Parts of a sum as bars; from a start on, each begins where the previous one ended.

import { createBar } from "../charts/track.ts";
import { createElement } from "../dom/dom.ts";
import { formatSigned } from "../dom/numbers.ts";
import type { ChangesView, Pick, Picks } from "./types.ts";

export function createChanges(view: ChangesView, picks: Picks | undefined) {
  const { parts, start, end, picks: choices, marked } = view;
  const extents = extentsOf(view);
  const first = start ? Number(start[1]) : 0;
  const [low, high] = [Math.min(first, ...extents.flat()), Math.max(first, ...extents.flat())];
  const range = high - low || 1;
  const items = parts.map(([name, value], place) => {
    const [from, to] = extents[place];
    const bar = createBar(to < from ? "minus" : "plus", Math.abs(to - from) / range);
    bar.style.left = `${(100 * (Math.min(from, to) - low)) / range}%`;
    const pick = choices[place] && Object.keys(choices[place]).length ? choices[place] : null;
    const isMarked = place === marked || (pick && picks?.isChosen(pick));
    return createItem(isMarked ? "marked" : "", createName(name, pick, picks), [bar], Number(value));
  });
  const totals = (total: ChangesView["start"]) => (total ? [createTotal(total)] : []);
  const list = createElement("ol", "changes-list", [...totals(start), ...items, ...totals(end)]);
  list.style.setProperty("--start", `${(100 * (first - low)) / range}%`);
  return list;
}

/** Where the bar of each part begins and ends. */
export function extentsOf({ parts, start }: ChangesView) {
  let reached = start ? Number(start[1]) : 0;
  return parts.map(([, number]) => {
    const from = start ? reached : 0;
    reached = from + Number(number);
    return [from, reached];
  });
}

function createTotal([name, number]: NonNullable<ChangesView["start"]>) {
  return createItem("total", createName(name, null), [], Number(number));
}

function createName(name: string, pick: Pick | null, picks?: Picks) {
  if (!pick || !picks) return createElement("span", "name", name);
  return createElement("button", "name", name, { onclick: () => picks.choose(pick) });
}

function createItem(style: string, name: HTMLElement, bars: HTMLElement[], number: number) {
  const track = createElement("span", "bar-track", bars);
  return createElement("li", style, [name, track, createElement("output", "", formatSigned(number))]);
}
