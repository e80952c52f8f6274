// Tasks: the page Explore, with the views of the task's answer above the tabs.

import { drawAnalysis, exportAnalysis } from "../../explore/frontend/analysis/analysis_views.ts";
import { defineInstrument } from "../../explore/frontend/main.ts";
import { findByTestId } from "../../ui/frontend/dom/elements.ts";
import { currentGroup } from "../../ui/frontend/state/head_selection.ts";
import { activeQueries, setHover } from "../../ui/frontend/state/token_selection.ts";
import { markAlignments } from "../../ui/frontend/views/tokens/alignment.ts";
import { markPlaces } from "../../ui/frontend/views/tokens/places.ts";
import type { TokenPlace } from "../../ui/frontend/views/types.ts";
import type { AnalysisPanel, AnalysisRow, ExplorePage, Tab, TasksData } from "./types.ts";

function createTaskView(page: ExplorePage, place: HTMLElement, { task_views: rows, task_analyses }: TasksData): Tab {
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

/** What is pointed at in the views is marked in the heads, if these have it. */
function panelOf(page: ExplorePage, root: HTMLElement, row: AnalysisRow): AnalysisPanel {
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

/** Marks the active tokens in the views. */
function markTokens(page: ExplorePage, root: HTMLElement) {
  const group = currentGroup(page);
  if (!group) return;
  markPlaces(root, group.queries, activeQueries(page));
  const { pointer } = page.state;
  const key = pointer?.key ?? null;
  markAlignments(root, pointer ? placeOf(group.queries, pointer.query) : chosenPlace(page), placeOf(group.keys, key));
}

/** The token that was chosen: the only locked one, else a chosen query. */
function chosenPlace(page: ExplorePage) {
  const { pinned, query } = page.state.choice;
  return pinned.length === 1
    ? placeOf(currentGroup(page).queries, pinned[0])
    : placeOf("text", query < 0 ? null : query);
}

function placeOf(side: "text" | "source", position: number | null): TokenPlace | null {
  return position === null ? null : [side, position];
}

export default defineInstrument(createTaskView);
