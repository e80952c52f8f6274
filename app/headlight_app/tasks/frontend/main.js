// Tasks: the page Explore, with the task's own view of the answer above the tabs.

import { defineInstrument } from "../../explore/frontend/main.js";
import { loadModules } from "../../explore/frontend/tabs.js";
import { findByTestId } from "../../ui/frontend/dom/elements.js";
import { remembered } from "../../ui/frontend/state/memory.js";

/** @import { ExplorePage, Tab, TasksData } from "./types.js" */

/** The views whose modules are loaded. */
const memory = remembered((/** @type {ExplorePage} */ _) => /** @type {Map<string, Tab>} */ (new Map()));

/** @param {ExplorePage} page @param {HTMLElement} place @param {TasksData} data @returns {Tab} */
function createTaskView(page, place, { task_views: rows }) {
  const loaded = memory(page);
  const panels = rows.map(({ name }) => /** @type {const} */ ([name, findByTestId(place, `task-${name}`)]));
  const active = () => page.state.choice.task;
  loadModules(page, rows, loaded, active);
  return {
    draw: (_, fresh) => {
      for (const [name, panel] of panels) panel.hidden = name !== active() || !loaded.has(name);
      loaded.get(active())?.draw(page, fresh);
    },
    markPointer: () => loaded.get(active())?.markPointer?.(page),
    exported: async () => {
      const exported = loaded.get(active())?.exported;
      if (!exported) throw new Error("The answer to this task is not here yet. Try again in a moment.");
      return exported(page);
    },
  };
}

export default defineInstrument(createTaskView);
