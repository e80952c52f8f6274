// What was written, step by step: asking for steps, taking tokens, going back, and other ways on.
//
// `self.written` is the line on the page: { place, id, piece } of each token taken. `self.records` holds the backend's
// answer to each beginning of a line, so that going back asks nothing. `self.at` is the step that is looked at.

const LINES = 6; // other ways on that are offered
const RECORDED = 1_200; // answers kept in the browser

function keyOf(written) {
  return written.map(({ place, id }) => `${place}-${id}`).join(".");
}

function newest(self) {
  return self.records.get(keyOf(self.written)) || null;
}

/** The answer that is looked at: that of a token already taken, or of the next one. */
function looked(self) {
  return self.at === null ? newest(self) : recordAt(self, self.at);
}

function recordAt(self, index) {
  return self.records.get(keyOf(self.written.slice(0, index))) || null;
}

/** Asks for the step after `written`; `latest` makes older questions of this visitor void. */
async function fetchStep(self, written, { latest = false, tokens = false } = {}) {
  const { text, source, masked, edits } = self.choice;
  const body = { ...self.settings, text, source, masked, edits, rule: self.rule, remember: self.remember, tokens };
  body.written = written.map(({ place, id }) => [place, id]);
  if (latest) Object.assign(body, { visitor: self.visitor, number: ++self.number });
  const begun = performance.now();
  const { meta, start, buffer } = await post(self, "generate", body, self.asking?.signal);
  if (meta.error) throw new Refused(meta.error);
  if (meta.superseded) return null;
  const record = { ...meta, numbers: new Float32Array(buffer, start), rule: self.rule, took: performance.now() - begun };
  self.records.set(keyOf(written), record);
  if (self.records.size > RECORDED) self.records.delete(self.records.keys().next().value);
  return record;
}

class Refused extends Error {}

/** The question is another one: what was known of the old one is void. What was written stays where it still makes sense. */
async function begin(self, written = []) {
  self.asking?.abort();
  self.asking = new AbortController();
  const turn = ++self.turn;
  stop(self);
  self.written = written;
  self.at = null;
  self.parts.root.classList.add("waiting");
  try {
    const records = self.records;
    self.records = new Map();
    const first = await fetchStep(self, [], { latest: true, tokens: true }).catch((error) => {
      if (self.turn === turn) self.records = records;
      throw error;
    });
    if (turn !== self.turn || !first) return;
    self.prompt = first.tokens.text;
    self.sourceTokens = first.tokens.source;
    if (self.written.length) await readBack(self, turn);
    if (turn !== self.turn) return;
    answered(self);
    replay(self, turn);
  } catch (error) {
    if (turn === self.turn) troubled(self, error);
  } finally {
    if (turn === self.turn) self.parts.root.classList.remove("waiting");
  }
}

/** What tokens that came with the address stand for; without them where they do not fit any more. */
async function readBack(self, turn) {
  try {
    const last = await fetchStep(self, self.written, { tokens: true });
    if (turn !== self.turn) return;
    for (const token of self.written) token.piece = last.tokens.text[token.place].piece;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    self.written = [];
  }
}

/** Fills in the answers to earlier steps of a line that came with the address. */
async function replay(self, turn) {
  for (let index = 1; index < self.written.length; index++) {
    if (turn !== self.turn) return;
    if (recordAt(self, index)) continue;
    try {
      await fetchStep(self, self.written.slice(0, index));
    } catch {
      return; // looked at, it is asked again
    }
    if (turn === self.turn && (index % 8 === 0 || index === self.written.length - 1)) draw(self);
  }
}

/** Why nothing more can be taken, or nothing. */
function ended(self) {
  const record = newest(self);
  const last = self.written.at(-1);
  if (!record) return "";
  if (record.done) return self.written.length ? "Every mask is filled." : "Nothing is masked. Click a word to mask it, or write [MASK].";
  if (last && record.end !== null && last.id === record.end) return "The model has ended the text.";
  if (record.end !== undefined && self.kind === "continue" && record.place >= record.context) {
    return `The text has ${record.length} tokens, as many as this model reads.`;
  }
  return "";
}

/** Whether an answer was drawn by another rule than is in force now. */
function drawnOtherwise(self, record) {
  return !record.done && JSON.stringify(record.rule) !== JSON.stringify(self.rule);
}

/** Takes a token at step `index`: the line goes on from there, and what stood there is offered again. */
async function take(self, index, { place, id, piece }) {
  const turn = ++self.turn;
  keepLine(self, index);
  self.written = [...self.written.slice(0, index), { place, id, piece }];
  self.at = null;
  self.spoken = true;
  await follow(self, turn);
}

/** Shows the line as it now is, and asks what comes next where that is not known. */
async function follow(self, turn) {
  self.serial++;
  try {
    if (!newest(self) || drawnOtherwise(self, newest(self))) {
      draw(self);
      await fetchStep(self, self.written);
    }
    if (turn !== self.turn) return;
    answered(self);
  } catch (error) {
    if (turn === self.turn) troubled(self, error);
  }
  if (!self.playing) settle(self);
}

async function stepOn(self) {
  if (self.at !== null) self.at = null;
  const record = newest(self);
  if (!record || ended(self)) return false;
  const chosen = record.candidates.find(({ id }) => id === record.chosen);
  await take(self, self.written.length, { place: record.place, id: chosen.id, piece: chosen.piece });
  return true;
}

/** Plays until it is stopped or the text has ended. */
async function play(self) {
  self.playing = true;
  const run = (self.run = {});
  self.pace = [];
  draw(self);
  while (self.run === run) {
    const begun = performance.now();
    const went = await stepOn(self);
    if (!went || self.problem) break;
    const rest = self.speed ? 1_000 / self.speed - (performance.now() - begun) : 0;
    await new Promise((resume) => setTimeout(resume, Math.max(rest, 0)));
    self.pace.push(performance.now() - begun);
  }
  if (self.run === run) stop(self);
}

function stop(self) {
  const was = self.playing;
  self.playing = false;
  self.run = null;
  if (!was) return;
  settle(self);
  draw(self);
}

function backTo(self, length) {
  if (length >= self.written.length) return;
  stop(self);
  keepLine(self, length);
  self.written = self.written.slice(0, length);
  self.at = null;
  follow(self, ++self.turn);
}

/** Remembers the line before it is changed at step `index`, unless the new one only goes on. */
function keepLine(self, index) {
  if (index >= self.written.length) return;
  self.lines = [{ written: self.written, from: index }, ...self.lines];
}

/** The lines that lead elsewhere than the one on the page. */
function otherLines(self) {
  const here = keyOf(self.written);
  const seen = new Set();
  self.lines = self.lines.filter(({ written }) => {
    const key = keyOf(written);
    const known = seen.has(key) || here === key || here.startsWith(`${key}.`);
    seen.add(key);
    return !known;
  });
  return self.lines.slice(0, LINES);
}

function changeLine(self, line) {
  stop(self);
  const old = self.written;
  const from = line.written.findIndex((token, index) => token.id !== old[index]?.id || token.place !== old[index]?.place);
  if (old.length > from) self.lines.push({ written: old, from });
  self.written = line.written;
  self.at = null;
  follow(self, ++self.turn);
}
