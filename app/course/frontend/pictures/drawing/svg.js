// What drawn pictures share: elements of SVG, and the marks of an axis.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {string} name @param {Record<string, string | number>} [attributes] @param {(Node | string)[]} [children]
 * @returns {SVGElement}
 */
export function svg(name, attributes = {}, children = []) {
  const element = /** @type {SVGElement} */ (document.createElementNS(SVG, name));
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, String(value));
  element.append(...children);
  return element;
}

/** A sheet with words for those who do not see it. @param {number} width @param {number} height @param {string} words */
export function createSheet(width, height, words) {
  const sheet = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "sheet-svg" }, [
    svg("title", {}, [words]),
  ]);
  sheet.style.maxWidth = `${width}px`;
  return sheet;
}

/** Round numbers between two others. @param {number} low @param {number} high @param {number} [count] */
export function ticks(low, high, count = 5) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => power * factor >= rough) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => (first + index) * step);
}

const MOST_POWERS = 8; // marks of a logarithmic axis, less one

/** Powers of ten between two others, which are above 0: not all where there are many. @param {number} low @param {number} high */
export function powersOfTen(low, high) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const step = Math.ceil((last - first) / MOST_POWERS) || 1;
  return Array.from(
    { length: Math.floor((last - first) / step) + 1 },
    (_, index) => 10 ** (last - step * index),
  ).reverse();
}
