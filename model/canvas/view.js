// The picture of the chosen heads as numbers: out of the grid's own bytes at once, exact as soon as the server has it.
//
// A view has `rows` and `columns` ({ names, tokens }), `numbers` (NaN where attending is forbidden), `each` (the same for
// every collected head), the ends `low` and `high` of its scale, and `said`: every rule by which it was made.

const FORBIDDEN = 0;
const SHOWN = 1;
const LEFT_OUT = 2;
const PASSING = 40; // milliseconds; a head that somebody walks past is not asked about
const MOST_EACH = 16; // heads whose lines can still be told apart

/** The question of the view that is chosen; only what matters to it, so that equal ones are asked once. */
function viewQuestion(self) {
  const { choice } = self;
  const grid = currentGrid(self);
  const kind = kindOf(self);
  const asked = { attention: grid.name, view: choice.view };
  if (choice.heads.length > 1) Object.assign(asked, { heads: chosenHeads(self).map(headName), rule: choice.rule });
  else [asked.layer, asked.head] = chosenHeads(self)[0];
  if (choice.hide) Object.assign(asked, { hide: choice.hide, rest: choice.rest });
  if (kind.additive && choice.unit !== "tokens") asked.unit = choice.unit;
  if (kind.additive && choice.mass < 100) asked.mass = choice.mass;
  if (grid.pairs && choice.pair) asked.pair = choice.pair;
  if (choice.window && choice.picture === "map") asked.window = choice.window;
  if (choice.view === "head") asked.versus = choice.versus;
  if (choice.view === "text") asked.other = choice.other;
  if (choice.view === "gradient") Object.assign(asked, { query: choice.query, target: choice.target });
  if (asked.heads && choice.picture === "lines") asked.each = true;
  return asked;
}

function kindOf(self) {
  return self.kinds.find((kind) => kind.name === self.choice.view) || self.kinds[0];
}

/** Whether the grid's bytes already say what is asked for. */
function isPlain(self, asked) {
  return !currentGrid(self).pending && asked.view === "weights" && !["hide", "unit", "mass", "pair", "window"].some((name) => name in asked);
}

/** The view to paint now. What the server alone can tell leaves the last one on the screen until it is here. */
function currentView(self) {
  const asked = viewQuestion(self);
  const plain = isPlain(self, asked);
  const found = wanted(self, "view", asked, plain ? PASSING : 0);
  self.trouble = found?.meta.error || "";
  self.late = !found && !plain && Boolean(self.shown);
  if (found && !found.meta.error) return (self.shown = found.view ??= exactView(self, found));
  if (!self.late) self.shown = bytesView(self);
  return self.shown;
}

function exactView(self, found) {
  const { rows, columns, each, signed, scale, low, high, said } = found.meta;
  const cells = rows.names.length * columns.names.length;
  const all = found.numbers;
  return named({
    rows, columns, signed, scale, low, high, said, exact: true, kind: kindOf(self),
    height: rows.names.length, width: columns.names.length, numbers: all.subarray(0, cells),
    each: Array.from({ length: each }, (_, head) => all.subarray((head + 1) * cells, (head + 2) * cells)),
    states: new Uint8Array(all.buffer, all.byteOffset + 4 * cells * (each + 1), cells),
  });
}

/** The weights as the grid's bytes have them: each a byte, and the largest of a block where the text is long. */
function bytesView(self) {
  const grid = currentGrid(self);
  const heads = chosenHeads(self);
  const [height, width] = grid.cells;
  const each = heads.map(([layer, head]) => Float32Array.from(codesOf(self, grid, layer, head), (code) => WEIGHT[code]));
  const axis = (tokens) => ({ names: tokens.map((token) => token.piece), tokens: tokens.map((_, place) => [place]) });
  const rule = `${self.choice.rule} of ${heads.length} heads`;
  return named({
    rows: axis(queryTokens(self)), columns: axis(keyTokens(self)), height, width, each,
    numbers: each.length > 1 ? together(each, self.choice.rule) : each[0],
    signed: false, scale: "share", low: 0, high: 1, exact: false, kind: self.kinds[0],
    said: [self.kinds[0].about, ...(heads.length > 1 ? [rule] : [])],
  });
}

function together(each, rule) {
  return each[0].map((_, cell) => {
    const seen = each.map((numbers) => numbers[cell]).filter((number) => !Number.isNaN(number));
    if (!seen.length) return NaN;
    return rule === "mean" ? seen.reduce((sum, number) => sum + number, 0) / each.length : Math.max(...seen);
  });
}

/** The view with an index from a token's position to its row and to its column. */
function named(view) {
  const index = (axis) => new Map(axis.tokens.flatMap((places, line) => places.map((place) => [place, line])));
  return { ...view, rowOf: index(view.rows), columnOf: index(view.columns) };
}

/** Where the number of a row and a column stands. */
function cellAt(view, row, column) {
  const { height, width, rows, columns } = view;
  const down = height === rows.names.length ? row : Math.min(Math.floor((row * height) / rows.names.length), height - 1);
  const right = width === columns.names.length ? column : Math.min(Math.floor((column * width) / columns.names.length), width - 1);
  return down * width + right;
}

function numberAt(view, row, column, numbers = view.numbers) {
  return numbers[cellAt(view, row, column)];
}

function stateAt(view, row, column) {
  const cell = cellAt(view, row, column);
  if (view.states) return view.states[cell];
  return Number.isNaN(view.numbers[cell]) ? FORBIDDEN : SHOWN;
}

/** How far along the scale a number lies, from 0 to 1. */
function shareOf(view, number) {
  const share = Math.min(Math.max((number - view.low) / (view.high - view.low || 1), 0), 1);
  return view.signed || view.scale === "linear" ? share : Math.sqrt(share);
}

/** How much a number matters, from 0 to 1: what lines and tokens are drawn by. */
function strengthOf(view, number) {
  if (!Number.isFinite(number)) return 0;
  return view.signed ? Math.min(Math.abs(number) / (view.high || 1), 1) : Math.min(Math.max((number - view.low) / (view.high - view.low || 1), 0), 1);
}

/** One byte for each cell, as the colours have them; nothing for what is not shown. */
function codesOfView(view) {
  view.codes ??= Uint8Array.from(view.numbers, (number, cell) => {
    const state = view.states ? view.states[cell] : Number.isNaN(number) ? FORBIDDEN : SHOWN;
    return state === SHOWN ? 1 + Math.round(254 * shareOf(view, number)) : 0;
  });
  return view.codes;
}

/** The sum over some rows, column by column; NaN where none of them may look. */
function summed(view, rows) {
  return view.columns.names.map((_, column) => {
    let [sum, seen] = [0, false];
    for (const row of rows) {
      if (stateAt(view, row, column) !== SHOWN) continue;
      sum += numberAt(view, row, column);
      seen = true;
    }
    return seen ? sum : NaN;
  });
}

/** A number of the view as a reader wants it; approximate while only its byte is here. */
function numberText(view, number, places = 5) {
  if (!Number.isFinite(number)) return "–";
  if (!view.exact) return `≈ ${number.toFixed(2)}`;
  const size = Math.abs(number);
  const digits = size >= 10 ** -places * 5 || size === 0 ? size.toFixed(view.scale === "linear" && !view.signed ? 4 : places) : size.toExponential(1);
  return `${number < 0 ? "−" : view.signed ? "+" : ""}${digits}`;
}
