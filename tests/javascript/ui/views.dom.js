// Views on the screen, as figures and as numbers, all from the same description.

import assert from "node:assert/strict";
import { test } from "node:test";
import "../dom.js";

/** @import { AlignmentView, BarsView, ChangesView, ChoiceView, FlowView, InputView, LinesView, MatrixView, Pick, SpansView, TokenPlace, TokensView, TreeNode, TreeView, View } from "../../../app/headlight_app/ui/frontend/views/types.js" */

const { createRows } = await import("../../../app/headlight_app/ui/frontend/views/rows.js");
const { drawViews } = await import("../../../app/headlight_app/ui/frontend/views/export/figures.js");
const { survivors } = await import("../../../app/headlight_app/ui/frontend/views/graphs/tree.js");
const { markPlaces } = await import("../../../app/headlight_app/ui/frontend/views/tokens/places.js");
const { markAlignments } = await import("../../../app/headlight_app/ui/frontend/views/tokens/alignment.js");
const { createElement } = await import("../../../app/headlight_app/ui/frontend/dom/dom.js");
const { drawControl } = await import("../../../app/headlight_app/ui/frontend/views/controls.js");
const { tablesOf } = await import("../../../app/headlight_app/ui/frontend/views/export/tables.js");

const PLAIN = { note: "", before: "", tables: null };
/** @type {MatrixView} */
const MATRIX = {
  ...PLAIN,
  kind: "matrix",
  title: "Scores",
  note: "Each row is a ranking.",
  values: [
    [0.5, -1],
    ["NaN", 0.004],
  ],
  rows: ["one", "two"],
  columns: [" cat", "sat"],
  row_axis: "",
  column_axis: "",
  colours: "signed",
  unit: "",
  scaled_by: "row",
  least_scale: 0,
  row_sums: false,
  row_numbers: { area: [0.25, 0.75] },
  marked: [],
  crossed: null,
  digits: null,
  texts: [],
  cell_notes: [],
  titles: [],
  details: [],
  row_notes: ["a paper", ""],
  picks: [
    [
      { layer: 0, head: 3 },
      { layer: 0, head: 4 },
    ],
    [
      { layer: 1, head: 3 },
      { layer: 1, head: 4 },
    ],
  ],
  row_picks: [],
  column_picks: [],
};
/** @type {ChoiceView} */
const CHOICE = {
  ...PLAIN,
  kind: "choice",
  title: "put in place",
  options: ["heads", "queries"],
  picks: [{ patch: "heads" }, { patch: "q" }],
  form: "select",
  chosen: null,
};
/** @type {InputView} */
const INPUT = {
  ...PLAIN,
  kind: "input",
  title: "from",
  field: "patch_from",
  text: "",
  placeholder: "another text",
  live: false,
};
/** @type {LinesView} */
const LINES = {
  ...PLAIN,
  kind: "lines",
  title: "Deletion: low is faithful",
  x: [0, 1],
  series: { one: [0.5, 0.25], two: [0.5, "NaN"] },
  x_title: "tokens",
  y_title: "probability",
  series_title: "ranking",
  x_labels: [],
  broken: ["two"],
  strong: [],
  log_x: false,
  log_y: false,
};
/** @type {FlowView} */
const FLOW = {
  ...{ ...PLAIN, kind: "flow", title: "What flows", note: "2 shares", end: 1, end_text: "on 50 %" },
  columns: ["The", "sat"],
  rows: ["emb.", "L0"],
  tokens: [
    ["source", 0],
    ["text", 2],
  ],
  kinds: {
    cross: { form: "second line", words: "Layer {row}: {target} takes {share} from {source} ({note})" },
    residual: { form: "stream", words: "Layer {row}: {target} keeps {share}" },
  },
  edges: [
    ["cross", 0, 0, 1, 0.4, "head 1 25.0 %", { layer: 0, head: 1 }],
    ["residual", 0, 1, 1, 0.5, "", {}],
  ],
};
/** @type {BarsView} */
const BARS = {
  ...PLAIN,
  kind: "bars",
  title: "Letters",
  labels: ["the", "cat"],
  series: { letters: [3, 3] },
  compared: "",
  high: null,
  digits: 0,
  as_percent: false,
  picks: [],
  marked: 1,
};
/** @type {TokensView} */
const TOKENS = {
  ...{ ...PLAIN, kind: "tokens", title: "Each token", note: "Point at a token." },
  tokens: ["An", " dull"],
  shades: [-0.5, 1],
  labels: ["O", "PER"],
  below: ["90 %", "was O"],
  groups: [-1, 0],
  group_titles: ["PER: person"],
  details: ["O 90 %", "PER 60 %"],
  places: [
    ["text", 1],
    ["text", 2],
  ],
  picks: [{ query: 1 }, { query: 2 }],
  as_text: false,
};
/** @type {TreeView} */
const TREE = {
  ...{ ...PLAIN, kind: "tree", title: "The tree of beams" },
  steps: [
    [
      [0, "on"],
      [0, "one"],
    ],
    [
      [1, "two"],
      [0, ""],
    ],
  ],
};

/** @type {ChangesView} */
const CHANGES = {
  ...PLAIN,
  kind: "changes",
  title: "From 1 to 0.5",
  parts: [
    ["direct", -1],
    ["response", 0.5],
  ],
  start: ["With", 1],
  end: ["Without", 0.5],
  picks: [{}, { layer: 2, heads: [] }],
  marked: 0,
};

/** @param {View[]} views */
const rowsOf = (...views) => views.map((view) => ({ title: "", text: "", folded: false, views: [view] }));

/** @param {MatrixView} matrix @param {(pick: Pick) => void} choose */
function shown(matrix, choose = () => {}) {
  const isChosen = (/** @type {Pick} */ pick) => pick.layer === 1 && pick.head === 4;
  document.body.replaceChildren(
    ...createRows(rowsOf(matrix), { width: 800, picks: { choose, isChosen } }, { isOpen: false }),
  );
  return /** @type {HTMLButtonElement[]} */ ([...document.querySelectorAll("td button")]);
}

const noteText = () => document.querySelector("[data-testid=view-note]")?.textContent;

test("a cell chooses what its row and its column stand for, and the chosen one is the stop of the tab key", () => {
  /** @type {Pick[]} */
  const picked = [];
  const cells = shown(MATRIX, (pick) => picked.push(pick));
  assert.deepEqual(
    cells.map((cell) => [cell.textContent, cell.className, cell.tabIndex]),
    [
      ["+0.50", "", -1],
      ["−1.00", "", -1],
      ["", "", -1],
      ["+0.0040", "chosen", 0],
    ],
  );
  cells[1].click();
  assert.deepEqual(picked, [{ layer: 0, head: 4 }]);
  cells[3].focus();
  cells[3].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp", bubbles: true }));
  assert.equal(document.activeElement, cells[1]);
});

test("the note tells the cell with the focus or under the pointer, with the source of its row", () => {
  const cells = shown(MATRIX);
  assert.equal(noteText(), "Each row is a ranking.");
  cells[0].focus();
  assert.equal(noteText(), "one, \u2068“cat”\u2069: +0.5 (a paper)");
  cells[3].dispatchEvent(new MouseEvent("mousemove", { bubbles: true }));
  assert.equal(noteText(), "two, \u2068“sat”\u2069: +0.004");
  assert.equal(cells[3].ariaLabel, "two, \u2068“sat”\u2069: +0.004");
  document.querySelector("table")?.dispatchEvent(new MouseEvent("mouseleave"));
  assert.equal(noteText(), "Each row is a ranking.");
  const texts = {
    texts: [
      ["3 · 5\n60 %", ""],
      ["", ""],
    ],
    details: [
      ["expert 3 × 0.6", ""],
      ["", ""],
    ],
  };
  const [first] = shown({ ...MATRIX, ...texts, colours: "groups" });
  assert.equal(first.textContent, "3 · 5\n60 %");
  first.focus();
  assert.equal(noteText(), "one, \u2068“cat”\u2069: expert 3 × 0.6 (a paper)");
});

test("a matrix without picks has no buttons, and the exact number of a cell", () => {
  const cells = shown({ ...MATRIX, picks: [], column_picks: [], row_notes: [], digits: 2 });
  assert.deepEqual(cells, []);
  const places = [...document.querySelectorAll("td[data-row]")];
  assert.deepEqual(
    places.map((cell) => [cell.textContent, /** @type {HTMLElement} */ (cell).title]),
    [
      ["0.50", "0.5"],
      ["−1", "-1"],
      ["NaN", "NaN"],
      ["0.00", "0.004"],
    ],
  );
});

test("each change begins where the previous one ended, and opens its part", () => {
  /** @type {Pick[]} */
  const picked = [];
  const picks = { choose: (/** @type {Pick} */ pick) => picked.push(pick), isChosen: () => false };
  document.body.replaceChildren(...createRows(rowsOf(CHANGES), { width: 800, picks }, { isOpen: false }));
  const items = [...document.querySelectorAll(".view-changes li")];
  assert.deepEqual(
    items.map((item) => [item.className, item.querySelector("output")?.textContent]),
    [
      ["total", "+1"],
      ["marked", "−1"],
      ["", "+0.5"],
      ["total", "+0.5"],
    ],
  );
  const bars = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".view-changes i")]);
  assert.deepEqual(
    bars.map(({ className, style }) => [className, style.left, style.width]),
    [
      ["minus", "0%", "100%"],
      ["plus", "0%", "50%"],
    ],
  );
  const buttons = [...document.querySelectorAll("button")];
  assert.deepEqual(
    buttons.map((button) => button.textContent),
    ["response"],
  );
  buttons[0].click();
  assert.deepEqual(picked, [{ layer: 2, heads: [] }]);
  const { shapes } = drawViews(rowsOf(CHANGES))(85, "Change").figure;
  const texts = shapes.map((shape) => "text" in shape && shape.text);
  for (const text of ["With", "direct", "−1", "+0.5"]) assert.ok(texts.includes(text), text);
  const [down, up, ...totals] = shapes.filter((shape) => shape.kind === "rectangle" && shape.fill !== undefined);
  assert.ok(down.kind === "rectangle" && up.kind === "rectangle" && !totals.length, "a total has no bar");
  assert.ok(Math.abs(down.x - up.x) < 1e-9 && Math.abs(down.width - 2 * up.width) < 1e-9, "as on the screen");
  assert.deepEqual([...tablesOf(rowsOf(CHANGES))["From 1 to 0.5"].values], [-1, 0.5]);
});

test("tokens are read by pointer and keys, marked on the page, and chosen", () => {
  /** @type {Pick[]} */
  const picked = [];
  /** @type {(TokenPlace | null)[]} */
  const marked = [];
  const picks = {
    choose: (/** @type {Pick} */ pick) => picked.push(pick),
    isChosen: (/** @type {Pick} */ pick) => pick.query === 2,
  };
  const surroundings = { width: 800, picks, mark: (/** @type {TokenPlace | null} */ place) => marked.push(place) };
  document.body.replaceChildren(...createRows(rowsOf(TOKENS), surroundings, { isOpen: false }));
  const chips = /** @type {HTMLButtonElement[]} */ ([...document.querySelectorAll(".token-chips button")]);
  assert.deepEqual(
    chips.map((chip) => [chip.textContent, chip.tabIndex, chip.matches(".query"), chip.matches(".grouped")]),
    [
      ["AnO90 %", 0, false, false],
      ["·dullPERwas O", -1, true, true],
    ],
  );
  assert.ok(chips[0].classList.contains("minus"));
  assert.equal(document.querySelector(".kinds")?.textContent, "PER: person");
  chips[1].dispatchEvent(new MouseEvent("mousemove"));
  assert.equal(noteText(), "\u2068“dull”\u2069: PER 60 %");
  chips[1].dispatchEvent(new MouseEvent("mouseleave"));
  assert.equal(noteText(), "\u2068“dull”\u2069: PER 60 %", "the chosen one");
  assert.deepEqual(marked, [["text", 2], null]);
  assert.ok(document.querySelector("[data-testid=view-note]")?.matches(".pointed"), "read to whoever uses keys");
  markPlaces(document.body, "text", [1]);
  assert.equal(noteText(), "\u2068“An”\u2069: O 90 %", "a token that is pointed at elsewhere");
  markPlaces(document.body, "text", []);
  assert.equal(noteText(), "Point at a token.");
  chips[0].focus();
  chips[0].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  assert.equal(document.activeElement, chips[1]);
  chips[0].click();
  assert.deepEqual(picked, [{ query: 1 }]);
});

test("tokens that tell nothing have their words below them, too, and the names of their groups above", () => {
  document.body.replaceChildren(
    ...createRows(rowsOf({ ...TOKENS, details: [], picks: [] }), { width: 800 }, { isOpen: false }),
  );
  const words = [...document.querySelectorAll(".token-list li")].map((item) => item.textContent);
  assert.deepEqual(words, ["AnO90 %", "·dullPERwas O"]);
  assert.equal(document.querySelector(".kinds")?.textContent, "PER: person");
});

/** @type {AlignmentView} */
const ALIGNMENT = {
  ...{ ...PLAIN, kind: "alignment", title: "", note: "Weights: layer 1, head 0." },
  read: ["the", "dog"],
  answer: ["le", "chien"],
  weights: [
    [0.003, 0.997],
    [0.001, 0.002],
  ],
  verb: "looks at",
  lines: true,
  notes: ["", "not chat"],
  wrong: [1],
  written: null,
  read_places: [
    ["source", 0],
    ["source", 1],
  ],
  places: [
    ["text", 0],
    ["text", 1],
  ],
  picks: [{ query: 0 }, { query: 1 }],
};

test("an answer beside what was read tells what each token looked at, and by which it was looked at", () => {
  /** @type {unknown[]} */
  const marked = [];
  const picks = { choose: () => {}, isChosen: () => false };
  const mark = (/** @type {unknown} */ query, /** @type {unknown} */ key) => marked.push([query, key]);
  document.body.replaceChildren(...createRows(rowsOf(ALIGNMENT), { width: 800, picks, mark }, { isOpen: false }));
  const [the, dog, le, chien] = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".two-sides .chip")]);
  assert.deepEqual([chien.matches(".wrong"), chien.textContent], [true, "chiennot chat"]);
  const told = (/** @type {HTMLElement} */ chip) => {
    chip.dispatchEvent(new MouseEvent("mousemove"));
    const words = noteText();
    chip.dispatchEvent(new MouseEvent("mouseleave"));
    return words;
  };
  assert.equal(told(le), "le looks at dog 99.7 %.");
  assert.equal(told(chien), "chien looks at no token with more than 0.5 %.");
  assert.equal(told(the), "the was hardly looked at.");
  assert.equal(told(dog), "dog was looked at for le 99.7 %.");
  assert.equal(noteText(), "Weights: layer 1, head 0.");
  assert.deepEqual(marked.at(-2), [null, ["source", 1]]);
  markAlignments(document.body, ["text", 0], null);
  assert.equal(noteText(), "le looks at dog 99.7 %.");
  markAlignments(document.body, null, null);
  assert.equal(noteText(), "Weights: layer 1, head 0.");
  const { figure } = drawViews(rowsOf(ALIGNMENT))(180, "Alignment");
  const texts = figure.shapes.flatMap((shape) => (shape.kind === "text" ? [shape.text] : []));
  for (const text of ["read", "answer", "the", "chien not chat"]) assert.ok(texts.includes(text), text);
  assert.equal(figure.shapes.filter((shape) => shape.kind === "curve").length, 1);
});

test("an alignment that is too large has no lines, and at last only its tokens", () => {
  const note = "Too many tokens for lines; the map below shows the weights.";
  const many = { ...ALIGNMENT, lines: false, note };
  document.body.replaceChildren(...createRows(rowsOf(many), { width: 800 }, { isOpen: false }));
  assert.equal(document.querySelector(".two-sides svg"), null);
  markAlignments(document.body, ["text", 0], null);
  assert.equal(noteText(), "le looks at dog 99.7 %.");
  const shapesOf = (/** @type {View} */ view) => drawViews(rowsOf(view))(180, "Alignment").figure.shapes;
  assert.deepEqual(
    shapesOf(many).filter((shape) => shape.kind === "curve"),
    [],
  );
  const without = { ...many, weights: [] };
  document.body.replaceChildren(...createRows(rowsOf(without), { width: 800 }, { isOpen: false }));
  markAlignments(document.body, ["text", 0], null);
  assert.equal(noteText(), note);
  const isSaid = (/** @type {View} */ view, /** @type {string} */ words) =>
    shapesOf(view).some((shape) => shape.kind === "text" && shape.text === words);
  assert.ok(isSaid(without, note), "their weights are nowhere");
  assert.ok(isSaid({ ...without, tables: {} }, "Too many tokens for a figure; the numbers have the weights."));
});

test("what is not written yet is hidden, and steps are taken one by one or by themselves", async () => {
  document.body.replaceChildren(...createRows(rowsOf({ ...ALIGNMENT, written: 1 }), { width: 800 }, { isOpen: false }));
  assert.equal(document.querySelectorAll(".chip.ahead").length, 1);
  /** @type {Pick[]} */
  const picked = [];
  /** @type {ChoiceView} */
  const steps = {
    ...{ ...PLAIN, kind: "choice", title: "Written so far", form: "steps", chosen: 1 },
    options: ["1 of 3", "2 of 3", "3"],
    picks: [{ query: 0 }, { query: 1 }, { query: 3 }],
  };
  const picks = { choose: (/** @type {Pick} */ pick) => picked.push(pick), isChosen: () => false };
  document.body.replaceChildren(...createRows(rowsOf(steps), { width: 800, picks }, { isOpen: false }));
  const [back, play, on] = document.querySelectorAll("button");
  assert.equal(document.querySelector(".steps")?.textContent, "◀Go on▶2 of 3");
  back.click();
  on.click();
  play.click();
  assert.deepEqual(picked, [{ query: 0 }, { query: 1 }, { query: 3 }], "each from the one before, drawn or not");
  play.click();
  assert.equal(play.textContent, "Go on");
});

test("steps are counted from the page's choice, not from the answer, and stop at another text", ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {ChoiceView} */
  const steps = {
    ...{ ...PLAIN, kind: "choice", title: "Written so far", form: "steps", chosen: 2 },
    options: ["1 of 3", "2 of 3", "3"],
    picks: [{ query: 0 }, { query: 1 }, { query: 3 }],
  };
  let [query, subject] = [3, "one text"];
  const picks = {
    choose: (/** @type {Pick} */ pick) => {
      query = Number(pick.query);
    },
    isChosen: (/** @type {Pick} */ pick) => pick.query === query,
    subject: () => subject,
  };
  const place = createElement("div");
  document.body.replaceChildren(place);
  const draw = () => drawControl(place, steps, picks);
  draw();
  const [back, play] = place.querySelectorAll("button");
  const goBack = () => {
    for (const _ of "ab") {
      back.click();
      draw(); // with the view of the earlier answer
    }
  };
  goBack();
  assert.deepEqual([query, place.querySelector("span")?.textContent], [0, "1 of 3"]);
  play.click();
  mock.timers.tick(700);
  assert.equal(query, 3);
  draw();
  goBack();
  play.click();
  assert.equal(query, 1);
  subject = "another text";
  mock.timers.tick(5000);
  assert.equal(query, 1);
});

test("spans have their places on the screen and in the figure", () => {
  /** @type {SpansView} */
  const spans = {
    ...{ ...PLAIN, kind: "spans", title: "When each token was heard", high: 4, unit: "s" },
    labels: ["a", "b"],
    spans: [
      [0, 1],
      [1, 3],
    ],
    places: [
      ["text", 0],
      ["text", 1],
    ],
    picks: [{ pinned: [0] }, { pinned: [1] }],
  };
  document.body.replaceChildren(...createRows(rowsOf(spans), { width: 800 }, { isOpen: false }));
  const bars = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".when i")]);
  assert.deepEqual(
    bars.map(({ style }) => [style.left, style.width]),
    [
      ["0%", "25%"],
      ["25%", "50%"],
    ],
  );
  markPlaces(document.body, "text", [1]);
  assert.equal(document.querySelector(".span-list .query")?.textContent, "b1.00–3.00 s");
  const { shapes } = drawViews(rowsOf(spans))(85, "Spans").figure;
  assert.ok(shapes.some((shape) => "text" in shape && shape.text === "1.00–3.00 s"));
  const [first, second] = shapes.filter((shape) => shape.kind === "rectangle" && shape.fill !== undefined).slice(-2);
  assert.ok(first.kind === "rectangle" && second.kind === "rectangle");
  assert.ok(Math.abs(second.x - first.x - first.width) < 1e-9 && Math.abs(second.width - 2 * first.width) < 1e-9);
});

test("the sums of rows are on the screen and in the figure", () => {
  const sums = {
    ...MATRIX,
    values: [[0.5, 0.25]],
    rows: ["one"],
    row_numbers: {},
    row_notes: [],
    picks: [],
    row_sums: true,
  };
  document.body.replaceChildren(...createRows(rowsOf(sums), { width: 800 }, { isOpen: false }));
  assert.equal(document.querySelector(".sum")?.textContent, "0.750");
  const { shapes } = drawViews(rowsOf(sums))(85, "Sums").figure;
  const texts = shapes.flatMap((shape) => (shape.kind === "text" ? [shape.text] : []));
  assert.ok(texts.includes("sum") && texts.includes("0.750"));
});

test("tokens, a tree and a table are in the figure", () => {
  /** @type {View} */
  const table = {
    ...PLAIN,
    kind: "table",
    title: "",
    columns: ["text", "score"],
    rows: [["one two", -0.5]],
    digits: 4,
    addresses: [],
    picks: [],
  };
  const { figure } = drawViews(rowsOf(TOKENS, TREE, table))(180, "All");
  const texts = figure.shapes.flatMap((shape) => (shape.kind === "text" ? [shape.text] : []));
  for (const text of ["dull", "PER", "was O", "PER: person", "on", "two", "one two   score −0.5"])
    assert.ok(texts.includes(text), text);
  assert.ok(figure.shapes.some((shape) => shape.kind === "curve"));
});

test("a tree distinguishes the way to the first of its ends, to others, and to none", () => {
  /** @type {(parent: number) => TreeNode} */
  const node = (parent) => [parent, "a"];
  const steps = [
    [node(0), node(0), node(0)],
    [node(1), node(0), node(1)],
    [node(0), node(2)],
  ];
  assert.deepEqual(survivors(steps), [
    ["", "best", ""],
    ["best", "", "kept"],
    ["best", "kept"],
  ]);
});

test("a bar that is marked, the least scale of colours, and a text that is live", () => {
  /** @type {Pick[]} */
  const picked = [];
  const picks = { choose: (/** @type {Pick} */ pick) => picked.push(pick), isChosen: () => false };
  const faint = { ...MATRIX, scaled_by: /** @type {const} */ ("all"), unit: "log odds", least_scale: 4 };
  const rows = rowsOf(BARS, faint, { ...INPUT, live: true });
  document.body.replaceChildren(...createRows(rows, { width: 800, picks }, { isOpen: false }));
  assert.equal(document.querySelector(".bar-label.marked")?.textContent, "cat");
  assert.match(document.querySelector(".view-matrix")?.textContent ?? "", /−4.*\+4/);
  const input = /** @type {HTMLInputElement} */ (document.querySelector(".view-input input"));
  input.value = "a";
  input.dispatchEvent(new Event("input"));
  assert.deepEqual(picked, [{ patch_from: "a" }]);
  const told = { ...MATRIX, picks: [], column_picks: [], row_notes: ["", ""] };
  const lone = { ...BARS, labels: ["stars"], series: { now: [0.0072] }, digits: null, marked: null };
  assert.equal(shown(told).length, 3, "cells that are told are reached by keys");
  document.body.replaceChildren(...createRows(rowsOf(lone), { width: 800 }, { isOpen: false }));
  assert.equal(document.querySelector(".bar-number")?.textContent, "0.0072");
  assert.equal(document.querySelectorAll(".bar-track i").length, 0, "nothing says how much a lone score is");
  const printed = drawViews(rowsOf(lone))(180, "Stars").figure.shapes;
  assert.ok(!printed.some((shape) => shape.kind === "rectangle"), "nor in a figure");
  assert.ok(printed.some((shape) => shape.kind === "text" && shape.text === "stars   0.0072"));
});

test("the figure has the texts and numbers of the screen", () => {
  const { figure, y } = drawViews(rowsOf(MATRIX, LINES, BARS))(180, "Rankings");
  const texts = figure.shapes.flatMap((shape) => (shape.kind === "text" ? [shape.text] : []));
  for (const text of [
    "Scores",
    "one",
    "cat",
    "+0.50",
    "−1.00",
    "0.25",
    "Deletion: low is faithful",
    "tokens",
    "Letters",
    "the",
    "3",
  ])
    assert.ok(texts.includes(text), text);
  assert.ok(y > 60 && figure.shapes.some((shape) => shape.kind === "polyline" && shape.dashed));
  assert.equal(drawViews(rowsOf())(85, "Nothing").figure.shapes.length > 0, true);
});

test("a figure explains its colours, notes each cell, and names a strong line among faint ones", () => {
  /** @type {MatrixView} */
  const lens = {
    ...MATRIX,
    ...{ colours: "shares", unit: "probability", row_numbers: {}, scaled_by: "all" },
    values: [
      [0.5, 0.25],
      ["NaN", "NaN"],
    ],
    texts: [
      ["sat", "ran"],
      ["?", "?"],
    ],
    cell_notes: [["#1", "#2"]],
    marked: [[0, 1]],
  };
  const norms = { ...LINES, strong: ["two"], x_labels: ["emb.", "L0"], broken: [], x_title: "" };
  const { figure } = drawViews(rowsOf(lens, norms))(180, "Lens");
  const texts = figure.shapes.flatMap((shape) => (shape.kind === "text" ? [shape.text] : []));
  for (const text of ["sat", "#1", "ran", "#2", "?", "emb.", "L0"]) assert.ok(texts.includes(text), text);
  assert.ok(texts.some((text) => /^1 +probability, on a square-root scale$/.test(text)));
  const lines = figure.shapes.flatMap((shape) => (shape.kind === "polyline" && shape.opacity < 1 ? [shape] : []));
  assert.equal(lines.length, 1, "the line that is not strong is faint");
  assert.ok(!texts.includes("one") || texts.filter((text) => text === "one").length === 1, "no legend of faint lines");
});

test("a flow is a figure with its answer, and its edges are walked by keys on the screen", () => {
  const { figure } = drawViews(rowsOf(FLOW))(120, "Flow");
  const texts = figure.shapes.flatMap((shape) => (shape.kind === "text" ? [shape.text] : []));
  for (const text of ["The (source)", "sat", "emb.", "L0", "on 50 %"]) assert.ok(texts.includes(text), text);
  assert.equal(figure.shapes.filter(({ kind }) => kind === "curve").length, 2);
  /** @type {unknown[]} */
  const heard = [];
  const picks = { choose: (/** @type {Pick} */ pick) => heard.push(pick), isChosen: () => false };
  const mark = (/** @type {unknown[]} */ ...tokens) => heard.push(tokens);
  document.body.replaceChildren(...createRows(rowsOf(FLOW), { width: 800, picks, mark }, { isOpen: false }));
  const graph = /** @type {HTMLElement} */ (document.querySelector("[data-testid=flow]"));
  const press = (/** @type {string} */ key) => graph.dispatchEvent(new KeyboardEvent("keydown", { key }));
  press("ArrowRight");
  assert.equal(
    noteText(),
    "Layer 0: \u2068“sat”\u2069 takes 40.0 % from \u2068“The”\u2069 of the source (head 1 25.0 %)",
  );
  press("Enter");
  graph.dispatchEvent(new MouseEvent("mouseleave"));
  assert.equal(noteText(), "2 shares");
  assert.deepEqual(heard, [
    [
      ["text", 2],
      ["source", 0],
    ],
    { layer: 0, head: 1 },
    [null],
  ]);
});

test("the name of a row chooses what the row stands for", () => {
  /** @type {Pick[]} */
  const picked = [];
  shown({ ...MATRIX, picks: [], row_picks: [{ layer: 3 }, {}] }, (pick) => picked.push(pick));
  const names = [...document.querySelectorAll("tbody th")].map((name) => name.querySelector("button"));
  assert.deepEqual(
    names.map((name) => name?.textContent),
    ["one", undefined],
  );
  names[0]?.click();
  assert.deepEqual(picked, [{ layer: 3 }]);
});

test("a cell that chooses nothing is read by the keyboard all the same, if it is told", () => {
  /** @type {Pick[]} */
  const picked = [];
  const cells = shown({ ...MATRIX, picks: [], column_picks: [{}, { query: 1 }] }, (pick) => picked.push(pick));
  assert.deepEqual(
    cells.map((cell) => [cell.textContent, cell.ariaDisabled]),
    [
      ["+0.50", "true"],
      ["−1.00", null],
      ["+0.0040", null],
    ],
  );
  cells[0].click();
  cells[1].click();
  assert.deepEqual(picked, [{ query: 1 }]);
});

test("the numbers of a view are those that are shown, unless it names others", () => {
  const tables = tablesOf(rowsOf(MATRIX, LINES, BARS));
  assert.deepEqual(Object.keys(tables), ["Scores", "Deletion: low is faithful", "Letters"]);
  assert.deepEqual(tables.Scores.axes, ["row", "column"]);
  assert.deepEqual(tables.Scores.labels, [
    ["one", "two"],
    [" cat", "sat"],
  ]);
  assert.deepEqual([...tables.Scores.values], [0.5, -1, NaN, Math.fround(0.004)]);
  assert.deepEqual(
    [tables["Deletion: low is faithful"].axes, [...tables["Deletion: low is faithful"].values]],
    [
      ["ranking", "tokens"],
      [0.5, 0.25, 0.5, NaN],
    ],
  );
  assert.deepEqual(tables.Letters.labels, [["letters"], ["the", "cat"]]);
  for (const { name } of Object.values(tables)) assert.match(name, /^[A-Za-z0-9 _-]{1,80}$/); // as the server asks
  const untitled = { ...MATRIX, title: "" };
  assert.deepEqual(Object.keys(tablesOf(rowsOf(untitled, untitled))), ["Numbers", "Numbers (2)"]);
  const own = { Areas: { axes: { ranking: ["one", "two"] }, values: [0.25, 0.75] } };
  const named = tablesOf(rowsOf({ ...MATRIX, tables: own }));
  assert.deepEqual([Object.keys(named), [...named.Areas.values]], [["Areas"], [0.25, 0.75]]);
});

test("a row is drawn again only if it or what is chosen has changed, and controls never", () => {
  const rows = [...rowsOf(MATRIX), ...rowsOf({ ...CHOICE }, { ...INPUT })];
  const kept = { isOpen: false, controls: new Map(), drawn: new WeakMap(), key: "layer 0" };
  const picks = { choose: () => {}, isChosen: (/** @type {Pick} */ pick) => pick.patch === "q" };
  const drawn = () => createRows(rows, { width: 800, picks }, kept);
  const [matrix, ...controls] = drawn();
  assert.deepEqual(drawn(), [matrix, ...controls]);
  kept.key = "layer 1";
  const [later, ...laterControls] = drawn();
  assert.notEqual(later, matrix);
  assert.deepEqual(laterControls, controls);
  assert.equal(controls[0].querySelector("select")?.value, "1");
});

test("controls choose, and show what is chosen; a text that is being typed stays", () => {
  /** @type {Pick[]} */
  const chosen = [];
  const picks = { choose: (/** @type {Pick} */ pick) => chosen.push(pick), isChosen: () => false };
  const kept = { isOpen: false, controls: new Map() };
  const slider = { ...CHOICE, form: /** @type {const} */ ("slider"), chosen: 0 };
  const draw = (/** @type {string} */ text) => {
    const rows = rowsOf({ ...INPUT, text }, slider, { ...CHOICE, form: "buttons" });
    document.body.replaceChildren(...createRows(rows, { width: 800, picks }, kept));
  };
  draw("The dog");
  const [typed, range] = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("input")]);
  assert.deepEqual([typed.value, range.value, range.ariaValueText], ["The dog", "0", "heads"]);
  typed.value = "The cat";
  typed.onchange?.(new Event("change"));
  range.value = "1";
  range.oninput?.(new InputEvent("input"));
  /** @type {HTMLElement} */ (document.querySelectorAll(".choices button")[1]).click();
  assert.deepEqual(chosen, [{ patch_from: "The cat" }, { patch: "q" }, { patch: "q" }]);
  assert.equal(range.ariaValueText, "queries");
  typed.focus();
  typed.value = "The cat is";
  draw("The cat");
  assert.equal(document.querySelector("input"), typed);
});
