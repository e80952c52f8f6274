// How far the arrow keys lead.

/** @type {Readonly<Record<string, number | undefined>>} */
export const HORIZONTAL_STEPS = { ArrowRight: 1, ArrowLeft: -1 };
/** @type {Readonly<Record<string, number | undefined>>} */
export const VERTICAL_STEPS = { ArrowDown: 1, ArrowUp: -1 };
/** Through a list, whichever way it is laid out. */
export const LIST_STEPS = { ...HORIZONTAL_STEPS, ...VERTICAL_STEPS };
/**
 * Rows downwards and columns to the right.
 * @type {Readonly<Record<string, [down: number, right: number] | undefined>>}
 */
export const GRID_STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
