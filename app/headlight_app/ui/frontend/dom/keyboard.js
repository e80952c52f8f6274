// The arrow keys, and the steps that they stand for.

import { table } from "./table.js";

/** @type {Readonly<Record<string, number | undefined>>} */
export const HORIZONTAL_STEPS = table({ ArrowRight: 1, ArrowLeft: -1 });
/** @type {Readonly<Record<string, number | undefined>>} */
export const VERTICAL_STEPS = table({ ArrowDown: 1, ArrowUp: -1 });
/** For a list that is laid out horizontally or vertically. */
export const LIST_STEPS = table({ ...HORIZONTAL_STEPS, ...VERTICAL_STEPS });
/**
 * Rows downwards and columns to the right.
 * @type {Readonly<Record<string, [down: number, right: number] | undefined>>}
 */
export const GRID_STEPS = table({ ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] });

/**
 * Calls `go` for the keys in `steps`, and prevents the browser's default unless `go` returns false.
 * @template Step @param {HTMLElement} element @param {Readonly<Record<string, Step | undefined>>} steps
 * @param {(step: Step, event: KeyboardEvent) => unknown} go
 */
export function onArrows(element, steps, go) {
  element.onkeydown = (event) => {
    const step = steps[event.key];
    if (step !== undefined && go(step, event) !== false) event.preventDefault();
  };
}
