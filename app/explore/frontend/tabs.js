// The rooms of the instrument: one row here, one file, one panel. Only the open room is drawn.
//
// A room has a title, `draw(self, fresh)`, and may have `point(self)`, for when only the pointer has moved. Its panel is
// `self.rooms[name]`, filled from the room's HTML file; its name stands in ROOMS of app/components and of app/state.py too.

import { HEADS_TAB } from "../../../model/rendering/static/heads/heads_tab.js";
import { createElement } from "../../../model/rendering/static/ui/dom.js";
import { LAYERS_TAB } from "./layers/layers_tab.js";
import { drawHint } from "./main.js";
import { WALKTHROUGH_TAB } from "./walkthrough/walkthrough_tab.js";

export const TABS = Object.freeze({ heads: HEADS_TAB, steps: WALKTHROUGH_TAB, layers: LAYERS_TAB });

export function activeTab(self) {
  return TABS[self.choice?.room] ? self.choice.room : "heads";
}

/** Draws the open room, and hides the others. */
export function drawActiveTab(self, fresh = false) {
  if (!self.answer) return;
  const open = activeTab(self);
  for (const [name, panel] of Object.entries(self.rooms)) panel.hidden = name !== open;
  self.parts.board.dataset.room = open;
  drawHint(self, open);
  self.parts.tabs.hidden = Object.keys(TABS).length < 2;
  drawTabs(self, open);
  // A room that was closed when the answer came has all of it still to draw.
  const stale = self.drawn[open] !== self.answer;
  self.drawn[open] = self.answer;
  TABS[open].draw(self, fresh || stale);
}

/** The pointer is at another token: the open room shows it as cheaply as it can. */
export function markActiveTab(self) {
  TABS[activeTab(self)].point?.(self);
}

function drawTabs(self, open) {
  const { tabs } = self.parts;
  if (!tabs.children.length) tabs.replaceChildren(...Object.entries(TABS).map(([name, { title }]) => createTab(self, name, title)));
  for (const button of tabs.children) {
    const chosen = button.dataset.testid === `room-tab-${open}`;
    button.setAttribute("aria-selected", String(chosen));
    button.tabIndex = chosen ? 0 : -1;
  }
}

function createTab(self, name, title) {
  const button = createElement("button", "", title);
  button.type = "button";
  button.id = `tab-${name}`;
  button.setAttribute("role", "tab");
  button.dataset.testid = `room-tab-${name}`;
  button.onclick = () => self.change({ room: name });
  button.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const names = Object.keys(TABS);
    if (!step) return;
    event.preventDefault();
    const next = names[(names.indexOf(name) + step + names.length) % names.length];
    self.change({ room: next });
    self.parts.tabs.querySelector(`#tab-${next}`).focus();
  };
  return button;
}
