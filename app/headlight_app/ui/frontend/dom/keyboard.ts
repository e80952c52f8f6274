// The arrow keys, and the steps that they stand for.

import { table } from "./table.ts";

export const HORIZONTAL_STEPS: Readonly<Record<string, number | undefined>> = table({ ArrowRight: 1, ArrowLeft: -1 });
export const VERTICAL_STEPS: Readonly<Record<string, number | undefined>> = table({ ArrowDown: 1, ArrowUp: -1 });
/** For a list that is laid out horizontally or vertically. */
export const LIST_STEPS = table({ ...HORIZONTAL_STEPS, ...VERTICAL_STEPS });
/** Rows downwards and columns to the right. */
export const GRID_STEPS: Readonly<Record<string, [down: number, right: number] | undefined>> = table({
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
});

/** Calls `go` for the keys in `steps`, and prevents the browser's default unless `go` returns false. */
export function onArrows<Step>(
  element: HTMLElement,
  steps: Readonly<Record<string, Step | undefined>>,
  go: (step: Step, event: KeyboardEvent) => unknown,
) {
  element.onkeydown = (event) => {
    const step = steps[event.key];
    if (step !== undefined && go(step, event) !== false) event.preventDefault();
  };
}
