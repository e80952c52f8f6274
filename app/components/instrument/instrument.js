// The instrument: keeps what the person chose, asks the backend, paints, and tells Streamlit once things have settled.

const MOUNTED = new WeakMap(); // one instrument for each place it is mounted in
const SETTLE = 250; // milliseconds without a change before the rest of the page follows

export default function (component) {
  const { parentElement, data, setStateValue } = component;
  const self = MOUNTED.get(parentElement) || mount(parentElement, data);
  self.tell = setStateValue;
  self.api = data.api;
  self.examples = data.examples;
  self.parts.sourceBox.hidden = !data.sourced;
  self.parts.caption.textContent = data.sourced ? "Target: what the decoder has written so far" : "Sentence";
  const before = JSON.stringify(self.settings);
  self.settings = data.settings;
  const adopted = adopt(self, data);
  drawExamples(self);
  if (adopted || before !== JSON.stringify(self.settings)) ask(self);
  else if (self.problem) showProblem(self, self.problem); // the answer on the screen is an older one
  else if (self.answer) showAnswer(self); // the theme may have changed
  return () => unmount(self, parentElement);
}

function mount(place, data) {
  const find = (name) => place.querySelector(name);
  const named = (name) => place.querySelector(`[data-testid="${name}"]`);
  const parts = {
    root: find(".instrument"), caption: find('[for="sentence"]'), text: find("#sentence"), source: find("#source"), sourceBox: find(".source"),
    status: named("status"), examples: named("examples"), problem: named("problem"), notes: named("notes"),
    answer: find(".answer"), tokens: named("tokens"), sourceTokens: named("source-tokens"), kinds: named("kinds"),
    grid: named("grid"), title: named("head-title"), off: named("head-switch"), picture: named("picture"),
    view: named("view"), stage: named("stage"), canvas: named("head-canvas"), reading: named("reading"),
    predictions: named("predictions"), edits: named("edits"),
  };
  const self = { parts, choice: null, settings: null, answer: null, hovered: null, number: 0, serial: 0 };
  self.visitor = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join("");
  MOUNTED.set(place, self);
  listen(self);
  self.observer = new ResizeObserver(() => paintHead(self));
  self.observer.observe(parts.stage);
  paintScale(find(".scale"));
  return self;
}

function unmount(self, place) {
  self.asking?.abort();
  clearTimeout(self.settling);
  clearTimeout(self.fetching);
  self.observer.disconnect();
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
  if (!self.serial) self.serial = data.serial;
  for (const [box, text] of [[self.parts.text, self.choice.text], [self.parts.source, self.choice.source]]) {
    if (box.value !== text) box.value = text;
  }
  fitBoxes(self);
  return true;
}

/** The one way in which a choice changes: remember it, repaint, ask again where the model is concerned, report. */
function change(self, patch) {
  const before = self.choice;
  self.choice = { ...before, ...patch };
  self.serial++;
  self.hovered = null;
  const asks = ["text", "source", "edits", "masked"].some((name) => name in patch) || "query" in patch;
  if (asks) ask(self);
  if (self.answer && !("text" in patch) && !("source" in patch)) showChoice(self);
  clearTimeout(self.settling);
  self.settling = setTimeout(() => report(self), SETTLE);
}

function report(self) {
  self.agreed = { ...self.choice };
  self.tell("settled", { ...self.choice, serial: self.serial });
}

function hover(self, place) {
  if (!self.answer || JSON.stringify(self.hovered) === JSON.stringify(place)) return;
  self.hovered = place;
  paintHead(self);
}

/** Masks before the edited place stay; behind it the tokens are other ones now. */
function keepMasked(self, text) {
  const old = self.choice.text;
  let same = 0;
  while (same < Math.min(old.length, text.length) && old[same] === text[same]) same++;
  const ends = self.answer?.tokens.map((token) => token.end) || [];
  return self.choice.masked.filter((position) => ends[position] < same || (ends[position] === same && same === text.length));
}

function listen(self) {
  const { parts } = self;
  parts.text.oninput = () => {
    fitBoxes(self);
    change(self, { text: parts.text.value, masked: keepMasked(self, parts.text.value), query: -1 });
  };
  parts.source.oninput = () => {
    fitBoxes(self);
    change(self, { source: parts.source.value });
  };
  parts.off.onclick = () => toggleHead(self, self.choice.layer, self.choice.head);
  parts.canvas.onmousemove = (event) => hover(self, self.choice.picture === "lines" ? rowUnder(self, event) : cellUnder(self, event));
  parts.canvas.onmouseleave = () => hover(self, null);
  parts.canvas.onclick = () => self.hovered && chooseQuery(self, self.hovered.query);
  parts.canvas.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !self.answer) return;
    event.preventDefault();
    chooseQuery(self, Math.min(Math.max(queryPosition(self) + step, 0), queryTokens(self).length - 1));
  };
}

function chooseQuery(self, query) {
  change(self, { query: query === queryTokens(self).length - 1 ? -1 : query });
}

function rowUnder(self, event) {
  const frame = self.parts.canvas.getBoundingClientRect();
  const query = Math.floor((event.clientY - frame.top - self.lines.top) / self.lines.step);
  return query >= 0 && query < queryTokens(self).length ? { query, key: null } : null;
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
      change(self, { ...example, masked: [], query: -1 });
    };
    return button;
  });
  self.parts.examples.replaceChildren(...buttons);
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
  parts.status.textContent = `${answer.tokens.length} of ${answer.context} tokens · ${Math.round(answer.milliseconds)} ms`;
  parts.notes.replaceChildren(...answer.notes.map((note) => make("p", "", note)));
  const grid = currentGrid(self);
  drawTokens(self);
  drawPredictions(self);
  if (grid) {
    clampHead(self, grid);
    paintGrid(self);
    showChoice(self);
  }
  finish(self);
}

function clampHead(self, grid) {
  self.choice.layer = Math.min(self.choice.layer, grid.layers - 1);
  self.choice.head = Math.min(self.choice.head, grid.heads - 1);
}

/** Says, for whoever watches from outside, which question the picture on the screen answers. */
function finish(self) {
  self.parts.root.dataset.painted = self.answered;
  self.parts.root.dataset.sentence = self.answer?.question.text ?? "";
}

/** What can be shown anew without the backend: the chosen head and everything that hangs on it. */
function showChoice(self) {
  const grid = currentGrid(self);
  if (!grid) return;
  clampHead(self, grid);
  const { layer, head } = self.choice;
  const off = isOff(self, grid, layer, head);
  if (self.shape !== shapeOf(grid)) paintGrid(self);
  drawKinds(self);
  self.parts.title.textContent = `Layer ${layer} · Head ${head}`;
  self.parts.off.setAttribute("aria-checked", String(!off));
  self.parts.off.setAttribute("aria-label", `Head ${head} of layer ${layer}`);
  self.parts.off.lastElementChild.textContent = off ? "off" : "on";
  drawChoices(self, self.parts.picture, "picture", [["map", "Map"], ["lines", "Lines"]]);
  drawChoices(self, self.parts.view, "view", [["weights", "Weights"], ["scores", "Scores"]]);
  drawEdits(self);
  markGrid(self);
  paintHead(self);
  clearTimeout(self.fetching);
  self.fetching = setTimeout(() => fetchExact(self), self.choice.view === "weights" ? 120 : 0);
}

/** Buttons of which one is pressed; `options` are pairs of a value and a title. */
function drawChoices(self, group, field, options, chosen = self.choice[field]) {
  const buttons = options.map(([value, title]) => {
    const button = make("button", "", title);
    button.type = "button";
    button.dataset.testid = `${field}-${value}`;
    button.setAttribute("aria-pressed", String(chosen === value));
    button.onclick = () => change(self, { [field]: value });
    return button;
  });
  group.replaceChildren(...buttons);
}

function drawKinds(self) {
  const { grids } = self.answer;
  self.parts.kinds.hidden = grids.length < 2;
  const options = grids.map((grid) => [grid.name, grid.title]);
  drawChoices(self, self.parts.kinds, "attention", options, currentGrid(self).name);
}
