// The two sides: A is what the address and the sidebar say, B is the same but for `self.other`. Who corresponds to whom.

const QUESTION = ["model", "text", "source", "masks", "position", "kernel", "scale", "device", "edits", "masked"];

function questionA(self) {
  const { text, source, edits, masked } = self.choice;
  return { ...self.settings, text, source, edits, masked };
}

/** B's question: what belongs to one text or one model alone does not go over to another. */
function questionB(self) {
  const left = questionA(self);
  const other = Object.fromEntries(Object.entries(self.other).filter(([name]) => QUESTION.includes(name)));
  const right = { ...left, ...other };
  const another = right.model !== left.model;
  if (another && !("edits" in other)) right.edits = [];
  if ((another || right.text !== left.text) && !("masked" in other)) right.masked = [];
  return right;
}

/** Asks for everything that depends on the models; the newest question wins. */
async function askBoth(self) {
  self.asking?.abort();
  const asking = (self.asking = new AbortController());
  const number = ++self.number;
  self.parts.root.classList.add("waiting");
  self.parts.root.dataset.state = "asking";
  const questions = [questionA(self), questionB(self)];
  try {
    const { query, align } = wished(self);
    const body = { left: questions[0], right: questions[1], align, query, visitor: self.visitor, number };
    const { meta, start, buffer } = await post(self, "compare", body, asking.signal);
    if (number !== self.number || meta.superseded) return;
    self.answered = number;
    if (meta.error) return showTrouble(self, meta.error);
    self.answer = { ...meta, questions, bytes: new Uint8Array(buffer, start), exact: new Map(), partners: partnersOf(meta.pairs) };
    showBoth(self);
  } catch (error) {
    if (error.name === "AbortError" || number !== self.number) return;
    self.answered = number;
    const lost = error instanceof TypeError;
    showTrouble(self, lost ? "The server does not answer. Is Headlight still running?" : error.message);
  } finally {
    if (number === self.number) self.parts.root.classList.remove("waiting");
  }
}

function wished(self) {
  return { query: self.choice.query, align: self.other.align || "tokens" };
}

/** For each axis the partner of a place on side 0 and on side 1, and the number of the pair. */
function partnersOf(pairs) {
  return Object.fromEntries(
    Object.entries(pairs).map(([axis, list]) => [axis, { list, across: [new Map(list), new Map(list.map(([a, b]) => [b, a]))] }]),
  );
}

function sideTokens(self, side, axis) {
  const { tokens, sourceTokens } = self.answer.sides[side];
  return (axis === "source" ? sourceTokens : tokens) || [];
}

/** The attention that is compared: its grid on each side. */
function attentionHere(self) {
  const { attentions, sides } = self.answer;
  const found = attentions.find(({ name }) => name === self.choice.attention) || attentions[0];
  if (!found) return null;
  const grids = [found.name, found.other].map((name, side) => sides[side].grids.find((grid) => grid.name === name));
  return { ...found, grids };
}

/** The head that is looked at on one side. */
function headOf(self, side, grids) {
  const own = side === 1 && !linked(self) ? self.other : self.choice;
  const grid = grids[side];
  return { layer: Math.min(own.layer, grid.layers - 1), head: Math.min(own.head, grid.heads - 1) };
}

function linked(self) {
  return !("layer" in self.other && "head" in self.other);
}

/** The byte codes of one head. */
function sideCodes(self, grid, layer, head) {
  const size = grid.cells[0] * grid.cells[1];
  const from = grid.offset + (layer * grid.heads + head) * size;
  return self.answer.bytes.subarray(from, from + size);
}

/** One weight: exact where it is here, else from its byte; NaN where attending is forbidden. */
function sideWeight(self, side, grid, { layer, head }, query, key) {
  const row = Math.min(Math.floor((query * grid.cells[0]) / grid.rows), grid.cells[0] - 1);
  const column = Math.min(Math.floor((key * grid.cells[1]) / grid.columns), grid.cells[1] - 1);
  const code = sideCodes(self, grid, layer, head)[row * grid.cells[1] + column];
  if (code === 0) return NaN;
  const exact = exactOf(self, side, grid, layer, head);
  return exact ? exact.numbers[query * grid.columns + key] : ((code - 1) / 254) ** 2;
}

function exactKey(side, grid, layer, head) {
  return `${side} ${grid.stack}.${layer}.${grid.kind}.weights[${head}]`;
}

function exactOf(self, side, grid, layer, head) {
  return self.answer.exact.get(exactKey(side, grid, layer, head)) || null;
}

/** Fetches the exact numbers of the two heads once they have been looked at for a moment, and repaints. */
function wantExact(self) {
  clearTimeout(self.wanting);
  self.wanting = setTimeout(() => fetchBoth(self), 120);
}

async function fetchBoth(self) {
  const { answer } = self;
  const here = answer && attentionHere(self);
  if (!here) return;
  const fetched = here.grids.map(async (grid, side) => {
    const { layer, head } = headOf(self, side, here.grids);
    const key = exactKey(side, grid, layer, head);
    if (answer.exact.has(key)) return false;
    answer.exact.set(key, null);
    try {
      const path = `${grid.stack}.${layer}.${grid.kind}.weights`;
      const { meta, start, buffer } = await post(self, "values", { ...answer.questions[side], path, head });
      if (meta.error) return false;
      answer.exact.set(key, { numbers: new Float32Array(buffer, start) });
      return true;
    } catch {
      answer.exact.delete(key);
      return false;
    }
  });
  const here_now = await Promise.all(fetched);
  if (here_now.some(Boolean) && answer === self.answer) drawMaps(self);
}

/** What belongs together: `hot` on one side ({ side, query, key }) seen from side A and from side B. */
function hotPlaces(self, grids) {
  const { hot } = self;
  if (!hot) {
    return questionedPlaces(self).map((query, side) => ({ query: grids[side].queries === "text" ? query : null, key: null }));
  }
  const { side, query, key } = hot;
  const there = { query: across(self, side, grids[side].queries, query), key: across(self, side, grids[side].keys, key) };
  return side === 0 ? [{ query, key }, there] : [there, { query, key }];
}

function across(self, side, axis, place) {
  if (place === null) return null;
  return self.answer.partners[axis]?.across[side].get(place) ?? null;
}

/** The token of each side that predictions and frames speak of; without a choice the first masked one, or the last. */
function questionedPlaces(self) {
  const { predictions, sides } = self.answer;
  const own = self.choice.query;
  if (own >= 0 && own < sides[0].tokens.length) return [own, across(self, 0, "text", own)];
  return predictions[0]?.places || sides.map(({ tokens }) => tokens.length - 1);
}
