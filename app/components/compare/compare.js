// The Compare page: A is what the sidebar says, B the same but for what one changes here.

const MOUNTED = new WeakMap(); // one of these for each place it is mounted in
const SETTLE = 250; // milliseconds without a change before the rest of the page follows
const ASKS = ["text", "source", "masked", "edits", "query"];

export default function (component) {
  const { parentElement, data, setStateValue } = component;
  const self = MOUNTED.get(parentElement) || mount(parentElement);
  self.tell = setStateValue;
  self.parts.root.classList.toggle("presenter", data.presenter === "1");
  Object.assign(self, { api: data.api, options: data.options, models: data.models });
  const moved = adopt(self, data);
  drawPresets(self, data.presets);
  if (!self.asked || moved) {
    self.asked = true;
    drawBoxes(self);
    drawWiring(self);
    askBoth(self);
  } else if (self.problem) showTrouble(self, self.problem);
  else if (self.answer) showBoth(self); // the theme may have changed
  return () => unmount(self, parentElement);
}

function mount(place) {
  const find = (name) => place.querySelector(name);
  const named = (name) => place.querySelector(`[data-testid="${name}"]`);
  const both = (name) => [named(`${name}-a`), named(`${name}-b`)];
  const parts = {
    root: find(".instrument"), texts: both("text"), sources: both("source"), sourceBoxes: [...place.querySelectorAll(".box.source")],
    status: named("status"), asA: named("as-a"), wiringA: named("wiring-a"), wiringB: named("wiring-b"), presets: named("presets"),
    problem: named("problem"), notes: named("notes"), answer: find(".answer"), strips: both("tokens"), kinds: named("kinds"),
    hint: named("heads-hint"), swap: named("swap"), grids: both("grid"), apart: named("apart"), apartMost: named("apart-most"),
    ranked: named("ranked"), headTitle: named("head-title"), align: named("align"), linked: named("linked"),
    mapTitles: both("map-title"), switches: both("switch"), maps: [...both("map"), named("map-d")], low: named("low"), high: named("high"),
    leftOut: named("left-out"), reading: named("reading"), predictions: named("predictions"), mapsPanel: place.querySelectorAll(".three")[1],
  };
  const self = {
    parts, choice: null, settings: null, other: {}, answer: null, hot: null, number: 0, serial: 0, problem: "", maps: [], images: [], painted: [],
  };
  self.visitor = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join("");
  MOUNTED.set(place, self);
  listen(self);
  self.observer = new ResizeObserver(() => self.answer && self.shown && paintMaps(self));
  self.observer.observe(parts.root);
  const [distances, differences] = place.querySelectorAll(".scale");
  paintScale(distances);
  paintScale(differences, SIGNED_INK);
  return self;
}

function unmount(self, place) {
  self.asking?.abort();
  clearTimeout(self.settling);
  clearTimeout(self.wanting);
  self.observer.disconnect();
  MOUNTED.delete(place);
}

/** Takes over what the address says, unless the person has gone on since Streamlit last heard from here. */
function adopt(self, data) {
  const told = JSON.stringify([data.choice, data.other, data.settings]);
  const ahead = self.choice && data.serial !== self.serial;
  if (ahead || told === self.agreed) return false;
  if (!self.choice) self.serial = data.serial;
  const before = self.choice && JSON.stringify([questionA(self), questionB(self), wished(self)]);
  self.agreed = told;
  self.follows = Math.max(data.choice.layer, data.choice.head) < 0; // nobody has chosen a head of this model yet
  self.choice = { ...data.choice, layer: Math.max(data.choice.layer, 0), head: Math.max(data.choice.head, 0) };
  self.other = { ...data.other };
  if (self.follows) delete self.other.chosen;
  self.settings = data.settings;
  return before !== JSON.stringify([questionA(self), questionB(self), wished(self)]);
}

/** The one way in which something changes: remember it, ask again where a model is concerned, repaint, report. */
function changeBoth(self, choice, other, asks = true) {
  const before = JSON.stringify([questionA(self), questionB(self), wished(self)]);
  self.choice = { ...self.choice, ...choice };
  self.other = other;
  self.serial++;
  self.hot = null;
  drawBoxes(self);
  drawWiring(self);
  if (asks && before !== JSON.stringify([questionA(self), questionB(self), wished(self)])) askBoth(self);
  else if (self.answer && !self.problem) {
    drawHeads(self);
    drawMaps(self);
  }
  clearTimeout(self.settling);
  self.settling = setTimeout(() => report(self), SETTLE);
}

/** What the buttons of drawChoices change. */
function change(self, patch) {
  const { align, ...choice } = patch;
  const other = { ...self.other };
  if (align) other.align = align;
  if (align === "tokens") delete other.align;
  changeBoth(self, choice, other);
}

function report(self) {
  const found = self.follows && linked(self) && !self.other.chosen ? { layer: -1, head: -1 } : {};
  const choice = { ...self.choice, ...found };
  self.agreed = JSON.stringify([choice, self.other, self.settings]);
  self.tell("settled", { ...choice, ...self.settings, other: self.other, serial: self.serial });
}

function listen(self) {
  const { parts } = self;
  for (const box of [...parts.texts, ...parts.sources]) box.readOnly = false;
  const typed = (box, side, name) => () => {
    if (side === 0) changeBoth(self, name === "text" ? { text: box.value, masked: [], query: -1 } : { [name]: box.value }, self.other);
    else changeBoth(self, {}, { ...self.other, [name]: box.value });
  };
  parts.texts.forEach((box, side) => (box.oninput = typed(box, side, "text")));
  parts.sources.forEach((box, side) => (box.oninput = typed(box, side, "source")));
  parts.asA.onclick = () => differ(self, { text: undefined, source: undefined, masked: undefined });
  parts.swap.onclick = () => swapSides(self);
  parts.linked.onchange = () => {
    const { layer, head, ...rest } = self.other;
    changeBoth(self, {}, parts.linked.checked ? rest : { ...rest, layer: self.choice.layer, head: self.choice.head }, false);
  };
  listenMaps(self);
}

/** The boxes say what is read; B's follows A's until somebody writes in it. */
function drawBoxes(self) {
  const questions = [questionA(self), questionB(self)];
  questions.forEach((question, side) => {
    for (const [box, name] of [[self.parts.texts[side], "text"], [self.parts.sources[side], "source"]]) {
      if (box.value !== question[name]) box.value = question[name];
    }
    self.parts.sourceBoxes[side].hidden = !trainedOf(self, question.model).sourced;
  });
  const own = "text" in self.other || "source" in self.other;
  self.parts.asA.hidden = !own;
  self.parts.texts[1].closest(".box").classList.toggle("same", !own);
  for (const box of [...self.parts.texts, ...self.parts.sources]) {
    box.style.height = "auto";
    if (box.scrollHeight) box.style.height = `${Math.min(box.scrollHeight, 120)}px`;
  }
}

function showTrouble(self, sentence) {
  self.problem = sentence;
  self.parts.problem.textContent = sentence;
  self.parts.problem.hidden = false;
  self.parts.answer.classList.add("stale");
  self.parts.status.textContent = "";
  finish(self);
}

function showBoth(self) {
  const { parts, answer } = self;
  self.problem = "";
  parts.problem.hidden = true;
  parts.answer.classList.remove("stale");
  parts.answer.hidden = false;
  parts.status.textContent = `${Math.round(answer.milliseconds)} ms`;
  const notes = answer.sides.flatMap(({ notes }, side) => notes.map((note) => make("p", "", `${"AB"[side]} – ${note}`)));
  parts.notes.replaceChildren(...notes);
  followMost(self);
  drawStrips(self);
  drawHeads(self);
  drawMaps(self);
  drawAnswers(self);
  finish(self);
}

/** Says, for whoever watches from outside, which question the picture on the screen answers. */
function finish(self) {
  const { dataset } = self.parts.root;
  dataset.state = self.answered === self.number ? "ready" : "asking";
  dataset.texts = JSON.stringify(self.answer?.questions.map(({ text }) => text) ?? []);
}
