// Parts of a sum as bars; from a start on, each begins where the previous one ended.

import { createBar } from "../charts/track.ts";
import { createElement } from "../dom/dom.ts";
import { formatPlaces, formatSigned, rounded, roundedParts } from "../dom/numbers.ts";
import type { ChangesView, Pick, Picks } from "./types.ts";

const [DIGITS, MOST_PLACES] = [3, 8]; // of the largest part of a sum
const FEW_PLACES = 5; // the most of parts that are no sum: smaller ones have digits of their own
const TOTAL_DIGITS = 6; // of its start and its end

export function createChanges(view: ChangesView, picks: Picks | undefined) {
  const { parts, start, end, picks: choices, marked } = view;
  const extents = extentsOf(view);
  const first = start ? Number(start[1]) : 0;
  const [low, high] = [Math.min(first, ...extents.flat()), Math.max(first, ...extents.flat())];
  const range = high - low || 1;
  const texts = changeTexts(view);
  const items = parts.map(([name], place) => {
    const [from, to] = extents[place];
    const bar = createBar(to < from ? "minus" : "plus", Math.abs(to - from) / range);
    bar.style.left = `${(100 * (Math.min(from, to) - low)) / range}%`;
    const pick = choices[place] && Object.keys(choices[place]).length ? choices[place] : null;
    const isMarked = place === marked || (pick && picks?.isChosen(pick));
    return createItem(isMarked ? "marked" : "", createName(name, pick, picks), [bar], texts.parts[place]);
  });
  const totals = (total: ChangesView["start"], text: string) =>
    total ? [createItem("total", createName(total[0], null), [], text)] : [];
  const list = createElement("ol", "changes-list", [
    ...totals(start, texts.start),
    ...items,
    ...totals(end, texts.end),
  ]);
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

/**
 * The numbers as they are written, with as many decimal places each. Parts from a start to an end, or of an end alone, add
 * up to it.
 */
export function changeTexts({ parts, start, end }: ChangesView) {
  const numbers = parts.map(([, number]) => Number(number));
  const [first, total] = [Number(start?.[1] ?? 0), Number(end?.[1] ?? 0)];
  const most = end ? MOST_PLACES : FEW_PLACES;
  const least = Math.min(placesFor(numbers, DIGITS), placesFor([first, total], TOTAL_DIGITS), most);
  const places = Math.max(least, 0);
  const written = (number: number) => {
    if (Number.isFinite(number) && rounded(number, places))
      return `${number > 0 ? "+" : ""}${formatPlaces(number, places)}`;
    return Number.isFinite(number) && end ? "0" : formatSigned(number);
  };
  if (!end) return { start: start ? written(first) : "", parts: numbers.map(written), end: "" };
  const [begin, ...rest] = roundedParts([first, ...numbers], total, places).map(written);
  return { start: begin, parts: rest, end: written(total) };
}

/** The decimal places with which the largest number has so many digits; 0 and infinite numbers do not count. */
function placesFor(numbers: number[], digits: number) {
  return digits - 1 - Math.floor(Math.log10(Math.max(0, ...numbers.filter(Number.isFinite).map(Math.abs))));
}

function createName(name: string, pick: Pick | null, picks?: Picks) {
  if (!pick || !picks) return createElement("span", "name", name);
  return createElement("button", "name", name, { onclick: () => picks.choose(pick) });
}

function createItem(style: string, name: HTMLElement, bars: HTMLElement[], text: string) {
  const track = createElement("span", "bar-track", bars);
  return createElement("li", style, [name, track, createElement("output", "", text)]);
}
