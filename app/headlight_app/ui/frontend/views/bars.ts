// Bars to the right of their labels, with their numbers; several series are below each other.

import { changeLabel, formatScore } from "../charts/answer_numbers.ts";
import { largestSize } from "../charts/charts.ts";
import { HEAD_COLOURS } from "../charts/colours.ts";
import { createBar, createTrack } from "../charts/track.ts";
import { createElement } from "../dom/dom.ts";
import { onArrows, VERTICAL_STEPS } from "../dom/keyboard.ts";
import { formatFixed, formatNumber, formatPercent, formatSigned } from "../dom/numbers.ts";
import type { BarsView, Picks } from "./types.ts";

type Format = Pick<BarsView, "as_percent" | "is_signed" | "digits" | "missing">;

const GREY = "color-mix(in srgb, var(--ink) 40%, var(--surface))";

export function createBars(view: BarsView, picks?: Picks) {
  const { labels, is_compact, action, marked } = view;
  const hasChosen = labels.some((_, index) => isChosen(view, index, picks));
  const draw = is_compact ? compactBars(view) : stackedBars(view);
  const rows = labels.map((_, index) => {
    const beside = action ? [createAction(view, index, picks)] : createBadge(view, index, picks);
    const row = createElement("li", "", [createLabel(view, index, picks), ...draw(index), ...beside]);
    row.classList.toggle("cut", Boolean(view.texts[index]));
    row.classList.toggle("chosen", isChosen(view, index, picks) || (index === marked && !hasChosen));
    return row;
  });
  const list = createElement("ul", "bar-list", rows);
  list.classList.toggle("compact", is_compact);
  list.classList.toggle("pair", isPair(view));
  list.classList.toggle("with-actions", Boolean(action));
  if (is_compact) return createElement("div", "", [createLegend(view), list]);
  return isPair(view) ? createElement("div", "", [list, createLegend(view)]) : list;
}

/** Whether each label has two numbers, one compared with the other, both of which are written. */
function isPair({ series, compared, is_compact }: BarsView) {
  return !is_compact && compared in series && Object.keys(series).length === 2;
}

/** Whether there is one number, of which nothing says how much it is. */
export function isAlone({ high, labels, series }: BarsView) {
  return high === null && labels.length === 1 && Object.keys(series).length === 1;
}

/** A number of the bars in words. */
export function barNumber({ as_percent, is_signed, digits, missing }: Format, number: number) {
  if (Number.isNaN(number)) return missing;
  if (as_percent) return formatPercent(number);
  if (is_signed) return formatSigned(number);
  return digits === null ? formatScore(number) : formatFixed(number, digits);
}

function numberAt(view: BarsView, name: string, index: number) {
  const isLast = name === Object.keys(view.series).at(-1);
  return (isLast && view.texts[index]) || barNumber(view, Number(view.series[name][index]));
}

function colourOf({ series, compared }: BarsView, name: string) {
  const coloured = Object.keys(series).filter((each) => each !== compared);
  return HEAD_COLOURS[coloured.indexOf(name)] ?? GREY;
}

/** What a click chooses, if anything. */
function pickAt({ picks }: BarsView, index: number) {
  return picks[index] && Object.keys(picks[index]).length ? picks[index] : null;
}

function isChosen(view: BarsView, index: number, picks?: Picks) {
  const pick = pickAt(view, index);
  return Boolean(pick && picks?.isChosen(pick));
}

/** The name of a bar. If a click chooses it, the arrow keys go from one to the next; a compact one is read with its numbers. */
function createLabel(view: BarsView, index: number, picks?: Picks) {
  const [label, pick, isMarked] = [view.labels[index], pickAt(view, index), index === view.marked];
  const isButton = picks && pick && !view.action;
  const style = isMarked && !view.marked_as ? "bar-label marked" : "bar-label";
  const name = createElement(isButton ? "button" : "span", style, label);
  name.dir = "auto";
  const names = Object.keys(view.series);
  if (view.is_compact)
    name.title = names.map((series) => `${series} ${formatNumber(Number(view.series[series][index]), 4)}`).join(", ");
  if (!isButton) return name;
  name.ariaPressed = String(picks.isChosen(pick) || (isMarked && !view.marked_as));
  const words = names.map((series) => `${series} ${numberAt(view, series, index)}`);
  const badge = badgeAt(view, index, picks);
  if (view.is_compact) name.ariaLabel = `${label}: ${[...words, badge].filter(Boolean).join(", ")}`;
  name.onclick = () => picks.choose(pick);
  onArrows(name, VERTICAL_STEPS, (step) => {
    const buttons = [...(name.closest("ul")?.querySelectorAll("button") ?? [])];
    const next = buttons[buttons.indexOf(name as HTMLButtonElement) + step];
    next?.focus();
    return Boolean(next);
  });
  return name;
}

/** Why the chosen bar or the marked one stands out. */
function badgeAt(view: BarsView, index: number, picks?: Picks) {
  if (view.chosen_as && isChosen(view, index, picks)) return view.chosen_as;
  return index === view.marked ? view.marked_as : "";
}

function createBadge(view: BarsView, index: number, picks?: Picks) {
  const badge = badgeAt(view, index, picks);
  return badge ? [createElement("span", "badge", badge)] : [];
}

function createAction(view: BarsView, index: number, picks?: Picks) {
  const pick = pickAt(view, index);
  if (!picks || !pick) return createElement("span");
  const button = createElement("button", "small", view.action, { onclick: () => picks.choose(pick) });
  button.ariaLabel = `${view.action} ${view.labels[index]}`;
  return button;
}

/** What the two bars of a label are. */
function createLegend(view: BarsView) {
  const entries = Object.keys(view.series).flatMap((name) => {
    const swatch = createElement("i", name === view.compared ? "swatch before" : "swatch after");
    if (!view.is_compact) swatch.style.background = colourOf(view, name);
    return [swatch, name];
  });
  const points = isPair(view) && view.as_percent ? " · ▲▼ in percentage points" : "";
  return createElement("p", "quiet key-line", [...entries, points]);
}

/** Two bars on one track, the thin one above the other, whose number is written. */
function compactBars(view: BarsView) {
  const thick = Object.keys(view.series).filter((name) => name !== view.compared)[0];
  const shareOf = (name: string, index: number) => Number(view.series[name][index]) / lengthOf(view) || null;
  return (index: number) => [
    createTrack(shareOf(thick, index), shareOf(view.compared, index)),
    createElement("span", "bar-number", numberAt(view, thick, index)),
  ];
}

/** A bar for each series, each with its number; of a pair also the change. */
function stackedBars(view: BarsView) {
  const names = Object.keys(view.series);
  const isSigned = names.some((name) => view.series[name].some((value) => Number(value) < 0));
  return (index: number) => {
    const lines: HTMLElement[] = names.map((name) => createLine(view, name, index, isSigned));
    if (isPair(view)) lines.push(createChange(view, index));
    return [createElement("div", "bar-stack", lines)];
  };
}

function createLine(view: BarsView, name: string, index: number, isSigned: boolean) {
  const value = Number(view.series[name][index]);
  const bar = createSigned(value / lengthOf(view), isSigned);
  bar.style.background = colourOf(view, name);
  const track = createElement("span", "bar-track", isAlone(view) || Number.isNaN(value) ? [] : [bar]);
  const isNamed = Object.keys(view.series).length > 1;
  const names = isNamed ? [createElement("span", isPair(view) ? "unseen" : "", `${name} `)] : [];
  const number = createElement("span", "bar-number", [...names, numberAt(view, name, index)]);
  return createElement("div", "bar-line", [track, number]);
}

/** The change of a number from the one that it is compared with. */
function createChange({ as_percent, series, compared }: BarsView, index: number) {
  const [other] = Object.keys(series).filter((name) => name !== compared);
  return changeLabel(Number(series[compared][index]), Number(series[other][index]), !as_percent);
}

/** The number of the longest bar. */
function lengthOf({ high, series }: BarsView) {
  return high ?? largestSize(Object.values(series).flat());
}

/** @param isSigned whether bars may go to both sides */
function createSigned(value: number, isSigned: boolean) {
  const share = Number.isFinite(value) ? Math.min(Math.abs(value), 1) : 1;
  const [room, zero] = isSigned ? [50, 50] : [100, 0];
  const bar = createBar("", (share * room) / 100);
  bar.style.left = `${value < 0 ? zero - share * room : zero}%`;
  return bar;
}
