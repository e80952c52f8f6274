// Views on the screen, as figures and as numbers, all from the same description.

import assert from "node:assert/strict";
import { test } from "node:test";
import "../dom.js";

/** @import { AlignmentView, BarsView, ChangesView, ChoiceView, FlowView, HeatMapView, InputView, LinesView, MatrixView, Pick, SpansView, StripsView, TableView, TokenPlace, TokensView, TreeNode, TreeView, View } from "../../../app/headlight_app/ui/frontend/views/types.ts" */

const { createRows } = await import("../../../app/headlight_app/ui/frontend/views/rows.ts");
const { drawViews } = await import("../../../app/headlight_app/ui/frontend/views/export/figures.ts");
const { survivors } = await import("../../../app/headlight_app/ui/frontend/views/graphs/tree.ts");
const { markPlaces } = await import("../../../app/headlight_app/ui/frontend/views/tokens/places.ts");
const { markAlignments } = await import("../../../app/headlight_app/ui/frontend/views/tokens/alignment.ts");
const { createElement } = await import("../../../app/headlight_app/ui/frontend/dom/dom.ts");
const { drawControl } = await import("../../../app/headlight_app/ui/frontend/views/controls.ts");
const { tablesOf } = await import("../../../app/headlight_app/ui/frontend/views/export/tables.ts");

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
  from_zero: true,
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
  is_compact: false,
  high: null,
  digits: 0,
  as_percent: false,
  is_signed: false,
  missing: "NaN",
  chosen_as: "",
  texts: [],
  picks: [],
  action: "",
  marked: 1,
  marked_as: "",
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
      ["total", "+1.00"],
      ["marked", "−1.00"],
      ["", "+0.50"],
      ["total", "+0.50"],
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
  for (const text of ["With", "direct", "−1.00", "+0.50"]) assert.ok(texts.includes(text), text);
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

test("compact bars are chosen by a click or by the arrow keys, and a button may do what a pick does", () => {
  /** @type {Pick[]} */
  const chosen = [];
  const picks = {
    choose: (/** @type {Pick} */ pick) => chosen.push(pick),
    isChosen: (/** @type {Pick} */ { token }) => token === 2,
  };
  /** @type {BarsView} */
  const compact = {
    ...{ ...BARS, is_compact: true, compared: "before", as_percent: true, high: 1, marked: 0, marked_as: "sampled" },
    chosen_as: "taken",
    series: { before: [0.7, 0.3], after: [1, 0] },
    texts: ["", "filtered out"],
    picks: [{ token: 1 }, { token: 2 }],
  };
  const draw = (/** @type {View} */ view) => {
    document.body.replaceChildren(...createRows(rowsOf(view), { width: 800, picks }, { isOpen: false }));
    return [...document.querySelectorAll("button")];
  };
  const [the, cat] = draw(compact);
  assert.equal(the.ariaLabel, "the: before 70.0 %, after 100.0 %, sampled");
  assert.equal(cat.ariaLabel, "cat: before 30.0 %, after filtered out, taken");
  assert.equal(cat.title, "before 0.3, after 0");
  assert.deepEqual([the.ariaPressed, cat.ariaPressed], ["false", "true"]);
  assert.deepEqual(
    [...document.querySelectorAll("li")].map(({ textContent }) => textContent),
    ["the100.0 %sampled", "catfiltered outtaken"],
  );
  assert.deepEqual(
    [...document.querySelectorAll("li")].map(({ className }) => className),
    ["", "cut chosen"],
  );
  const hidden = [...document.querySelectorAll("i.bar")].map((bar) => /** @type {HTMLElement} */ (bar).hidden);
  assert.deepEqual(hidden, [false, true], "a share of 0 has no bar");
  the.focus();
  the.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", cancelable: true }));
  assert.equal(document.activeElement, cat);
  cat.click();
  const [remove, ...others] = draw({ ...compact, is_compact: false, picks: [{ token: 1 }, {}], action: "Delete" });
  assert.equal(remove.ariaLabel, "Delete the");
  assert.equal(others.length, 0);
  remove.click();
  assert.deepEqual(chosen, [{ token: 2 }, { token: 1 }]);
});

test("strips have parts side by side in the colours of their groups", () => {
  /** @type {StripsView} */
  const strips = {
    ...{ ...PLAIN, kind: "strips", title: "Cache", labels: ["layer 0"], high: 4, ends: ["token 0", "token 3"], at: 1 },
    parts: [
      [
        [1, -1],
        [2, 0],
      ],
    ],
    group_titles: ["generated"],
    heights: [0.5],
  };
  const [row] = createRows(rowsOf(strips), { width: 800 }, { isOpen: false });
  const parts = /** @type {HTMLElement[]} */ ([...row.querySelectorAll(".strip i")]);
  assert.deepEqual(
    parts.map(({ style }) => [style.width, style.height]),
    [
      ["25%", "50%"],
      ["50%", "50%"],
    ],
  );
  assert.equal(/** @type {HTMLElement} */ (row.querySelector(".arrow")).style.left, "25%");
  assert.deepEqual(tablesOf(rowsOf(strips)), {});
  const spoken = (/** @type {View} */ view) => {
    const [shown] = createRows(rowsOf(view), { width: 800 }, { isOpen: false });
    return ["aria-hidden", "role", "aria-label"].map((name) => shown.querySelector(".strip-list")?.getAttribute(name));
  };
  assert.deepEqual(spoken(strips), ["true", null, null], "its title is read already");
  assert.deepEqual(spoken({ ...strips, title: "" }), [null, "img", "layer 0"]);
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
    ...{ marked: null, marked_as: "" },
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

test("two numbers of a label share a track, with their change, and one that is missing has a word", () => {
  /** @type {BarsView} */
  const pair = { ...BARS, series: { now: [0.25, 0.5], before: ["NaN", 0.75] }, compared: "before", as_percent: true };
  document.body.replaceChildren(
    ...createRows(rowsOf({ ...pair, high: 1, missing: "cannot", marked: null }), { width: 800 }, { isOpen: false }),
  );
  const lines = [...document.querySelectorAll("li")];
  assert.deepEqual(
    lines.map(({ textContent }) => textContent),
    ["thenow 25.0 %before cannot", "catnow 50.0 %before 75.0 %▼ 25.0"],
  );
  assert.deepEqual(
    lines.map((line) => line.querySelectorAll("i").length),
    [1, 2],
  );
  assert.equal(document.querySelector(".key-line")?.textContent, "nowbefore · ▲▼ in percentage points");
  const { shapes } = drawViews(rowsOf({ ...pair, missing: "cannot" }))(85, "Change").figure;
  assert.ok(shapes.some((shape) => shape.kind === "text" && shape.text === "cannot"));
  assert.ok(!JSON.stringify(shapes).includes("null"), "what is missing has no bar");
});

test("numbers from 0 have the colours of attention maps, up to the largest or to the least scale", () => {
  const colourOf = (/** @type {Partial<MatrixView>} */ more) => {
    const view = { ...MATRIX, colours: /** @type {const} */ ("sequential"), unit: "distance", ...more };
    document.body.replaceChildren(
      ...createRows(rowsOf({ ...view, scaled_by: "all", row_numbers: {} }), { width: 800 }, { isOpen: false }),
    );
    const cells = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("td[data-row]")]);
    return [
      document.querySelector(".heat")?.textContent,
      document.querySelector(".legend")?.textContent,
      ...cells.map(({ style }) => style.background),
    ];
  };
  const [numbers, words, lowest, half, none, highest] = colourOf({
    values: [
      [0, 0.25],
      ["NaN", 0.5],
    ],
  });
  assert.deepEqual([words, none], ["00.50distance", ""]);
  assert.match(numbers ?? "", /one·0\.25two0\.50/);
  assert.equal(new Set([lowest, half, highest]).size, 3);
  const zeros = [
    [0, 0],
    [0, 0],
  ];
  assert.deepEqual(colourOf({ values: zeros, least_scale: 0.25 }).slice(1, 3), ["00.25distance", lowest]);
});

test("in a figure a view without a title has the title and the text of its row", () => {
  const row = { ...rowsOf({ ...BARS, title: "" })[0], title: "Next token", text: "after \u2068“and”\u2069" };
  const texts = drawViews([row])(85, "All").figure.shapes.flatMap((shape) => (shape.kind === "text" ? shape.text : []));
  assert.deepEqual(texts.slice(0, 3), ["All", "Next token", "after \u2068“and”\u2069"]);
  const titled = drawViews([{ ...row, views: [BARS] }])(85, "All").figure.shapes;
  assert.ok(!JSON.stringify(titled).includes("Next token"));
});

test("what is quoted in a title is no formula", () => {
  const row = {
    ...rowsOf(BARS)[0],
    title: "W_Q of \u2068“d_k ”\u2069 and “x_i”",
    text: "<b> x_y is \u2068“a_b”\u2069",
  };
  document.body.replaceChildren(...createRows([row], { width: 800 }, { isOpen: false }));
  const [title, text] = [document.querySelector("h3"), document.querySelector("p.quiet")];
  assert.deepEqual(
    [title?.innerHTML, text?.querySelectorAll("b, sub").length],
    ["W<sub>Q</sub> of \u2068“d_k ”\u2069 and “x_i”", 1],
  );
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

/** @type {HeatMapView} */
const MAP = {
  ...{ ...PLAIN, kind: "heat_map", title: "Similarity", row_axis: "position", column_axis: "position" },
  ...{ values: [], rows: [], columns: [], colours: "sequential", low: 0.5, high: null },
  ...{ row_groups: 0, column_groups: 0, is_small: false },
};
/** @param {number} down @param {number} across @param {Partial<HeatMapView>} [more] @returns {HeatMapView} */
const mapOf = (down, across, more) => ({
  ...{ ...MAP, ...more },
  values: Array.from({ length: down }, () => Array(across).fill(0.5)),
});

/** The cells and the texts of a view on the screen. @param {View} view @param {number} width */
function onScreen(view, width) {
  document.body.replaceChildren(...createRows(rowsOf(view), { width }, { isOpen: false }));
  const sheet = /** @type {Element} */ (document.querySelector(".sheet-svg"));
  const [cells] = [...sheet.querySelectorAll("image")].map((image) => ({
    width: Number(image.getAttribute("width")),
    height: Number(image.getAttribute("height")),
  }));
  const texts = [...sheet.querySelectorAll("text")];
  const sizes = texts.map((text) => Number(text.getAttribute("font-size")));
  return { cells, texts: texts.map(({ textContent }) => textContent), sizes, sheet };
}

test("a map with equally long axes is a square, with names of its rows or without", () => {
  const names = Array.from({ length: 100 }, (_, place) => String(place - 50).replace("-", "−"));
  for (const more of [{}, { rows: names, columns: names }]) {
    const { cells, sizes } = onScreen(mapOf(100, 100, more), 300);
    assert.equal(cells.width, cells.height);
    assert.ok(cells.width > 150 && cells.height <= 210, "not taller than others of this width");
    assert.ok(sizes.every((size) => size >= 12));
  }
  const words = Array.from({ length: 16 }, () => "a long name ".repeat(12));
  const { cells } = onScreen(mapOf(16, 16, { rows: words, is_small: true }), 200);
  assert.equal(cells.width, cells.height);
});

test("a map with more columns than pixels is as wide as its place", () => {
  const { cells, sheet } = onScreen(mapOf(8, 1024), 400);
  assert.ok(cells.width > 300 && cells.width < 400);
  assert.ok(Number(sheet.getAttribute("viewBox")?.split(" ")[2]) <= 400);
});

test("few columns of many rows are together as wide as high, and other cells are not stretched", () => {
  const many = onScreen(mapOf(256, 16), 900).cells;
  assert.ok(Math.abs(many.width - many.height) < 1, `${many.width} × ${many.height}`);
  const few = onScreen(mapOf(6, 4), 900).cells;
  assert.deepEqual([few.width / 4, few.height / 6], [18, 18]);
});

test("of many numbers of a map's axes only round ones are written, of few all", () => {
  const { texts } = onScreen(mapOf(100, 100), 400);
  assert.deepEqual(texts.slice(0, 5), ["0", "20", "40", "60", "80"]);
  const names = Array.from({ length: 41 }, (_, place) => String(place - 20).replace("-", "−"));
  assert.ok(
    ["−20", "−10", "0", "10", "20"].every((name) =>
      onScreen(mapOf(41, 41, { rows: names, columns: names }), 400).texts.includes(name),
    ),
  );
  assert.deepEqual(onScreen(mapOf(4, 4), 400).texts.slice(0, 4), ["0", "1", "2", "3"]);
});

test("the colours of a map without signs go up to its largest number, or as far as the view says", () => {
  const values = [[-3, 0.5, 1, "NaN"]];
  const told = (/** @type {Partial<HeatMapView>} */ more) => {
    document.body.replaceChildren(
      ...createRows(rowsOf({ ...MAP, values, ...more }), { width: 400 }, { isOpen: false }),
    );
    return document.querySelector(".readout")?.textContent;
  };
  assert.equal(told({ low: -3 }), "from −3 to 1");
  assert.equal(told({ low: 0, high: 2 }), "from 0 to 2");
  assert.equal(told({ colours: "signed" }), "from −3 to 3");
});

test("lines are drawn at the width of their place, with texts that are not scaled", () => {
  const widths = [300, 700].flatMap((width) =>
    [false, true].map((isPage) => {
      document.body.replaceChildren(...createRows(rowsOf(LINES), { width, isPage }, { isOpen: false }));
      return Number(document.querySelector(".sheet-svg")?.getAttribute("viewBox")?.split(" ")[2]);
    }),
  );
  assert.deepEqual(widths, [300, 300, 420, 700], "beside others less wide than in a panel");
  assert.ok(onScreen(LINES, 300).sizes.every((size) => size >= 12));
});

test("the axis of lines includes zero only if it has to", () => {
  const high = { ...LINES, series: { one: [10, 11], two: [10.5, 11] } };
  assert.ok(onScreen(high, 400).texts.includes("0"));
  const free = onScreen({ ...high, x: [5, 6], from_zero: false }, 400).texts;
  assert.ok(free.includes("10") && !free.includes("0"));
});

test("the legend has the dashes of its lines: those that are named, and those in the colour of another", () => {
  const names = Array.from({ length: 10 }, (_, line) => `line ${line}`);
  const series = Object.fromEntries(names.map((name) => [name, [1, 2]]));
  const dashed = (/** @type {Partial<LinesView>} */ more) => {
    const { sheet } = onScreen({ ...LINES, series, broken: ["line 1"], ...more }, 400);
    const swatches = [...document.querySelectorAll(".swatch-line.broken")].map(
      (line) => line.parentElement?.textContent,
    );
    return [sheet.querySelectorAll("[stroke-dasharray]").length, swatches];
  };
  assert.deepEqual(dashed({}), [3, ["line 1", "line 8", "line 9"]]);
  assert.deepEqual(dashed({ strong: ["line 9", "line 1"] }), [1, ["line 1"]]);
});

test("the numbers of lines are read in their legend, beside the place", () => {
  const { sheet } = onScreen(LINES, 400);
  const read = () => [...document.querySelectorAll(".view-lines .legend > *")].map((entry) => entry.textContent);
  assert.deepEqual(read(), ["one", "two", ""]);
  sheet.dispatchEvent(new MouseEvent("mousemove", { clientX: 760, clientY: 9 }));
  assert.deepEqual(read(), ["one0.25", "two–", "tokens 1"]);
  document.querySelector(".view-lines .chart")?.dispatchEvent(new MouseEvent("mouseleave"));
  assert.deepEqual(read(), ["one", "two", ""]);
});

test("the number of one line alone is read with its place", () => {
  const { sheet } = onScreen({ ...LINES, series: { one: LINES.series.one } }, 400);
  sheet.dispatchEvent(new MouseEvent("mousemove", { clientX: 760, clientY: 9 }));
  assert.equal(document.querySelector(".view-lines .legend")?.textContent, "tokens 1: 0.25");
});

test("two rows with equal controls are two, and a row's text comes and goes", () => {
  const kept = { isOpen: false, controls: new Map(), drawn: new WeakMap() };
  const draw = (/** @type {string[]} */ ...texts) => {
    const rows = texts.map((text) => ({ ...rowsOf({ ...CHOICE })[0], text }));
    document.body.replaceChildren(...createRows(rows, { width: 800 }, kept));
    return [...document.querySelectorAll(".view-row")].map((row) => row.querySelector("p")?.textContent);
  };
  assert.deepEqual(draw("", "why"), [undefined, "why"]);
  const [, second] = document.querySelectorAll("select");
  assert.deepEqual(draw("now", ""), ["now", undefined]);
  assert.equal(document.querySelectorAll("select")[1], second);
  assert.equal(document.querySelector(".view-row")?.firstElementChild?.textContent, "now", "above the views");
});

test("on a page of its own rows and views have headings", () => {
  const rows = [{ ...rowsOf(LINES)[0], title: "What each is worth" }];
  const headings = (/** @type {boolean} */ isPage) => {
    document.body.replaceChildren(...createRows(rows, { width: 800, isPage }, { isOpen: false }));
    return [...document.querySelectorAll("h2, h3")].map(({ localName, textContent }) => [localName, textContent]);
  };
  assert.deepEqual(headings(false), [["h3", "What each is worth"]]);
  assert.deepEqual(headings(true), [
    ["h2", "What each is worth"],
    ["h3", LINES.title],
  ]);
});

/** @type {TableView} */
const TABLE = {
  ...{ ...PLAIN, kind: "table", title: "Losses", columns: ["model", "loss"], digits: 4, addresses: [], picks: [] },
  ...{
    rows: [
      ["one", 1],
      ["two", 2],
    ],
    marked: 1,
    marked_as: "open now",
  },
};

test("the marked row of a table says why", () => {
  document.body.replaceChildren(...createRows(rowsOf(TABLE), { width: 800 }, { isOpen: false }));
  const rows = [...document.querySelectorAll("tr.marked th")].map(({ textContent }) => textContent);
  assert.deepEqual(rows, ["two open now"]);
  const texts = drawViews(rowsOf(TABLE))(85, "").figure.shapes.flatMap((shape) =>
    "text" in shape ? [shape.text] : [],
  );
  assert.ok(texts.includes("two   loss 2"), "only on the screen");
});

test("a table is a stop of the tab key while it is wider than its place", ({ mock }) => {
  let wide = 900;
  let resized = () => {};
  mock.property(
    globalThis,
    "ResizeObserver",
    class {
      /** @param {ResizeObserverCallback} callback */
      constructor(callback) {
        resized = () => callback([], this);
      }
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
  document.body.replaceChildren(...createRows(rowsOf(TABLE), { width: 800 }, { isOpen: false }));
  const frame = /** @type {HTMLElement} */ (document.querySelector(".scroll"));
  Object.defineProperty(frame, "scrollWidth", { get: () => wide });
  const told = () => ["tabindex", "role", "aria-label"].map((name) => frame.getAttribute(name));
  resized();
  assert.deepEqual(told(), ["0", "region", "Losses"]);
  wide = 800;
  resized();
  assert.deepEqual(told(), [null, null, null]);
});

test("a slider is as long whatever it says", () => {
  const place = createElement("div");
  const slider = { ...CHOICE, form: /** @type {const} */ ("slider"), options: ["1", "1000"] };
  drawControl(place, slider, { choose: () => {}, isChosen: () => false });
  assert.equal(place.querySelector("output")?.style.minWidth, "4ch");
});
