// Pointer and keyboard on the plot of the selected heads.

import { closest } from "../dom/dom.ts";
import { HORIZONTAL_STEPS, VERTICAL_STEPS } from "../dom/keyboard.ts";
import { remembered } from "../dom/memory.ts";
import { shownMatrix, tokenLines } from "../state/head_matrix.ts";
import {
  activeColumn,
  activeQueries,
  clearLocks,
  isMultiSelect,
  lockQuery,
  QUERY_KEY,
  setHover,
} from "../state/token_selection.ts";
import type { MatrixAxis, Page } from "../types.ts";
import { openPlot } from "./head_panel.ts";
import { zoomByKey } from "./zoom.ts";

const memory = remembered((_: Page) => ({ pressed: false }));

/** Whether a weight in the plot was clicked, or chosen with Enter, since the last call. */
export function takePress(page: Page) {
  const { pressed } = memory(page);
  memory(page).pressed = false;
  return pressed;
}

/** The tokens under the pointer, in every plot. */
export function onPlotMove(page: Page, event: MouseEvent) {
  setHover(page, openPlot(page).tokenAt(page, event));
}

export function onPlotClick(page: Page, event: MouseEvent) {
  if (closest(event, "button, input, select")) return;
  const place = openPlot(page).tokenAt(page, event, true);
  if (place?.query === null || place?.query === undefined) return;
  memory(page).pressed = place.key !== null;
  const { choice } = page.state;
  const again = choice.pinned.length === 1 && choice.pinned[0] === place.query;
  // If heads are sorted by one weight, a click on another cell of the locked row chooses its key.
  if (choice.sort === QUERY_KEY && again && place.key !== null && place.key !== choice.key)
    page.change({ key: place.key });
  else lockQuery(page, place.query, isMultiSelect(event), place.key);
}

/** Up and down move through the queries, left and right through the keys of one; Enter locks, Escape unlocks. */
export function onPlotKey(page: Page, event: KeyboardEvent) {
  const matrix = shownMatrix(page);
  if (!matrix || closest(event, "button, input, select")) return;
  const [query] = activeQueries(page);
  const row = matrix.rowOf.get(query) ?? 0;
  const down = VERTICAL_STEPS[event.key];
  const right = HORIZONTAL_STEPS[event.key];
  const step = (axis: MatrixAxis, line: number) => {
    const lines = tokenLines(axis);
    return lines[Math.min(Math.max(line, 0), lines.length - 1)][0];
  };
  const jump = openPlot(page).arrowStep?.(page, event.key);
  if (jump) setHover(page, { query: step(matrix.rows, row + jump), key: null });
  else if (down) setHover(page, { query: step(matrix.rows, row + down), key: page.state.pointer?.key ?? null });
  else if (right) {
    const column = activeColumn(page, matrix);
    setHover(page, {
      query: matrix.rows.tokens[row][0],
      key: step(matrix.columns, column === undefined ? 0 : column + right),
    });
  } else if (event.key === "Enter" || event.key === " ") {
    const key = page.state.pointer?.key ?? null;
    memory(page).pressed = key !== null;
    lockQuery(page, matrix.rows.tokens[row][0], isMultiSelect(event), key);
  } else if (event.key === "Escape") {
    if (page.state.pointer) setHover(page, null);
    else clearLocks(page);
  } else if (!zoomByKey(page, event)) return;
  event.preventDefault();
  event.stopPropagation();
}
