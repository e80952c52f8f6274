// The heads without a server: in a notebook's cell, or in a file that somebody saved. What the page would ask the server
// is answered from what came along: the weights of all heads as bytes, and perhaps one picture with its exact numbers.

const AT_FIRST = {
  attention: "", layer: 0, head: 0, heads: [], sort: "layer", view: "weights", versus: "", other: "", rule: "mean", unit: "tokens",
  mass: 100, hide: "", rest: "as-is", pair: "", window: "", picture: "map", size: "panel", query: -1, locked: [], target: -1, edits: [], masked: [],
};
const FIXED = ["text", "source", "edits", "masked", "window"]; // choices that only a model could follow
const NOT_HERE = "Only what was on the screen when this was saved is here, and the plain weights of all heads. Ask Headlight itself for more.";

/** Draws into `host` what Python's `show` has put together; `numbers` are bytes, deflated, as base64. */
async function openAlone(host, style, body, meta, numbers) {
  const root = host.attachShadow({ mode: "open" });
  root.innerHTML = `<style>${style}</style>${body}`;
  const named = (name) => root.querySelector(`[data-testid="${name}"]`);
  const parts = { root: root.querySelector(".instrument"), board: root.querySelector(".board"), notes: named("notes"), ...headParts(named) };
  const { kinds, metrics, views } = meta;
  const self = { parts, rooms: { heads: named("room-heads") }, kinds, metrics, views, measured: {}, known: new Map(), hovered: null, serial: 0 };
  self.choice = { ...AT_FIRST, ...meta.choice };
  self.answer = { ...meta, maskable: false, bytes: await inflated(numbers) };
  self.rooms.heads.hidden = false;
  named("view").hidden = kinds.length < 2;
  listenToHeads(self);
  followTheme(self, host);
  drawAlone(self);
  new ResizeObserver(() => {
    measureAnew(self);
    drawRoom(self);
  }).observe(parts.board);
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
}

async function inflated(base64) {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Dark where the notebook is dark; a file of its own follows the system. */
function followTheme(self, host) {
  const { body, documentElement } = document;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const own = "headlight" in documentElement.dataset;
  const dark = () => body.dataset.jpThemeLight === "false" || body.classList.contains("vscode-dark") || documentElement.getAttribute("theme") === "dark";
  const follow = () => {
    host.toggleAttribute("data-dark", own ? system.matches : dark());
    measureAnew(self);
    if (self.style) drawAlone(self);
  };
  follow();
  if (own) system.onchange = follow;
}

function drawAlone(self) {
  const { parts, answer } = self;
  parts.notes.replaceChildren(...answer.notes.map((note) => make("p", "", note)));
  parts.predictions.hidden = !answer.predictions.length;
  drawTokens(self);
  drawPredictions(self);
  for (const button of parts.predictions.querySelectorAll("button")) button.disabled = true;
  drawRoom(self, true);
  parts.root.dataset.painted = "alone";
}

function drawRoom(self, fresh = false) {
  if (self.parts.board.clientWidth) ROOM_HEADS.draw(self, fresh);
}

function pointRoom(self) {
  ROOM_HEADS.point(self);
}

function change(self, patch) {
  const kept = Object.entries(patch).filter(([name]) => !FIXED.includes(name));
  self.choice = { ...self.choice, ...Object.fromEntries(kept) };
  self.serial++;
  self.hovered = null;
  drawRoom(self);
}

/** The answer that came along, null where the bytes of all heads hold it, else a sentence. */
function wanted(self, route, { each, ...asked }) {
  const plain = route === "view" && isPlain(self, asked);
  if (plain && !currentGrid(self).exact) return null;
  const key = `${route} ${JSON.stringify(asked)}`;
  if (!self.known.has(key)) self.known.set(key, plain ? { meta: {}, view: plainView(self) } : answerOf(self, key));
  return self.known.get(key);
}

/** The weights with all their digits, as far as they came along. */
function plainView(self) {
  const grid = currentGrid(self);
  const { bytes, grids } = self.answer;
  const last = grids.at(-1);
  const cells = last.offset + last.layers * last.heads * last.rows * last.columns;
  const all = new Float32Array(bytes.buffer, Math.ceil(cells / 4) * 4);
  const size = grid.rows * grid.columns;
  const each = chosenHeads(self).map(([layer, head]) => {
    const from = grid.offset + (layer * grid.heads + head) * size;
    return all.subarray(from, from + size);
  });
  const numbers = each.length > 1 ? together(each, self.choice.rule) : each[0];
  return { ...bytesView(self), each, numbers, exact: true };
}

function answerOf(self, key) {
  if (!self.views[key]) return { meta: { error: NOT_HERE }, numbers: new Float32Array() };
  const { meta, start, buffer } = unpack(bytesOf(self.views[key]).buffer);
  return { meta, numbers: floats(buffer, start) };
}
