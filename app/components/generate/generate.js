// The Generate page: a prompt, a rule, and a text that grows token by token.

const MOUNTED = new WeakMap(); // one of these for each place it is mounted in
const SETTLE = 250; // milliseconds without a change before the rest of the page follows
const ASKING = ["text", "source", "masked", "edits"];

export default function (component) {
  const { parentElement, data, setStateValue } = component;
  const self = MOUNTED.get(parentElement) || mount(parentElement, data);
  self.tell = setStateValue;
  self.parts.root.classList.toggle("presenter", data.presenter === "1");
  self.api = data.api;
  self.kind = data.kind;
  self.parts.sourceBox.hidden = !data.sourced;
  const caption = data.sourced ? "Target: how the translation begins (may be empty)" : "Prompt";
  self.parts.caption.textContent = data.kind === "fill" ? "Text with masks" : caption;
  const before = JSON.stringify(self.settings);
  self.settings = data.settings;
  const moved = before !== JSON.stringify(self.settings);
  const adopted = adopt(self, data);
  drawExamples(self, data.examples);
  if (moved || adopted) begin(self, adopted ? adopted.written : self.written);
  else if (self.prompt) draw(self); // the theme may have changed
  return () => unmount(self, parentElement);
}

function mount(place, data) {
  const find = (name) => place.querySelector(name);
  const named = (name) => place.querySelector(`[data-testid="${name}"]`);
  const parts = {
    root: find(".instrument"), caption: find('[for="prompt"]'), text: find("#prompt"), source: find("#source"),
    sourceBox: find(".source"), status: named("status"), examples: named("examples"), problem: named("problem"),
    notes: named("notes"), answer: find(".answer"), back: named("back"), step: named("step"), play: named("play"),
    speed: named("speed"), restart: named("restart"), rate: named("rate"), page: named("page"), reading: named("reading"),
    sourceText: named("source-text"), hint: named("hint"), lines: named("lines"), nextTitle: named("next-title"), newest: named("newest"),
    nextWhere: named("next-where"), candidates: named("candidates"), dice: named("dice"), looks: find(".looks"),
    looksTitle: named("looks-title"), kinds: named("kinds"), blend: named("blend"), grid: named("grid"), stage: named("stage"),
    map: named("map"), cache: named("cache"), remember: named("remember"), cacheWords: named("cache-words"),
    cacheStage: named("cache-stage"), strips: named("cache-strips"), times: named("times"), timesWords: named("times-words"),
    reseed: named("reseed"),
    knobs: Object.fromEntries(["temperature", "top-k", "top-p", "seed"].map((name) => [name, named(name)])),
  };
  const self = {
    parts, choice: null, settings: null, rule: data.rule, written: [], records: new Map(), lines: [], prompt: null,
    at: null, key: null, remember: true, playing: false, run: null, speed: 5, turn: 0, number: 0, serial: 0, problem: "",
  };
  self.visitor = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join("");
  MOUNTED.set(place, self);
  listen(self);
  self.observer = new ResizeObserver(() => self.prompt && draw(self));
  self.observer.observe(parts.root);
  paintScale(find(".scale"));
  return self;
}

function unmount(self, place) {
  self.asking?.abort();
  self.run = null;
  clearTimeout(self.settling);
  self.observer.disconnect();
  MOUNTED.delete(place);
}

/** Takes over what the address says, unless the person has gone on since Streamlit last heard from here. */
function adopt(self, data) {
  const told = JSON.stringify([data.choice, data.rule, data.written]);
  const ahead = self.choice && data.serial !== self.serial;
  if (ahead || told === self.agreed) return null;
  const first = !self.choice;
  const asked = first || ASKING.some((name) => JSON.stringify(data.choice[name]) !== JSON.stringify(self.choice[name]));
  const here = JSON.stringify(self.written.map(({ place, id }) => [place, id]));
  const rewritten = JSON.stringify(data.written) !== here;
  self.agreed = told;
  self.choice = { blend: "head", ...self.choice, ...data.choice };
  self.rule = data.rule;
  if (first) self.serial = data.serial;
  for (const [box, text] of [[self.parts.text, self.choice.text], [self.parts.source, self.choice.source]]) {
    if (box.value !== text) box.value = text;
  }
  fitBoxes(self);
  return asked || rewritten ? { written: data.written.map(([place, id]) => ({ place, id, piece: "…" })) } : null;
}

/** A choice changes: what concerns the model begins anew, all else is drawn. */
function change(self, patch) {
  self.choice = { ...self.choice, ...patch };
  self.serial++;
  if (ASKING.some((name) => name in patch)) {
    self.lines = [];
    begin(self);
  } else draw(self);
  settle(self);
}

function settle(self) {
  clearTimeout(self.settling);
  self.settling = setTimeout(() => report(self), SETTLE);
}

function report(self) {
  if (self.playing) return;
  const { text, source, masked, edits, attention, layer, head } = self.choice;
  const choice = { text, source, masked, edits, attention, layer, head };
  const written = self.written.map(({ place, id }) => [place, id]);
  self.agreed = JSON.stringify([choice, self.rule, written]);
  self.tell("settled", { ...choice, rule: self.rule, written, serial: self.serial });
}

function listen(self) {
  const { parts } = self;
  parts.text.readOnly = parts.source.readOnly = false;
  parts.text.oninput = () => {
    fitBoxes(self);
    change(self, { text: parts.text.value, masked: [] });
  };
  parts.source.oninput = () => {
    fitBoxes(self);
    change(self, { source: parts.source.value });
  };
  parts.step.onclick = () => {
    stop(self);
    stepOn(self);
  };
  parts.play.onclick = () => (self.playing ? stop(self) : play(self));
  parts.back.onclick = () => backTo(self, self.written.length - 1);
  parts.restart.onclick = () => backTo(self, 0);
  parts.newest.onclick = () => lookAt(self, null);
  parts.speed.onchange = () => (self.speed = Number(parts.speed.value));
  parts.remember.onclick = () => {
    self.remember = !self.remember;
    draw(self);
  };
  listenRule(self);
  listenLooks(self);
}

function fitBoxes(self) {
  for (const box of [self.parts.text, self.parts.source]) {
    box.style.height = "auto";
    if (box.scrollHeight) box.style.height = `${Math.min(box.scrollHeight, 120)}px`;
  }
}

function drawExamples(self, examples) {
  const buttons = examples.map((example) => {
    const button = make("button", "example", example.text || example.source);
    button.type = "button";
    button.onclick = () => {
      self.parts.text.value = example.text;
      self.parts.source.value = example.source;
      fitBoxes(self);
      change(self, { ...example, masked: [] });
    };
    return button;
  });
  refill(self.parts.examples, ...buttons);
}

function troubled(self, error) {
  if (error.name === "AbortError") return;
  const lost = error instanceof TypeError;
  self.problem = lost ? "The server does not answer. Is Headlight still running?" : error.message;
  stop(self);
  self.parts.problem.textContent = self.problem;
  self.parts.problem.hidden = false;
  self.parts.answer.classList.add("stale");
  self.parts.status.textContent = "";
  finish(self);
}

/** An answer has come: whatever was wrong is over. */
function answered(self) {
  self.problem = "";
  self.parts.problem.hidden = true;
  self.parts.answer.classList.remove("stale");
  self.parts.answer.hidden = false;
  draw(self);
}

function draw(self) {
  if (!self.prompt) return;
  const record = newest(self);
  const { parts } = self;
  const end = ended(self);
  parts.step.disabled = Boolean(end) || !record;
  parts.play.disabled = Boolean(end) && !self.playing;
  parts.play.textContent = self.playing ? "Pause" : "Play";
  parts.play.setAttribute("aria-pressed", String(self.playing));
  parts.back.disabled = parts.restart.disabled = !self.written.length;
  if (record && !record.done) parts.status.textContent = `${record.length} of ${record.context} tokens · ${Math.round(record.milliseconds)} ms`;
  parts.notes.replaceChildren(...(record?.notes || []).map((note) => make("p", "", note)));
  parts.hint.textContent = hintOf(self);
  drawRule(self);
  drawPage(self);
  drawNext(self);
  drawLooks(self);
  drawCache(self);
  drawRate(self);
  finish(self);
}

function hintOf(self) {
  if (self.at !== null) return "Click a candidate to take it instead: the text goes on from here, and the old one stays on offer.";
  if (self.written.length) return "Click a word that was written to go back there and choose another.";
  return self.kind === "fill" ? "The mask whose first candidate is surest is filled first." : "Underlined words are written by the model.";
}

/** Says, for whoever watches from outside, how much stands on the page and whether its answer is there. */
function finish(self) {
  const { dataset } = self.parts.root;
  dataset.prompt = self.choice?.text ?? "";
  dataset.written = self.written.length;
  dataset.known = String(Boolean(newest(self)));
  dataset.playing = String(self.playing);
}
