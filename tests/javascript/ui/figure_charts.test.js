// Charts of figures for print, and the provenance line of a figure.

import assert from "node:assert/strict";
import { test } from "node:test";

/** @import { TextLine } from "../../../app/headlight_app/ui/frontend/export/contract.ts" */
/** @import { Figure, RectangleShape, Shape } from "../../../app/headlight_app/ui/frontend/export/types.ts" */

// Texts are measured on a canvas, which Node does not have.
const canvas = { getContext: () => ({ measureText: (/** @type {string} */ text) => ({ width: 50 * text.length }) }) };
Object.assign(globalThis, { document: { createElement: () => canvas } });
const { addBars, addLineChart } = await import("../../../app/headlight_app/ui/frontend/charts/figure_charts.ts");
const { addFoot, beginSheet, textWidth, wrapText } = await import(
  "../../../app/headlight_app/ui/frontend/charts/figure_text.ts"
);
const { addHeatmap, beginFigure } = await import("../../../app/headlight_app/ui/frontend/charts/shapes.ts");
const { addTable } = await import("../../../app/headlight_app/ui/frontend/charts/figure_table.ts");
const { FIGURE_SIZES, layOutFigure } = await import("../../../app/headlight_app/ui/frontend/export/figure_size.ts");
const { numbered, originLine } = await import("../../../app/headlight_app/ui/frontend/export/page_export.ts");

const BOX = { x: 2, y: 2, width: 80 };

/** @param {Figure} figure */
function textsOf({ shapes }) {
  return shapes.filter(({ kind }) => kind === "text").map((shape) => /** @type {TextLine} */ (shape).text);
}

/** The ends of a shape, left, top, right, bottom. @param {Shape} shape */
function endsOf(shape) {
  if (shape.kind === "text") {
    const left = shape.x - { start: 0, middle: 0.5, end: 1 }[shape.anchor] * shape.text_width;
    return shape.rotation
      ? [shape.x, shape.y - shape.text_width, shape.x, shape.y]
      : [left, shape.y, left + shape.text_width, shape.y];
  }
  if ("points" in shape) {
    const [across, down] = [0, 1].map((odd) => shape.points.filter((_, place) => place % 2 === odd));
    return [Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)];
  }
  const [width, height] = "width" in shape ? [shape.width, shape.height] : [0, 0];
  return [shape.x, shape.y, shape.x + width, shape.y + height];
}

/** Cells of a causal mask, on and below the diagonal. @param {number} count */
function causalTable(count) {
  const names = Array.from({ length: count }, (_, place) => `w${place}`);
  const rows = names.map((label, row) => ({
    label,
    cells: names.map((_, column) => (column <= row ? { lines: [`.${100 + column}`] } : undefined)),
  }));
  return { columns: names, rows };
}

/** The data curves, without lines of the grid, axes and legend. @param {Figure} figure */
function curvesOf({ shapes }) {
  const lines = shapes.filter((shape) => shape.kind === "polyline");
  return lines.filter(({ points, stroke_width }) => stroke_width === 0.35 && points[1] !== points[3]);
}

test("a curve goes from its first number to its last, and several have a legend", () => {
  const { figure } = beginFigure(85, "");
  const series = [
    { name: "head 0", values: [0, 0.5, 1] },
    { name: "head 1", values: [1, 0.5, 0] },
  ];
  const end = addLineChart(figure, { series, x: [-1, 0, 1], xTitle: "distance", yTitle: "bias" }, BOX);
  const [first, last] = curvesOf(figure);
  assert.equal(first.points.length, 6);
  assert.notEqual(first.stroke, last.stroke);
  assert.ok(first.points[1] > first.points[3] && first.points[3] > first.points[5] && first.points[0] < last.points[4]);
  for (const text of ["distance", "bias", "head 0", "head 1", "−1", "0", "1"])
    assert.ok(textsOf(figure).includes(text), text);
  assert.ok(end > 42 && end < 70);
});

test("a chart over a logarithmic axis has finite places, wherever its values are", () => {
  for (const values of [
    [3, 8],
    [7, 90],
    [5, 5],
    [0, NaN],
  ]) {
    const { figure } = beginFigure(85, "");
    const chart = { series: [{ name: "norm", values }], x: [0, 1], labels: ["embedding", "layer 0"], yTitle: "norm" };
    addLineChart(figure, { ...chart, isLogY: true }, BOX);
    for (const shape of figure.shapes) assert.ok(endsOf(shape).every(Number.isFinite), `${values}: ${shape.kind}`);
  }
});

test("a curve is interrupted at NaN", () => {
  const { figure } = beginFigure(85, "");
  const series = [{ name: "loss", values: [3, 2, NaN, 1, 0] }];
  addLineChart(figure, { series, x: [1, 10, 100, 1000, 10000], xTitle: "tokens", yTitle: "nats", isLogX: true }, BOX);
  assert.deepEqual(
    curvesOf(figure).map(({ points }) => points.length),
    [4, 4],
  );
  assert.ok(textsOf(figure).includes("1,000"));
});

test("a sheet for the screen has the theme's colours and text sizes in pixels", () => {
  const figure = beginSheet(420, "loss over tokens");
  const series = [{ name: "loss", values: [1, 2], isBroken: true }];
  addLineChart(figure, { series, x: [0, 1], xTitle: "tokens", yTitle: "nats" }, { x: 0, y: 0, width: 420 });
  const texts = figure.shapes.filter((shape) => shape.kind === "text");
  assert.ok(texts.every(({ size, fill }) => size === 12 && fill.startsWith("var(--")));
  assert.ok(figure.shapes.some((shape) => shape.kind === "polyline" && shape.dashed));
});

test("the last number below a chart ends at the edge of the figure", () => {
  const { figure } = beginFigure(85, "");
  const series = [{ name: "loss", values: [2, 1] }];
  addLineChart(figure, { series, x: [0, 1000], yTitle: "nats" }, { x: 2, y: 0, width: 81 });
  const anchors = figure.shapes.flatMap((shape) =>
    shape.kind === "text" && ["0", "500", "1,000"].includes(shape.text) ? [[shape.text, shape.anchor]] : [],
  );
  assert.deepEqual(anchors.slice(-3), [
    ["0", "middle"],
    ["500", "middle"],
    ["1,000", "end"],
  ]);
});

test("bars are proportional to their numbers; a side without an answer has none", () => {
  const { figure } = beginFigure(85, "");
  const rows = [
    { label: "cat", values: [1, 0.5] },
    { label: "dog", values: [null, 0.25] },
  ];
  addBars(figure, { rows, kinds: ["A", "B"], most: 1, format: (value) => `${value * 100} %`, missing: "cannot" }, BOX);
  const bars = /** @type {RectangleShape[]} */ (figure.shapes.filter((shape) => shape.kind === "rectangle")).slice(
    0,
    3,
  );
  assert.ok(Math.abs(bars[0].width / bars[1].width - 2) < 1e-9 && Math.abs(bars[1].width / bars[2].width - 2) < 1e-9);
  assert.deepEqual(textsOf(figure), ["cat", "100 %", "50 %", "dog", "cannot", "25 %", "A", "B"]);
});

test("a figure ends with its caption and an optional provenance line", () => {
  const height = (/** @type {string} */ foot) => {
    const { figure, y } = beginFigure(85, "Title");
    addFoot(figure, ["what it shows"], [foot], y);
    return figure;
  };
  const [bare, signed] = [height(""), height("stories-causal · Headlight 1")];
  assert.deepEqual(textsOf(bare), ["Title", "what it shows"]);
  assert.deepEqual(textsOf(signed), ["Title", "what it shows", "stories-causal · Headlight 1"]);
  assert.ok(signed.height > bare.height);
});

test("the provenance line has each side with its changes, then the version and date once", () => {
  const parts = [
    ["one", "mask: Causal", "Headlight 1, today"],
    ["other", "mask: None", "Headlight 1, today"],
  ];
  assert.equal(
    originLine(parts.slice(0, 1), [["Head 3 off"]]),
    "one · mask: Causal · changed: Head 3 off · Headlight 1, today",
  );
  assert.equal(
    originLine(parts, [["Head 3 off"], []]),
    "A: one · mask: Causal · changed: Head 3 off · B: other · mask: None · Headlight 1, today",
  );
});

test("labels distinguish equal tokens, and are not formulas for a spreadsheet", () => {
  assert.deepEqual(numbered([{ text: "=1" }, { text: "=1" }]), ["0 =1", "1 =1"]);
});

test("wrapping keeps the whole provenance line", () => {
  const texts = [
    "stories-causal 3f2a · masked: token 3, token 14 · positional encoding: ALiBi instead of RoPE · Headlight 1.0 · 2026-11-23",
    "one",
    "a".repeat(300),
    `short ${"日本".repeat(80)} end`,
    "",
  ];
  for (const width of [20, 81, 176])
    for (const text of texts) {
      const lines = wrapText(text, 1.8, width);
      assert.equal(lines.join("").replaceAll(" ", ""), text.replaceAll(" ", ""));
      for (const line of lines) assert.ok(textWidth(line, 1.8) <= width, line);
    }
});

test("a map names its axes, and how many of their labels are shown", () => {
  const axes = { down: "query", across: "key" };
  for (const count of [4, 120]) {
    const { figure, y } = beginFigure(85, "");
    const names = Array.from({ length: count }, (_, place) => `w${place}`);
    addHeatmap(figure, { rows: names, columns: names, axes, codes: new Uint8Array(count * count) }, { ...BOX, y });
    const texts = textsOf(figure);
    const named = texts.filter((text) => /^w/.test(text)).length;
    const title = texts.filter((text) => !/^w/.test(text)).join(" ");
    const step = Number(/one in (\d+) named/.exec(title)?.[1] ?? 1);
    assert.match(title, /^down: query.* · across: key/);
    assert.equal(named, 2 * Math.ceil(count / step));
  }
});

test("the text in table cells is never cut off, and is at least 5 points high on paper", () => {
  for (const width of [81, 176])
    for (let count = 2; count < 40; count++) {
      const { figure, y } = beginFigure(width + 4, "");
      const table = causalTable(count);
      for (const { cells } of table.rows) for (const cell of cells) if (cell) cell.lines = ["+0.123", "#7890"];
      addTable(figure, table, { x: 2, y, width });
      const inCells = figure.shapes.filter((shape) => shape.kind === "text" && !shape.text.startsWith("w"));
      const sizes = /** @type {TextLine[]} */ (inCells).map(({ text, size }) => {
        assert.ok(["+0.123", "#7890"].includes(text), `${text} of ${count} columns in ${width} mm`);
        return text === "#7890" ? size / 0.8 : size;
      });
      assert.ok(Math.min(...sizes) >= (5 * 25.4) / 72, `${Math.min(...sizes)} mm`);
      assert.ok(figure.shapes.map(endsOf).every(([left, , right]) => left >= 0 && right <= width + 4));
    }
});

test("the names above a map of few tokens are complete at each width", () => {
  for (const width of [85, 180]) {
    const { figure, y } = beginFigure(width, "");
    const map = { rows: ["a"], columns: ["<|begin_of_text|>"], axes: { down: "query", across: "key" } };
    addHeatmap(figure, { ...map, codes: new Uint8Array(1) }, { ...BOX, width: width - 4, y });
    assert.ok(textsOf(figure).includes("<|begin_of_text|>"), `${width}`);
  }
});

test("a slide has its size, contains everything, and has letters as large as fit", () => {
  const names = ["one", "two", "three"];
  const origin = ["stories-causal · ".repeat(9)];
  for (const [size, slide] of Object.entries(FIGURE_SIZES))
    for (const count of [2, 12, 60]) {
      /** @param {number} width @param {string} title */
      const draw = (width, title) => {
        const { figure, y } = beginFigure(width, title);
        return { figure, y: addTable(figure, causalTable(count), { x: 2, y, width: width - 4 }) };
      };
      const figure = layOutFigure({ name: "table", shown: names.join(", "), draw }, "Title", origin, slide);
      if (slide.height) assert.deepEqual([figure.width, figure.height], [slide.width, slide.height], size);
      for (const [left, top, right, bottom] of figure.shapes.map(endsOf))
        assert.ok(left >= 0 && top >= 0 && right <= figure.width + 0.01 && bottom <= figure.height + 0.01, size);
      const title = figure.shapes.find((shape) => shape.kind === "text" && shape.text === "Title");
      const scale = /** @type {TextLine} */ (title).size / 2.9;
      assert.ok(slide.height ? scale < 2.21 && (count > 2 || scale > 1.5) : scale === 1, `${size}: ${scale}`);
    }
});

test("a split table leaves out fully masked rows, and shortens names before numbers", () => {
  const { figure, y } = beginFigure(85, "");
  addTable(figure, causalTable(24), { x: 2, y, width: 81 });
  const texts = textsOf(figure);
  assert.equal(texts.filter((text) => text.startsWith(".")).length, (24 * 25) / 2);
  assert.ok(texts.filter((text) => text === "w0").length === 2, "a row without cells is only in the first part");
  const named = causalTable(10);
  named.columns[0] = "a name that is too long";
  const narrow = beginFigure(70, "");
  addTable(narrow.figure, named, { x: 2, y: narrow.y, width: 66 });
  assert.ok(textsOf(narrow.figure).includes(".109") && !textsOf(narrow.figure).includes(named.columns[0]));
});
