// Views of each kind as figures for print: their texts are within the width, and apart.

import assert from "node:assert/strict";
import { test } from "node:test";
import "../dom.js";

/** @import { TextLine } from "../../../app/headlight_app/ui/frontend/export/contract.ts" */
/** @import { Shape } from "../../../app/headlight_app/ui/frontend/export/types.ts" */
/** @import { DiagramPart, ModelDiagramAnswer } from "../../../app/headlight_app/ui/frontend/model_diagram/types.ts" */
/** @import { View } from "../../../app/headlight_app/ui/frontend/views/types.ts" */

// Letters as wide as on paper, on average, so that texts have their room.
const context = {
  measureText: (/** @type {string} */ text) => ({ width: 55 * text.length }),
  ...{ scale: () => {}, fillText: () => {} },
};
Object.assign(HTMLCanvasElement.prototype, { getContext: () => context });
const { drawPanels, drawViews, hasFigure, isDrawn } = await import(
  "../../../app/headlight_app/ui/frontend/views/export/figures.ts"
);
const { saveFigure } = await import("../../../app/headlight_app/ui/frontend/export/figure_files.ts");
const { plainFormula } = await import("../../../app/headlight_app/ui/frontend/views/export/plain_formula.ts");
const { tablesOf } = await import("../../../app/headlight_app/ui/frontend/views/export/tables.ts");
const { createView } = await import("../../../app/headlight_app/ui/frontend/views/views.ts");

const WIDTHS = [85, 180]; // millimetres
const ASCENT = 0.75; // of a text, in font sizes
const PLAIN = { title: "", note: "", before: "", tables: null };
const NAMES = ["The", "cat", "sat", "on", "the", "mat"];

/** @param {string} kind @param {string[]} [details] @returns {DiagramPart} */
const part = (kind, details = ["detail"]) => ({ kind, title: `the ${kind}`, details, shape: [7, 16] });
const sublayer = { kind: "self", parts: [part("norm"), part("self")], added: true, norm: null, norm_on_stream: "" };
/** @type {ModelDiagramAnswer} */
const DIAGRAM = {
  stacks: [
    {
      ...{ name: "decoder", title: "Decoder", inputs: [part("input")], positions: null, after_positions: [] },
      ...{ layers: 2, layer: 0, parallel: false, outputs: [part("final_norm")], residual_shape: [7, 16] },
      sublayers: [/** @type {any} */ (sublayer)],
    },
  ],
  head: [part("output")],
};

/** A view of each kind that only a figure of its own draws, and what is written in it. @type {[View, string[]][]} */
const VIEWS = [
  [
    {
      ...{ ...PLAIN, kind: "points", title: "Near", groups: ["noun", "verb"], x_title: "first", y_title: "second" },
      points: NAMES.map((name, place) => [name, (place % 2) + place / 90, 1 + place / 40, place % 2]),
    },
    [...NAMES, "first", "second", "noun", "verb", "−1"],
  ],
  [
    {
      ...{ ...PLAIN, kind: "arrows", title: "Queries", groups: ["query", "key"] },
      arrows: NAMES.map((label, place) => ({ label, x: 1, y: place / 5, group: place % 2, shade: 1 })),
    },
    [...NAMES, "query", "key"],
  ],
  [
    {
      ...{
        ...PLAIN,
        kind: "moving_points",
        title: "Learned",
        labels: ["cat", "dog", "lost"],
        names: ["step 0", "step 9"],
      },
      frames: [
        [
          [1, 1],
          [-1, 1],
          [0, 0],
        ],
        [
          [0, 1],
          [-1, 0],
          ["NaN", 0],
        ],
      ],
      ...{ groups: [0, 1, 1], group_titles: ["pets", "others"] },
    },
    ["cat", "dog", "step 9", "pets", "others"],
  ],
  [
    {
      ...{ ...PLAIN, kind: "graph", title: "Neighbours", nodes: ["a", "b"], edges: [[0, 1]], marked: 0 },
      places: [
        [0, 0],
        [1, 0],
      ],
      shades: [0.25, 0.75],
    },
    ["a", "25 %", "b", "75 %"],
  ],
  [
    { ...PLAIN, kind: "model_diagram", title: "A decoder", diagram: DIAGRAM, enterable: false },
    ["the input", "Layer 0 of 0 to 1", "the self", "detail", "→ 7 × 16", "Layer 1", "the output"],
  ],
  [
    {
      ...{ ...PLAIN, kind: "claims", title: "Claims" },
      claims: [{ said: "It is so.", right: `It is not so. ${"It depends on much. ".repeat(9)}`, links: [] }],
    },
    ["What is said", "What is right", "“It is so.”"],
  ],
  [
    { ...PLAIN, kind: "equations", title: "By hand", lines: [String.raw`s = \frac{q \cdot k}{\sqrt{d_k}} = 0.5`] },
    ["s = (q · k)/√d_k = 0.5"],
  ],
  [
    { ...PLAIN, kind: "verdict", title: "", text: "All of \u2068them\u2069 agree.", good: true },
    ["✓ All of \u2068them\u2069 agree."],
  ],
  [
    {
      ...{ ...PLAIN, kind: "strips", title: "Cached", labels: ["layer 0", "layer 1"], high: 16, at: 9.5 },
      parts: [0, 1].map(() => [
        [5, 1],
        [3, 0],
      ]),
      ends: ["token 0", "token 15"],
      group_titles: ["generated", "prompt"],
      heights: [1, 0.5],
    },
    ["layer 0", "layer 1", "token 0", "token 15", "generated", "prompt"],
  ],
];

/** @param {View[]} views @param {number} width */
function drawn(views, width) {
  const { figure, y } = drawPanels(views.filter(hasFigure))(width, "");
  return { ...figure, y };
}

/** @param {Shape[]} shapes @returns {TextLine[]} */
const textsOf = (shapes) => shapes.flatMap((shape) => (shape.kind === "text" ? [shape] : []));

/** The ends of a text: left, top, right, bottom. @param {TextLine} text */
function endsOf({ x, y, size, anchor, text_width }) {
  const left = x - { start: 0, middle: 0.5, end: 1 }[anchor] * text_width;
  return [left, y - ASCENT * size, left + text_width, y];
}

/** The pairs of texts that cover each other. @param {TextLine[]} texts */
function coveringOf(texts) {
  return texts.flatMap((one, place) =>
    texts.slice(0, place).flatMap((other) => {
      const [[left, top, right, bottom], [from, above, to, below]] = [endsOf(one), endsOf(other)];
      return left < to && from < right && top < below && above < bottom ? [[one.text, other.text]] : [];
    }),
  );
}

for (const [view, words] of VIEWS)
  test(`a figure of the kind ${view.kind} has its texts, apart and within its width`, () => {
    for (const width of WIDTHS) {
      const { shapes, y } = drawn([view], width);
      const texts = textsOf(shapes);
      const found = texts.map(({ text }) => text);
      for (const text of [view.title, ...words].filter(Boolean)) assert.ok(found.includes(text), `${text} in ${found}`);
      assert.deepEqual(coveringOf(texts), [], `${width} mm`);
      for (const text of texts) {
        const [left, , right, bottom] = endsOf(text);
        assert.ok(left >= 0 && right <= width && bottom <= y, `${text.text} at ${width} mm`);
        assert.ok(text.size > 1.75, `${text.text} has 5 points or more`);
      }
      for (const shape of shapes)
        if ("points" in shape) assert.ok(shape.points.every((number) => number >= 0 && Number.isFinite(number)));
    }
  });

test("controls, sounds and files have no figure; a verdict among others is said in the caption", () => {
  for (const kind of ["choice", "input", "sound", "file"]) assert.ok(!hasFigure(/** @type {any} */ ({ kind })), kind);
  const views = VIEWS.map(([view]) => view);
  assert.ok(views.every(hasFigure));
  assert.deepEqual(
    views.filter((view) => !isDrawn(view)).map(({ kind }) => kind),
    ["verdict"],
  );
  const texts = textsOf(drawViews([{ views }])(85, "").figure.shapes).map(({ text }) => text);
  assert.ok(texts.includes("What is said") && !texts.some((text) => text.startsWith("✓")));
});

test("of moving points the last frame is in the figure, with the trails to it", () => {
  const [moving] = VIEWS.map(([view]) => view).filter(({ kind }) => kind === "moving_points");
  const { shapes } = drawn([moving], 85);
  const points = shapes.flatMap((shape) => (shape.kind === "circle" ? [[shape.x, shape.y]] : []));
  const trails = shapes.flatMap((shape) => (shape.kind === "polyline" && shape.opacity < 1 ? [shape.points] : []));
  assert.equal(points.length, 2, "a point without numbers is nowhere");
  assert.deepEqual(
    trails.map((trail) => trail.slice(-2)),
    points,
  );
});

test("the points of a figure are placed as on the screen", () => {
  const [[view]] = VIEWS;
  const sheet = createView(view, { width: 800 }).querySelector("svg");
  const shown = [...(sheet?.querySelectorAll("circle") ?? [])].map((circle) =>
    ["cx", "cy"].map((name) => Number(circle.getAttribute(name))),
  );
  const printed = drawn([view], 85).shapes.flatMap((shape) => (shape.kind === "circle" ? [[shape.x, shape.y]] : []));
  const scale = (printed[1][0] - printed[0][0]) / (shown[1][0] - shown[0][0]);
  assert.ok(scale > 0);
  assert.equal(shown.length, NAMES.length);
  printed.forEach((point, place) => {
    for (const axis of [0, 1]) {
      const reached = scale * (shown[place][axis] - shown[0][axis]);
      assert.ok(Math.abs(point[axis] - printed[0][axis] - reached) < 0.01);
    }
  });
});

const LONG = "a name that is much longer than the figure of which it is a part, and that is written on one line";

test("long names of points, arrows, groups and frames stay within the figure", () => {
  const [points, arrows, moving] = VIEWS.map(([view]) => /** @type {any} */ (view));
  const views = [
    { ...points, points: [[LONG, 1, 1, 0]], groups: [LONG, LONG] },
    { ...arrows, arrows: [{ label: LONG, x: 1, y: 1, group: 0, shade: 1 }], groups: [LONG, "key"] },
    { ...moving, labels: [LONG, LONG, LONG], names: ["step 0", LONG], group_titles: [LONG, LONG] },
  ];
  for (const view of views)
    for (const text of textsOf(drawn([view], 85).shapes)) {
      const [left, , right] = endsOf(text);
      assert.ok(left >= 0 && right <= 85, `${text.text} of ${view.kind}`);
    }
});

test("names cover neither the numbers nor the titles of axes, and none is written in a figure without room", () => {
  const [[view]] = VIEWS;
  const near = { ...view, points: NAMES.map((name, place) => [name, place / 90, 0, 0]) };
  const crowd = { ...view, points: Array.from({ length: 60 }, (_, place) => [`name ${place}`, 1, 0.02, 0]) };
  for (const shown of [near, crowd])
    assert.deepEqual(coveringOf(textsOf(drawn([/** @type {any} */ (shown)], 85).shapes)), []);
  const sheet = createView(/** @type {any} */ (crowd), { width: 800 });
  assert.equal(sheet.querySelectorAll("svg [font-weight]").length, 60, "the screen has them all");
});

test("the tip of an arrow is round, not a spike", () => {
  const sheet = createView(VIEWS[1][0], { width: 800 });
  assert.equal(sheet.querySelector("path")?.getAttribute("stroke-linejoin"), "round");
});

test("moving points measure their names once, not in every frame", () => {
  const [moving] = VIEWS.map(([view]) => view).filter(({ kind }) => kind === "moving_points");
  const sheet = createView(structuredClone(moving), { width: 800 });
  const slider = /** @type {HTMLInputElement} */ (sheet.querySelector("[type=range]"));
  const measure = context.measureText;
  const show = (/** @type {string} */ frame) => {
    slider.value = frame;
    slider.oninput?.(new InputEvent("input"));
  };
  show("1");
  try {
    context.measureText = () => assert.fail("measured again");
    show("0");
    show("1");
    show("0");
  } finally {
    context.measureText = measure;
  }
  assert.equal(sheet.querySelectorAll("circle").length, 3);
});

test("a node without a share has no colour, and long names of nodes are whole on the screen", () => {
  const [found] = VIEWS.map(([view]) => view).filter(({ kind }) => kind === "graph");
  const view = /** @type {any} */ ({ ...found, shades: ["NaN", 0.75], nodes: [LONG, "b"] });
  const { shapes } = drawn([view], 85);
  assert.ok(textsOf(shapes).some(({ text }) => text === "–"));
  assert.ok(!JSON.stringify(shapes).includes("NaN"));
  assert.ok(createView(view, { width: 800 }).querySelector("svg text")?.textContent === LONG);
});

test("views without content are drawn as nothing", () => {
  const views = VIEWS.map(([view]) => /** @type {any} */ (view));
  const find = (/** @type {string} */ name) => views.find(({ kind }) => kind === name);
  const matrix = { rows: [], columns: [], row_axis: "", column_axis: "", values: [], cell_notes: [] };
  const empty = /** @type {any[]} */ ([
    { ...find("graph"), nodes: [], places: [], edges: [], shades: [] },
    { ...find("moving_points"), labels: [], frames: [], names: [] },
    { ...find("claims"), claims: [] },
    { ...PLAIN, kind: "matrix", ...matrix },
  ]);
  for (const view of empty) {
    const { shapes, y } = drawn([{ ...view, title: "" }], 85);
    assert.ok(Number.isFinite(y) && !shapes.length, view.kind);
    assert.deepEqual(tablesOf([/** @type {any} */ ({ views: [view] })]), {}, view.kind);
    if (view.kind !== "claims") assert.ok(createView(view, { width: 800 }), view.kind);
  }
});

test("isolates of tokens stay in drawn text; a PDF has text without them, if its font has the rest", async () => {
  const { shapes, ...figure } = drawn([VIEWS[7][0]], 85);
  const [hebrew] = textsOf(shapes).map((shape) => ({ ...shape, text: "\u2068שלום\u2069" }));
  /** @type {any[]} */
  const sent = [];
  const write = async (/** @type {any} */ request) => {
    sent.push(...request.figure.shapes);
    return new Blob();
  };
  const texts = textsOf(shapes).map((shape) => ({ ...shape, text: shape.text.replace("✓ ", "") }));
  Object.assign(HTMLCanvasElement.prototype, { toDataURL: () => "data:image/png;base64,AA==" });
  await saveFigure({ ...figure, shapes: [...texts, hebrew] }, { line: "", fields: "" }, "verdict", "pdf", write);
  assert.deepEqual(
    sent.map(({ kind, text }) => text ?? kind),
    ["All of them agree.", "image"],
  );
});

test("the parts of a strip are as long and as high as they say", () => {
  const [view] = VIEWS.map(([each]) => each).filter(({ kind }) => kind === "strips");
  const { figure } = drawPanels([/** @type {any} */ (view)])(85, "");
  const rectangles = figure.shapes.filter((shape) => shape.kind === "rectangle").slice(2); // below the legend
  const [ground, long, short, , , low] = rectangles;
  assert.ok(
    Math.abs(long.width / ground.width - 5 / 16) < 0.01 && Math.abs(short.width / ground.width - 3 / 16) < 0.01,
  );
  assert.deepEqual([long.height, low.height], [ground.height, ground.height / 2]);
});

test("what is said and what is right are beside each other", () => {
  const claims = VIEWS.map(([view]) => view).filter(({ kind }) => kind === "claims");
  const texts = textsOf(drawn(claims, 85).shapes);
  const [said, right] = ["“It is so.”", "It is not so. It"].map((start) =>
    texts.find(({ text }) => text.startsWith(start)),
  );
  assert.ok(said && right && said.y === right.y && right.x > 85 / 2);
});

test("views of words are as wide as the figure, others beside each other", () => {
  const [[points], , , [graph], , , [equations]] = VIEWS;
  const { figure } = drawPanels([equations, points, graph].filter(hasFigure), 2)(180, "");
  const titled = (/** @type {string} */ title) => textsOf(figure.shapes).find(({ text }) => text === title);
  const [hand, near, beside] = ["By hand", "Near", "Neighbours"].map(titled);
  assert.ok(hand && near && beside && hand.y < near.y && near.y === beside.y && near.x === hand.x);
  const narrow = textsOf(drawPanels([points, graph].filter(hasFigure), 2)(120, "").figure.shapes);
  const [upper, lower] = ["Near", "Neighbours"].map((title) => narrow.find(({ text }) => text === title));
  assert.ok(upper && lower && upper.y < lower.y, "two panels would have less than 60 mm each");
});

test("a formula is a line of text with the parentheses that it needs", () => {
  const formulas = [
    [
      String.raw`a_{ij} = \frac{\exp(s_{ij})}{\sum_{k=1}^{n} \exp(s_{ik})}`,
      "a_ij = (exp(s_ij))/(∑_(k = 1)^n exp(s_ik))",
    ],
    [String.raw`\mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}} + M\right) V`, "softmax(QK^T/√d_k + M)V"],
    [String.raw`o_i = \sum_j a_{ij} v_j`, "o_i = ∑_j a_ij v_j"],
    [String.raw`a \cos\alpha - b`, "a cos α − b"],
    [String.raw`2^{\lfloor \log_2 n \rfloor} = -1`, "2^(⌊log_2 n⌋) = −1"],
    [String.raw`\begin{bmatrix} 1 & 0 \\ -2 & 3 \end{bmatrix} x^{\top}`, "[1, 0; −2, 3] x^T"],
    [String.raw`M_{ij} = 0 \text{ if } m_{ij} = 1`, "M_ij = 0 if m_ij = 1"],
    [String.raw`E[\,j \le i\,],\quad p'(x)`, "E[j ≤ i], p′(x)"],
    [String.raw`0.25 \frac{1}{2} + 2\frac{1}{3} - \sqrt{2} 3`, "0.25 · 1/2 + 2 · 1/3 − √2 · 3"],
    [String.raw`\frac{1}{2} x + \sqrt{d} x - \frac{b}{c} d(\frac{1}{2})`, "1/2 x + √d x − b/c d(1/2)"],
    [String.raw`\frac{1}{2}\frac{3}{4} \cdot \frac{a}{b} (x)`, "1/2 · 3/4 · a/b (x)"],
    [String.raw`E - \eta\,\frac{\partial}{\partial E}\,(-\log p_{t_i})`, "E − η ∂/∂E (−log p_(t_i))"],
    [String.raw`x\,(a + b) \log (a)`, "x (a + b) log(a)"],
  ];
  for (const [latex, words] of formulas) assert.equal(plainFormula(latex), words);
});

test("planes, graphs, alignments, spans, images and flows have numbers to be saved", () => {
  const others = /** @type {View[]} */ (
    /** @type {unknown} */ ([
      { ...PLAIN, kind: "alignment", title: "Weights", read: ["a", "a"], answer: ["b"], weights: [[0.5, 0.25]] },
      { ...PLAIN, kind: "alignment", title: "Not kept", read: ["a"], answer: ["b"], weights: [] },
      { ...PLAIN, kind: "changes", title: "Added", parts: [["=1+1", 0.5]] },
      { ...PLAIN, kind: "spans", title: "Heard", labels: ["one"], spans: [[0.5, 1]] },
      { ...PLAIN, kind: "image", title: "Patches", shades: [["cat", [0, 1]]] },
      { ...PLAIN, kind: "image", title: "No shades", shades: [] },
      {
        ...{ ...PLAIN, kind: "flow", title: "Flow", columns: ["a", "b"], rows: ["input", "layer 0"] },
        edges: [["head", 0, 0, 1, 0.5, "", {}]],
      },
    ])
  );
  const tables = tablesOf([{ title: "", text: "", folded: false, views: [...VIEWS.map(([view]) => view), ...others] }]);
  const found = Object.entries(tables).map(([title, { axes, labels, values }]) => [
    title,
    axes,
    labels.map(([name]) => name),
    values.length,
  ]);
  assert.deepEqual(found, [
    ["Near", ["point", "coordinate"], ["0 The", "first"], 12],
    ["Queries", ["arrow", "coordinate"], ["0 The", "x"], 12],
    ["Learned", ["frame", "point", "coordinate"], ["step 0", "0 cat", "x"], 12],
    ["Neighbours", ["node"], ["0 a"], 2],
    ["Weights", ["answer", "read"], ["0 b", "0 a"], 2],
    ["Added", ["part"], ["0 =1+1"], 1],
    ["Heard", ["span", "end"], ["0 one", "from"], 2],
    ["Patches", ["drawing", "patch"], ["0 cat", "0"], 2],
    ["Flow", ["edge"], ["0 head, input: 0 a to 1 b"], 1],
  ]);
});
