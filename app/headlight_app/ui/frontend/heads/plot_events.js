// Pointer and keyboard on the plot of the selected heads.

import { closest } from "../dom/dom.js";
import { HORIZONTAL_STEPS, VERTICAL_STEPS } from "../dom/keyboard.js";
import { shownMatrix, tokenLines } from "../state/head_matrix.js";
import {
  activeColumn,
  activeQueries,
  clearLocks,
  isMultiSelect,
  lockQuery,
  QUERY_KEY,
  setHover,
} from "../state/token_selection.js";
import { openPlot } from "./head_panel.js";
import { zoomByKey } from "./zoom.js";

/** @import { MatrixAxis, Page } from "../types.js" */

/** The tokens under the pointer, in every plot. @param {Page} page @param {MouseEvent} event */
export function onPlotMove(page, event) {
  setHover(page, openPlot(page).tokenAt(page, event));
}

/** @param {Page} page @param {MouseEvent} event */
export function onPlotClick(page, event) {
  if (closest(event, "button, input, select")) return;
  const place = openPlot(page).tokenAt(page, event, true);
  if (place?.query === null || place?.query === undefined) return;
  const { choice } = page.state;
  const again = choice.pinned.length === 1 && choice.pinned[0] === place.query;
  // If heads are sorted by one weight, a click on another cell of the locked row chooses its key.
  if (choice.sort === QUERY_KEY && again && place.key !== null && place.key !== choice.key)
    page.change({ key: place.key });
  else lockQuery(page, place.query, isMultiSelect(event), place.key);
}

/**
 * Up and down move through the queries, left and right through the keys of one; Enter locks, Escape unlocks.
 * @param {Page} page @param {KeyboardEvent} event
 */
export function onPlotKey(page, event) {
  const matrix = shownMatrix(page);
  if (!matrix || closest(event, "button, input, select")) return;
  const [query] = activeQueries(page);
  const row = matrix.rowOf.get(query) ?? 0;
  const down = VERTICAL_STEPS[event.key];
  const right = HORIZONTAL_STEPS[event.key];
  /** @param {MatrixAxis} axis @param {number} line */
  const step = (axis, line) => {
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
  } else if (event.key === "Enter" || event.key === " ")
    lockQuery(page, matrix.rows.tokens[row][0], isMultiSelect(event), page.state.pointer?.key ?? null);
  else if (event.key === "Escape") {
    if (page.state.pointer) setHover(page, null);
    else clearLocks(page);
  } else if (!zoomByKey(page, event)) return;
  event.preventDefault();
  event.stopPropagation();
}
