// The instrument: keeps what the person chose, asks the backend, paints, and tells Streamlit once things have settled.

const MOUNTED = new WeakMap(); // one instrument for each place it is mounted in
const SETTLE = 250; // milliseconds without a change before the rest of the page follows
const PATIENCE = 750; // milliseconds that it waits for an answer; who leaves the page by then leaves the change behind

export default function (component) {
  const { parentElement, data, setStateValue } = component;
  const self = MOUNTED.get(parentElement) || mount(parentElement, data);
  self.tell = setStateValue;
  self.api = data.api;
  self.examples = data.examples;
  self.kinds = data.kinds;
  self.metrics = data.metrics;
  self.pictures = data.pictures;
  self.sites = data.sites;
  self.parts.sourceBox.hidden = !data.sourced;
  self.parts.caption.textContent = data.sourced ? "Target: what the decoder has written so far" : "Sentence";
  measureAnew(self); // the theme may have changed
  const before = JSON.stringify(self.settings);
  self.settings = data.settings;
  const adopted = adopt(self, data);
  drawExamples(self);
  drawGallery(self);
  if (adopted || before !== JSON.stringify(self.settings)) ask(self);
  else if (self.problem) showProblem(self, self.problem); // the answer on the screen is an older one
  else if (self.answer) showAnswer(self);
  return () => unmount(self, parentElement);
}

function mount(place, data) {
  const find = (name) => place.querySelector(name);
  const named = (name) => place.querySelector(`[data-testid="${name}"]`);
  const parts = {
    root: find(".instrument"), caption: find('[for="sentence"]'), text: find("#sentence"), source: find("#source"), sourceBox: find(".source"),
    status: named("status"), examples: named("examples"), look: named("look"), problem: named("problem"), notes: named("notes"), answer: find(".answer"),
    board: find(".board"), tabs: named("tabs"), edits: named("edits"), changes: named("changes"), latest: named("latest"),
    undo: named("undo"), redo: named("redo"), ...headParts(named),
    gallery: named("gallery"), bring: named("bring"),
  };
  const rooms = Object.fromEntries(Object.keys(ROOMS).map((name) => [name, named(`room-${name}`)]));
  const self = { parts, rooms, drawn: {}, measured: {}, choice: null, settings: null, answer: null, hovered: null, number: 0, serial: 0, own: [] };
  self.visitor = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join("");
  MOUNTED.set(place, self);
  listen(self);
  listenToEdits(self);
  self.endings = [self.leave, listenToTakeaway(self, named), listenToPresenter(self, named), listenToWiring(self)];
  self.observer = new ResizeObserver(() => fitBoard(self));
  self.observer.observe(parts.board);
  return self;
}

/** Pictures follow the width that they have; their height is their own affair. */
function fitBoard(self) {
  const width = self.parts.board.clientWidth;
  if (width === self.width) return;
  self.width = width;
  measureAnew(self);
  drawRoom(self);
}

function unmount(self, place) {
  forgetReport(self);
  self.asking?.abort();
  self.observer.disconnect();
  for (const end of self.endings) end();
  MOUNTED.delete(place);
}

function sameChoice(one, other) {
  return Object.keys(one).every((name) => JSON.stringify(one[name]) === JSON.stringify(other?.[name]));
}

/** Takes over what the address says, unless the person has gone on since Streamlit last heard from here. */
function adopt(self, data) {
  const ahead = self.choice && data.serial !== self.serial;
  if (ahead || sameChoice(data.choice, self.agreed)) return false;
  self.agreed = data.choice;
  self.choice = { ...data.choice };
  forgetEdits(self);
  self.focus = null;
  drawPresenter(self);
  if (!self.serial) self.serial = data.serial;
  for (const [box, text] of [[self.parts.text, self.choice.text], [self.parts.source, self.choice.source]]) {
    if (box.value !== text) box.value = text;
  }
  fitBoxes(self);
  return true;
}

/** What the sidebar exchanges is a choice like any other; `serial` tells it when Streamlit has heard. */
function listenToWiring(self) {
  const rewire = (event) => {
    event.preventDefault();
    change(self, event.detail.patch);
    event.detail.serial = self.serial;
  };
  document.addEventListener("headlight-wiring", rewire);
  return () => document.removeEventListener("headlight-wiring", rewire);
}

/** The one way in which a choice changes: remember it, repaint, ask again where the model is concerned, report. */
function change(self, patch) {
  const before = self.choice;
  self.choice = { ...before, ...patch };
  noteEdits(self, before, patch);
  drawPresenter(self);
  self.serial++;
  self.hovered = null;
  const asks = ASKED.some((name) => name in patch);
  if (asks) ask(self);
  if (self.answer && !("text" in patch) && !("source" in patch)) showChoice(self);
  reportIn(self, SETTLE);
}

function forgetReport(self) {
  self.held = false;
  clearTimeout(self.settling);
}

function reportIn(self, wait) {
  forgetReport(self);
  self.settling = setTimeout(() => report(self), wait);
}

/** Tells Streamlit; where an answer is on its way only after it: a run and its charts would make that one slower. */
function report(self) {
  if (!self.parts.root.classList.contains("waiting")) return tellNow(self);
  self.held = true;
  self.settling = setTimeout(() => tellNow(self), PATIENCE);
}

function tellNow(self) {
  forgetReport(self);
  self.agreed = { ...self.choice };
  self.tell("settled", { ...self.choice, serial: self.serial });
}

/** Marked tokens before the edited place stay; behind it the tokens are other ones now. */
function keepPlaces(self, text, places) {
  const old = self.choice.text;
  let same = 0;
  while (same < Math.min(old.length, text.length) && old[same] === text[same]) same++;
  const ends = self.answer?.tokens.map((token) => token.end) || [];
  return places.filter((position) => ends[position] < same || (ends[position] === same && same === text.length));
}

function listen(self) {
  const { parts } = self;
  parts.text.readOnly = parts.source.readOnly = false; // what is typed before somebody listens would be lost
  parts.text.oninput = () => {
    const kept = (places) => keepPlaces(self, parts.text.value, places);
    const { masked, locked } = self.choice;
    change(self, { text: parts.text.value, masked: kept(masked), locked: kept(locked), query: -1, target: -1 });
    fitBoxes(self); // last: while the backend works there is time for it
  };
  parts.source.oninput = () => {
    change(self, { source: parts.source.value, target: -1 });
    fitBoxes(self);
  };
  listenToHeads(self);
  listenToGallery(self);
}

function fitBoxes(self) {
  for (const box of [self.parts.text, self.parts.source]) {
    box.style.height = "auto";
    if (box.scrollHeight) box.style.height = `${Math.min(box.scrollHeight, 120)}px`;
  }
}

function drawExamples(self) {
  const buttons = self.examples.map((example) => {
    const button = make("button", "example", example.text || example.source);
    button.type = "button";
    button.onclick = () => {
      self.parts.text.value = example.text;
      self.parts.source.value = example.source;
      fitBoxes(self);
      change(self, { text: example.text, source: example.source, sort: example.sort, masked: [], locked: [], query: -1, target: -1 });
    };
    return button;
  });
  refill(self.parts.examples, ...buttons);
}

/** With a sentence of ours on the page: what there is to see in its heads. */
function drawLook(self, room) {
  const { text, source } = self.answer.question;
  const look = room === "heads" && self.examples.find((one) => one.text === text && one.source === source)?.look;
  self.parts.look.textContent = look || "";
  self.parts.look.hidden = !look;
}

function showProblem(self, sentence) {
  self.problem = sentence;
  self.parts.problem.textContent = sentence;
  self.parts.problem.hidden = false;
  self.parts.answer.classList.add("stale");
  self.parts.status.textContent = "";
  drawEdits(self);
  finish(self);
}

function showAnswer(self) {
  const { answer, parts } = self;
  self.problem = "";
  parts.problem.hidden = true;
  parts.answer.classList.remove("stale");
  parts.answer.hidden = false;
  const read = answer.patches ? `${answer.patches.rows} × ${answer.patches.columns} patches` : `${answer.tokens.length} of ${answer.context} tokens`;
  parts.status.textContent = `${read} · ${Math.round(answer.milliseconds)} ms`;
  parts.notes.replaceChildren(...answer.notes.map((note) => make("p", "", note)));
  drawTokens(self);
  drawPredictions(self);
  drawEdits(self);
  drawRoom(self, true);
  finish(self);
}

/** Says, for whoever watches from outside, which question the picture on the screen answers. */
function finish(self) {
  self.parts.root.dataset.painted = self.answered;
  self.parts.root.dataset.sentence = self.answer?.question.text ?? "";
  self.parts.root.dataset.image = self.answer?.question.image ?? "";
}

/** What can be shown anew without the backend: the open room, and the changes in force. */
function showChoice(self) {
  drawEdits(self);
  markTarget(self);
  drawRoom(self);
}
