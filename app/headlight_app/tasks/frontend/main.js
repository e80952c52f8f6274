// Tasks: the page Explore, with the views of the task's answer above the tabs.

import { drawAnalysis, exportAnalysis } from "../../explore/frontend/analysis/analysis_views.js";
import { defineInstrument } from "../../explore/frontend/main.js";
import { findByTestId } from "../../ui/frontend/dom/elements.js";
import { currentGroup } from "../../ui/frontend/state/head_selection.js";
import { activeQueries, setHover } from "../../ui/frontend/state/token_selection.js";
import { markAlignments } from "../../ui/frontend/views/tokens/alignment.js";
import { markPlaces } from "../../ui/frontend/views/tokens/places.js";

/** @import { TokenPlace } from "../../ui/frontend/views/types.js" */
/** @import { AnalysisPanel, AnalysisRow, ExplorePage, Tab, TasksData } from "./types.js" */

/** @param {ExplorePage} page @param {HTMLElement} place @param {TasksData} data @returns {Tab} */
function createTaskView(page, place, { task_views: rows, task_analyses }) {
  const panels = new Map(rows.map(({ name }) => [name, findByTestId(place, `task-${name}`)]));
  const shown = () => {
    const { task } = page.state.choice;
    return { root: panels.get(task), row: task_analyses.find(({ name }) => name === task) };
  };
  return {
    draw: () => {
      for (const [name, panel] of panels) panel.hidden = name !== page.state.choice.task;
      const { root, row } = shown();
      if (!root || !row) return;
      drawAnalysis(page, panelOf(page, root, row));
      markTokens(page, root);
    },
    markPointer: () => {
      const { root } = shown();
      if (root) markTokens(page, root);
    },
    exported: async () => {
      const { row } = shown();
      return row ? exportAnalysis(page, row, {}) : null;
    },
  };
}

/** What is pointed at in the views is marked in the heads, if these have it. @param {ExplorePage} page @param {HTMLElement} root @param {AnalysisRow} row @returns {AnalysisPanel} */
function panelOf(page, root, row) {
  return {
    root,
    row,
    refuse: () => false,
    mark: (query, key) => {
      const group = currentGroup(page); // a model without layers has none
      if (!query && !key) setHover(page, null);
      else if (group && (!query || query[0] === group.queries) && (!key || key[0] === group.keys))
        setHover(page, { query: query?.[1] ?? null, key: key?.[1] ?? null });
    },
  };
}

/** Marks the active tokens in the views. @param {ExplorePage} page @param {HTMLElement} root */
function markTokens(page, root) {
  const group = currentGroup(page);
  if (!group) return;
  markPlaces(root, group.queries, activeQueries(page));
  const { pointer } = page.state;
  const key = pointer?.key ?? null;
  markAlignments(root, pointer ? placeOf(group.queries, pointer.query) : chosenPlace(page), placeOf(group.keys, key));
}

/** The token that was chosen: the only locked one, else a chosen query. @param {ExplorePage} page */
function chosenPlace(page) {
  const { pinned, query } = page.state.choice;
  return pinned.length === 1
    ? placeOf(currentGroup(page).queries, pinned[0])
    : placeOf("text", query < 0 ? null : query);
}

/** @param {"text" | "source"} side @param {number | null} position @returns {TokenPlace | null} */
function placeOf(side, position) {
  return position === null ? null : [side, position];
}

export default defineInstrument(createTaskView);
