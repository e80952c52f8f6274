// Shrinks formulas that are wider than their line, as long as they stay legible; then the line scrolls.

import { loadMathematicsFont } from "../fonts/mathematics.ts";

const SMALLEST = 0.66; // relative to their normal size
const PASSES = 4; // subscripts keep their smallest size, so a formula shrinks less than its font
const HAIR = 0.5; // pixels by which a formula may be too wide
const EDGE = 2; // pixels by which signs may be wider than their boxes

/** @param lines container of the formulas */
export function fitFormulas(lines: HTMLElement) {
  let fitted = 0;
  const fit = () => {
    fitted = lines.clientWidth;
    if (!fitted) return; // not yet shown
    for (const root of lines.querySelectorAll("msqrt")) endAtItsBar(root);
    for (const formula of lines.querySelectorAll("math"))
      fittingShare(fitted - EDGE, (share) => widthAt(formula, share));
    const scrolls = lines.scrollWidth > lines.clientWidth || lines.scrollHeight > lines.clientHeight;
    if (scrolls)
      lines.tabIndex = 0; // so that arrow keys scroll it
    else lines.removeAttribute("tabindex");
  };
  new ResizeObserver(() => lines.clientWidth !== fitted && fit()).observe(lines);
  loadMathematicsFont().then(fit);
}

/**
 * The share of its normal size at which a formula fits, at least SMALLEST; it was measured last.
 * @param room in pixels @param measure its width at a share
 */
export function fittingShare(room: number, measure: (share: number) => number) {
  let share = 1;
  let width = measure(share);
  for (let pass = 1; pass < PASSES && width > room + HAIR && share > SMALLEST; pass++) {
    share = Math.max((share * room) / width, SMALLEST);
    width = measure(share);
  }
  return share;
}

/** @param share of its normal size; no text gets smaller than 12 pixels */
function widthAt(formula: MathMLElement, share: number) {
  formula.style.fontSize = share < 1 ? `max(12px, ${share}em)` : "";
  return formula.getBoundingClientRect().width;
}

/** Removes the gap after a root: Chromium makes it as wide as the font's widest root sign. */
function endAtItsBar(root: MathMLElement) {
  const inside = root.lastElementChild?.getBoundingClientRect().right;
  const size = parseFloat(getComputedStyle(root).fontSize);
  if (inside) root.style.marginRight = `${(inside - root.getBoundingClientRect().right) / size}em`;
}
