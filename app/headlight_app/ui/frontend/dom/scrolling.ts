// Scrolled frames and lists of views that are drawn anew: they stay where they are, and a newly chosen column comes into
// sight, as does a part of the page that a click has opened, below what sticks to the top.

import { listenTo } from "./dom.ts";

const EDGE = 8; // pixels after the last column
const MARGIN = 60; // pixels at the right of what a frame keeps in sight

const SCROLLPORT = '[data-testid="stMain"]'; // Streamlit's element that scrolls the page
const COVERED = "--covered"; // pixels at its top, for its scroll-padding-top

/** Scrolls to a part of the page unless its top is in sight. @param lowest place of the top, of the window's height */
export function bringIntoSight(part: HTMLElement, lowest: number) {
  const scrollport = document.querySelector(SCROLLPORT);
  const covered = scrollport ? parseFloat(getComputedStyle(scrollport).scrollPaddingTop) || 0 : 0;
  const { top } = part.getBoundingClientRect();
  if (top < covered || top > lowest * innerHeight) part.scrollIntoView();
}

/** What is scrolled to is below the part that sticks to the top, whatever its height is. @returns ends it */
export function keepBelow(parts: HTMLElement[]): () => void {
  const { style } = document.documentElement;
  const measure = () => {
    const stuck = parts.find((part) => getComputedStyle(part).position === "sticky");
    const bottom = stuck ? parseFloat(getComputedStyle(stuck).top) + stuck.offsetHeight + EDGE / 2 : 0;
    if (!stuck) style.removeProperty(COVERED);
    else style.setProperty(COVERED, stuck.matches(":focus-within") ? "0px" : `${bottom}px`); // 0: each letter would scroll
  };
  const sizes = new ResizeObserver(measure);
  for (const part of parts) sizes.observe(part);
  const endings = [window, ...parts].map((place) =>
    listenTo(place, { resize: measure, focusin: measure, focusout: measure }),
  );
  return () => {
    sizes.disconnect();
    for (const end of endings) end();
    style.removeProperty(COVERED);
  };
}

/** @param isSame whether it is about the same text: a list of another begins at its top */
export function keepScrolled(place: HTMLElement, draw: () => void, isSame: boolean) {
  const before = framesOf(place).map((frame) => ({
    left: frame.scrollLeft,
    top: frame.scrollTop,
    chosen: chosenPlace(frame),
  }));
  draw();
  framesOf(place).forEach((frame, index) => {
    const { left, top, chosen } = before[index] ?? { left: 0, top: 0, chosen: "" };
    if (left) frame.scrollLeft = left;
    if (top && isSame) frame.scrollTop = top;
    if (chosenPlace(frame) !== chosen) reveal(frame);
  });
}

function framesOf(place: HTMLElement) {
  return [...place.querySelectorAll(".scroll, .span-list")];
}

function chosenCell(frame: Element) {
  const found = frame.querySelector("td.marked") ?? frame.querySelector("td button.chosen")?.closest("td");
  return found as HTMLElement | null | undefined;
}

function chosenPlace(frame: Element) {
  const cell = chosenCell(frame);
  const { insight } = (frame as HTMLElement).dataset;
  if (insight) return insight;
  return cell ? `${cell.dataset.row} ${cell.dataset.column}` : "";
}

/** Scrolls to the chosen or marked column, or what a frame names, if it is out of sight. */
function reveal(frame: Element) {
  const cell = chosenCell(frame);
  const { insight } = (frame as HTMLElement).dataset;
  if (insight) frame.scrollLeft = Math.max(Number(insight) - frame.clientWidth + MARGIN, 0);
  if (!cell) return;
  const cells = [...(cell.parentElement?.children ?? [])].map((each) => each as HTMLElement);
  const [heading, ...columns] = cells.map(({ offsetLeft, offsetWidth }) => ({ left: offsetLeft, width: offsetWidth }));
  const end = cell.offsetLeft + cell.offsetWidth + EDGE;
  const isShown =
    cell.offsetLeft - heading.width >= frame.scrollLeft && end - EDGE <= frame.scrollLeft + frame.clientWidth;
  if (isShown) return;
  const left = wholeColumns(columns, heading.width, end, frame.clientWidth);
  const missing = left + frame.clientWidth - frame.scrollWidth; // at the last columns there is not as much to scroll
  const table = cell.closest("table");
  if (table && missing > 0) table.style.paddingRight = `${missing}px`;
  frame.scrollLeft = left;
}

/**
 * The scroll offset of a table that shows its columns up to `end`, none of them partly behind the row headings.
 * @param heading width of the row headings @param width of the frame
 */
export function wholeColumns(columns: { left: number }[], heading: number, end: number, width: number) {
  const least = end - width;
  if (least <= 0) return 0;
  const first = columns.find(({ left }) => left - heading >= least) ?? columns[columns.length - 1];
  return Math.max(first.left - heading - EDGE / 4, 0);
}
