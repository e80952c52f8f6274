// Tasks: the page Explore, with the task's own view of the answer above the tabs.

import { defineInstrument } from "../../explore/frontend/main.js";
import { findByTestId } from "../../ui/frontend/dom/elements.js";
import { table } from "../../ui/frontend/dom/table.js";
import classify from "./classify.js";
import describe from "./describe.js";
import similar from "./similarity/similar.js";
import sort from "./sort.js";
import tag from "./tag.js";
import transcribe from "./transcript/transcribe.js";
import translate from "./translate.js";

/** @import { ExplorePage, Tab, TasksData } from "./types.js" */

/** The module that draws each task: a row of TASK_VIEWS in Python has a row here. @type {Record<string, Tab>} */
const TASK_VIEWS = table({ classify, tag, sort, translate, describe, transcribe, similar });

/** @param {ExplorePage} page @param {HTMLElement} place @param {TasksData} data @returns {Tab} */
function createTaskView(page, place, { task_views: rows }) {
  const panels = rows.map(({ name }) => /** @type {const} */ ([name, findByTestId(place, `task-${name}`)]));
  const view = () => TASK_VIEWS[page.state.choice.task];
  return {
    draw: (_, fresh) => {
      for (const [name, panel] of panels) panel.hidden = name !== page.state.choice.task;
      view()?.draw(page, fresh);
    },
    markPointer: () => view()?.markPointer?.(page),
    exported: async () => (await view()?.exported?.(page)) ?? null,
  };
}

export default defineInstrument(createTaskView);
