// The rooms of the instrument: one row here, one file, one panel. Only the open room is drawn.
//
// A room has a title, `draw(self, fresh)`, and may have `point(self)`, for when only the pointer has moved. Its panel is
// `self.rooms[name]`, filled from the room's HTML file; its name stands in ROOMS of app/components and of app/state.py too.

const ROOMS = Object.freeze({ heads: ROOM_HEADS, steps: ROOM_STEPS, layers: ROOM_LAYERS });

function openRoom(self) {
  return ROOMS[self.choice?.room] ? self.choice.room : "heads";
}

/** Draws the open room, and hides the others. */
function drawRoom(self, fresh = false) {
  if (!self.answer) return;
  const open = openRoom(self);
  for (const [name, panel] of Object.entries(self.rooms)) panel.hidden = name !== open;
  self.parts.board.dataset.room = open;
  drawLook(self, open);
  self.parts.tabs.hidden = Object.keys(ROOMS).length < 2;
  drawTabs(self, open);
  // A room that was closed when the answer came has all of it still to draw.
  const stale = self.drawn[open] !== self.answer;
  self.drawn[open] = self.answer;
  ROOMS[open].draw(self, fresh || stale);
}

/** The pointer is at another token: the open room shows it as cheaply as it can. */
function pointRoom(self) {
  ROOMS[openRoom(self)].point?.(self);
}

function drawTabs(self, open) {
  const { tabs } = self.parts;
  if (!tabs.children.length) tabs.replaceChildren(...Object.entries(ROOMS).map(([name, { title }]) => tab(self, name, title)));
  for (const button of tabs.children) {
    const chosen = button.dataset.testid === `room-tab-${open}`;
    button.setAttribute("aria-selected", String(chosen));
    button.tabIndex = chosen ? 0 : -1;
  }
}

function tab(self, name, title) {
  const button = make("button", "", title);
  button.type = "button";
  button.id = `tab-${name}`;
  button.setAttribute("role", "tab");
  button.dataset.testid = `room-tab-${name}`;
  button.onclick = () => change(self, { room: name });
  button.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const names = Object.keys(ROOMS);
    if (!step) return;
    event.preventDefault();
    const next = names[(names.indexOf(name) + step + names.length) % names.length];
    change(self, { room: next });
    self.parts.tabs.querySelector(`#tab-${next}`).focus();
  };
  return button;
}
