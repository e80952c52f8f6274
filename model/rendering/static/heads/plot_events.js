// What the pointer and the keyboard do on the plot of the selected heads.

import { activeQueries, clearLocks, hoveredColumn, isMultiSelect, lockQuery, setHover } from "../state/token_selection.js";
import { PLOTS, activePlot } from "./head_panel.js";
import { zoomByKey } from "./zoom.js";

/** What the pointer is over, as tokens, in whatever picture is open. */
export function onPlotMove(self, event) {
  setHover(self, PLOTS[activePlot(self)].under(self, event));
}

export function onPlotClick(self, event) {
  if (event.target.closest("button, input, select")) return;
  const place = PLOTS[activePlot(self)].under(self, event, true);
  if (place?.query !== null && place?.query !== undefined) lockQuery(self, place.query, isMultiSelect(event));
}

/** Up and down walk through the queries, left and right through the keys of one; Enter locks, Escape lets go. */
export function onPlotKey(self, event) {
  if (!self.answer || event.target.closest("button, input, select")) return;
  const view = self.shown;
  const [query] = activeQueries(self);
  const row = view.rowOf.get(query) ?? 0;
  const down = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const right = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const step = (axis, line) => axis.tokens[Math.min(Math.max(line, 0), axis.tokens.length - 1)][0];
  const jump = PLOTS[activePlot(self)].jump?.(self, event.key);
  if (jump) setHover(self, { query: step(view.rows, row + jump), key: null });
  else if (down) setHover(self, { query: step(view.rows, row + down), key: self.hovered?.key ?? null });
  else if (right) {
    const column = hoveredColumn(self, view);
    setHover(self, { query: view.rows.tokens[row][0], key: step(view.columns, column === undefined ? 0 : column + right) });
  } else if (event.key === "Enter" || event.key === " ") lockQuery(self, view.rows.tokens[row][0], isMultiSelect(event));
  else if (event.key === "Escape") {
    if (self.hovered) setHover(self, null);
    else clearLocks(self);
  } else if (!zoomByKey(self, event)) return;
  event.preventDefault();
  event.stopPropagation();
}
