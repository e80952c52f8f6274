// Tasks: the page Explore, with the task's own view of the answer above the tabs.

import { drawAnalysis, exportAnalysis } from "../../explore/frontend/analysis/analysis_views.js";
import { defineInstrument } from "../../explore/frontend/main.js";
import { addScaled } from "../../ui/frontend/charts/shapes.js";
import { findByTestId } from "../../ui/frontend/dom/elements.js";
import { table } from "../../ui/frontend/dom/table.js";
import { currentGroup } from "../../ui/frontend/state/head_selection.js";
import { activeQueries, setHover } from "../../ui/frontend/state/token_selection.js";
import { markChips } from "../../ui/frontend/views/tokens.js";
import describe from "./describe.js";
import sort from "./sort.js";
import transcribe from "./transcript/transcribe.js";
import translate from "./translate.js";

/** @import { AnalysisPanel, AnalysisRow, ExplorePage, ShownDrawing, Tab, TasksData } from "./types.js" */

/** The modules of the tasks that are drawn by hand, or in part. @type {Record<string, Tab>} */
const TASK_VIEWS = table({ sort, translate, describe, transcribe });

/** @param {ExplorePage} page @param {HTMLElement} place @param {TasksData} data @returns {Tab} */
function createTaskView(page, place, { task_views: rows, task_analyses }) {
  const panels = new Map(rows.map(({ name }) => [name, findByTestId(place, `task-${name}`)]));
  const shown = () => {
    const { task } = page.state.choice;
    const analysis = task_analyses.find(({ name }) => name === task);
    return { view: TASK_VIEWS[task], root: panels.get(task), analysis };
  };
  return {
    draw: (_, fresh) => {
      for (const [name, panel] of panels) panel.hidden = name !== page.state.choice.task;
      const { view, root, analysis } = shown();
      view?.draw(page, fresh);
      if (root && analysis) drawAnalysis(page, panelOf(page, root, analysis));
      markTokens(page, root);
    },
    markPointer: () => {
      const { view, root } = shown();
      view?.markPointer?.(page);
      markTokens(page, root);
    },
    exported: async () => {
      const { view, analysis } = shown();
      const drawn = (await view?.exported?.(page)) ?? null;
      const views = analysis && (await exportAnalysis(page, analysis));
      return drawn && views ? below(drawn, views) : (drawn ?? views ?? null);
    },
  };
}

/** What is pointed at in the views is marked in the heads, if these have it as a query. @param {ExplorePage} page @param {HTMLElement} root @param {AnalysisRow} row @returns {AnalysisPanel} */
function panelOf(page, root, row) {
  return {
    root,
    row,
    refuse: () => false,
    mark: (query) => {
      if (!query) setHover(page, null);
      else if (currentGroup(page)?.queries === query[0]) setHover(page, { query: query[1], key: null });
    },
  };
}

/** Marks the chips of the active tokens. @param {ExplorePage} page @param {HTMLElement | undefined} root */
function markTokens(page, root) {
  const group = currentGroup(page); // a model without layers has none
  if (root && group) markChips(root, group.queries, activeQueries(page));
}

/** Two drawings, one below the other. @param {ShownDrawing} one @param {ShownDrawing} other @returns {ShownDrawing} */
function below(one, other) {
  return {
    ...one,
    shown: [one.shown, other.shown].filter(Boolean).join("; "),
    draw: (width, heading) => {
      const { figure, y } = one.draw(width, heading);
      const second = other.draw(width, "");
      addScaled(figure, second.figure, 1, { x: 0, y });
      return { figure, y: y + second.y };
    },
    tables: { ...one.tables, ...other.tables },
  };
}

export default defineInstrument(createTaskView);
