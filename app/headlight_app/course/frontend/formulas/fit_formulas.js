// Shrinks formulas that are wider than their line, as long as they stay legible; then the line scrolls.

const SMALLEST = 0.66; // relative to their normal size

/** @param {HTMLElement} lines container of the formulas */
export function fitFormulas(lines) {
  let fitted = 0;
  new ResizeObserver(() => {
    if (lines.clientWidth === fitted) return;
    fitted = lines.clientWidth;
    for (const formula of lines.querySelectorAll("math")) fit(formula, fitted);
    const scrolls = lines.scrollWidth > lines.clientWidth || lines.scrollHeight > lines.clientHeight;
    if (scrolls)
      lines.tabIndex = 0; // so that arrow keys scroll it
    else lines.removeAttribute("tabindex");
  }).observe(lines);
}

/** @param {MathMLElement} formula @param {number} room in pixels */
function fit(formula, room) {
  formula.style.fontSize = "";
  const share = room / formula.getBoundingClientRect().width;
  if (share < 1) formula.style.fontSize = `max(12px, ${Math.max(share, SMALLEST)}em)`;
}
