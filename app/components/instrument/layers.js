// The room of layers: what each layer would say, what each part adds, where it came from, and what goes without a head.

const PANELS = [["lens", "Logit lens"], ["parts", "Contributions"], ["flow", "Flow"], ["ablation", "Ablate all"]];
const ROOM_LAYERS = { title: "Layers", draw: drawLayers };

function inLayers(self, name) {
  return self.rooms.layers.querySelector(`[data-testid="${name}"]`);
}

function drawLayers(self) {
  const panel = PANELS.some(([name]) => name === self.choice.panel) ? self.choice.panel : "lens";
  drawChoices(self, inLayers(self, "layers-panels"), "panel", PANELS, panel);
  for (const section of self.rooms.layers.querySelectorAll("[data-panel]")) section.hidden = section.dataset.panel !== panel;
  sayLayers(self, "");
  fillAnswers(self, panel);
  ({ lens: drawLens, parts: drawShares, flow: drawFlow, ablation: drawAblation })[panel](self);
}

/** A sentence in place of a picture that this model does not have. */
function sayLayers(self, sentence) {
  const silent = inLayers(self, "layers-silent");
  silent.textContent = sentence;
  silent.hidden = !sentence;
  if (sentence) for (const section of self.rooms.layers.querySelectorAll("[data-panel]")) section.hidden = true;
}

/** The token at which an answer is asked for. Answers are of the text, whatever attention is looked at. */
function answerPosition(self) {
  const { query } = self.choice;
  const { tokens, maskable } = self.answer;
  if (query >= 0 && query < tokens.length) return query;
  const masked = maskable ? tokens.findIndex((token) => token.masked) : -1;
  return masked >= 0 ? masked : tokens.length - 1;
}

function fillAnswers(self, panel) {
  const { tokens, predictions, grids } = self.answer;
  const room = self.rooms.layers;
  const part = (name) => room.querySelector(`[data-part="${name}"]`);
  const position = answerPosition(self);
  fillSelect(inLayers(self, "layers-query"), tokenOptions(tokens), position, (value) =>
    change(self, { query: inAddress(self, Number(value)), target: -1 }),
  );
  const said = predictions.find((prediction) => prediction.position === position) || predictions.find(() => predictions.length === 1);
  const options = (said?.candidates || []).map((item) => [item.id, `${spoken(item.piece)}  ${percent(item.after)}`]);
  const listed = options.some(([id]) => id === self.choice.target);
  if (self.choice.target >= 0 && !listed) options.push([self.choice.target, `token ${self.choice.target}`]);
  part("answers").hidden = panel === "lens" || panel === "flow" || !predictions.length;
  fillSelect(inLayers(self, "layers-target"), [[-1, "the likeliest"], ...options], self.choice.target, (value) => change(self, { target: Number(value) }));
  part("attentions").hidden = panel !== "ablation" || grids.length < 2;
  fillSelect(inLayers(self, "layers-attention"), grids.map(({ name, title }) => [name, title]), currentGrid(self)?.name, (attention) => change(self, { attention }));
}

/** Chooses a head from any picture of the room. */
function pickHead(self, layer, head, kind) {
  const { grids } = self.answer;
  const grid = grids.find((other) => kind && other.stack === grids[0].stack && other.kind === kind) || currentGrid(self);
  change(self, { attention: grid.name, layer, head });
}

function isChosen(self, layer, head, kind) {
  const grid = currentGrid(self);
  return layer === self.choice.layer && head === self.choice.head && (!kind || grid.kind === kind);
}

/**
 * A table of cells with a colour on either side of zero. `rows` are { label, cells }, a cell { value, title, head } or
 * null; arrow keys walk, and a cell that stands for a head chooses it.
 */
function drawCells(self, table, columns, rows, { most, read, pick }) {
  const head = make("tr");
  head.append(make("th"), ...columns.map((column) => { const cell = make("th", "", column); cell.scope = "col"; return cell; }));
  const lines = rows.map(({ label, cells }) => {
    const line = make("tr");
    const name = make("th", "", label);
    name.scope = "row";
    line.append(name, ...cells.map((cell) => oneCell(self, cell, { most, read, pick })));
    return line;
  });
  refill(table, head, ...lines);
  const buttons = [...table.querySelectorAll("button")];
  const first = buttons.find((button) => button.classList.contains("chosen")) || buttons[0];
  if (first && !table.querySelector('button[tabindex="0"]')) first.tabIndex = 0;
  table.onkeydown = (event) => walkCells(table, event);
}

function oneCell(self, cell, { most, read, pick }) {
  const place = make("td");
  if (!cell) return place;
  const button = make("button", cell.chosen ? "chosen" : "", cell.value === null ? "" : brief(cell.value));
  button.type = "button";
  button.tabIndex = -1;
  button.style.background = cell.value === null ? "" : twoSided(cell.value / most);
  button.setAttribute("aria-label", `${cell.title}${cell.value === null ? "" : `: ${signed(cell.value)}`}`);
  if (cell.testid) button.dataset.testid = cell.testid;
  button.onfocus = () => read(cell);
  whenPointed(button, button.onfocus, () => read(null));
  if (cell.head >= 0) button.onclick = () => pick(cell);
  place.append(button);
  return place;
}

function walkCells(table, event) {
  const by = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
  const here = event.target.closest("td");
  if (!by || !here) return;
  event.preventDefault();
  let [row, column] = [here.parentElement.rowIndex, here.cellIndex];
  for (;;) {
    row += by[0];
    column += by[1];
    const cell = table.rows[row]?.cells[column];
    if (!cell || column < 1) return;
    const next = cell.querySelector("button");
    if (!next) continue;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    return next.focus();
  }
}

/** A list of the largest numbers as bars from zero, which stands where there is room. `entries` are { title, value, pick? }. */
function drawRanked(list, entries) {
  const values = entries.filter(({ total }) => !total).map(({ value }) => value);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const zero = (100 * -low) / (high - low || 1);
  list.style.setProperty("--zero", `${zero}%`);
  const items = entries.map(({ title, value, pick, total }) => {
    const item = make("li", total ? "total" : "");
    const name = pick ? make("button", "name", title) : make("span", "name", title);
    if (pick) {
      name.type = "button";
      name.onclick = pick;
    }
    const track = make("span", "track");
    const bar = make("i", value < 0 ? "minus" : "plus");
    bar.style.width = `${(100 * Math.abs(value)) / (high - low || 1)}%`;
    if (!total) track.append(bar);
    item.append(name, track, make("output", "", signed(value)));
    return item;
  });
  refill(list, ...items);
}
