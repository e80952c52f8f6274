// A page of views: the rows that stay, and its figures and numbers with their origins.

import assert from "node:assert/strict";
import { test } from "node:test";
import "../dom.js";

/** @import { CellsShape } from "../../../app/headlight_app/ui/frontend/export/types.ts" */
/** @import { HeatMapView, LinesView, View, ViewRow } from "../../../app/headlight_app/ui/frontend/views/types.ts" */

const { ShownRows } = await import("../../../app/headlight_app/ui/frontend/views/page/shown_rows.ts");
const { shownView } = await import("../../../app/headlight_app/ui/frontend/views/export/page_views.ts");

const PLAIN = { note: "", before: "", tables: null };
/** @type {HeatMapView} */
const MAP = {
  ...{ ...PLAIN, kind: "heat_map", title: "Similarity", row_axis: "position", column_axis: "position" },
  values: [
    [1, 0.5],
    [0.5, 1],
  ],
  ...{
    rows: [],
    columns: [],
    colours: "sequential",
    low: 0.5,
    high: null,
    row_groups: 0,
    column_groups: 0,
    is_small: false,
  },
};
/** @type {LinesView} */
const LINES = {
  ...{
    ...PLAIN,
    kind: "lines",
    title: "Loss",
    x: [0, 1],
    series: { RoPE: [2, 1] },
    x_title: "tokens",
    y_title: "bits",
  },
  ...{ series_title: "encoding", x_labels: [], broken: [], strong: [], log_x: false, log_y: false, from_zero: false },
};
const row = (/** @type {View[]} */ views, origin = null) => ({ title: "", text: "", folded: false, views, origin });
const sent = (/** @type {Record<string, unknown>[][]} */ rows) =>
  /** @type {any} */ ({ rows: rows.map((views) => row(/** @type {any} */ (views))), program: {} });

test("a view that is known is not sent again, and a row of such views stays the same", () => {
  const shown = new ShownRows();
  shown.take(sent([[{ digest: "a", ...MAP }], [{ digest: "b", ...LINES }]]));
  const [first, second] = shown.rows;
  assert.deepEqual(shown.digests, ["a", "b"]);
  shown.take(sent([[{ digest: "a" }], [{ digest: "c", ...LINES, title: "Other" }]]));
  assert.equal(shown.rows[0], first);
  assert.notEqual(shown.rows[1], second);
  assert.deepEqual(
    shown.rows.flatMap(({ views }) => views.map(({ title }) => title)),
    ["Similarity", "Other"],
  );
  assert.deepEqual(shown.digests, ["a", "c"], "what is no longer shown is forgotten");
});

test("what is not of the page's run has its own figures, numbers and models", () => {
  const origin = { models: ["one", "two"], words: "measured by a command", brief: "measured" };
  const question = /** @type {any} */ ({ model: "open" });
  const rows = /** @type {ViewRow[]} */ ([row([MAP]), row([LINES], /** @type {any} */ (origin))]);
  const about = { page: "positions", title: "RoPE (rotary)", about: "decoder, 2 positions", program: {}, question };
  const { sides, charts, tables } = shownView({ ...about, rows });
  assert.deepEqual(
    [Object.keys(charts), Object.keys(tables)],
    [
      ["Similarity", "Loss"],
      ["Similarity", "Loss"],
    ],
  );
  assert.deepEqual([sides.map((side) => side.question.model), tables.Similarity.sides], [["open"], undefined]);
  const [own, other] = [charts.Similarity(), charts.Loss()].map((figure) => /** @type {any} */ (figure));
  assert.deepEqual(
    [own.name, own.shown],
    ["positions-rope-rotary", "RoPE (rotary): similarity · decoder, 2 positions"],
  );
  assert.equal(tables.Similarity.shown, own.shown);
  assert.deepEqual(
    [other.name, other.shown, other.brief],
    ["positions-loss", "Loss, measured by a command", "measured"],
  );
  for (const { sides: models } of [other, tables.Loss])
    assert.deepEqual(
      models.map((/** @type {any} */ side) => side.question.model),
      ["one", "two"],
    );
  assert.equal(tables.Loss.name, "positions loss");
});

test("of several charts one figure has all, two beside each other", async () => {
  const about = { page: "p", title: "T", about: "", program: {}, question: /** @type {any} */ ({}) };
  const rows = /** @type {ViewRow[]} */ ([row([MAP]), row([LINES, MAP])]);
  const { charts } = shownView({ ...about, rows });
  assert.deepEqual(Object.keys(charts), ["all charts", "Similarity", "Loss"]);
  const { figure } = (await charts["all charts"]()).draw(180, "");
  const [first, second] = figure.shapes
    .filter(({ kind }) => kind === "heatmap")
    .map((shape) => /** @type {CellsShape} */ (shape));
  const titles = figure.shapes.flatMap((shape) => (shape.kind === "text" && shape.text === "Loss" ? [shape] : []));
  assert.ok(titles[0].x > first.x + first.width && titles[0].y < first.y, "beside the first");
  assert.ok(second.y > first.y + first.height && second.x < titles[0].x, "below it");
});

test("a map is in the figure, a square if its axes are equally long, its lowest number in the first colour", async () => {
  const about = { page: "p", title: "T", about: "", program: {}, question: /** @type {any} */ ({}) };
  const { charts } = shownView({ ...about, rows: /** @type {ViewRow[]} */ ([row([MAP])]) });
  const { figure } = (await charts.Similarity()).draw(85, "");
  const cells = /** @type {CellsShape} */ (figure.shapes.find(({ kind }) => kind === "heatmap"));
  assert.deepEqual([...cells.codes], [255, 1, 1, 255]);
  assert.equal(cells.width, cells.height);
  const texts = figure.shapes.flatMap((shape) => (shape.kind === "text" ? [shape.text] : []));
  assert.ok(["T", "Similarity", "position →", "0.5", "1"].every((text) => texts.includes(text)));
});

test("a formula and a sentence without titles are in the figure of all, and not listed by themselves", async () => {
  const about = { page: "p", title: "T", about: "A", program: {}, question: /** @type {any} */ ({}) };
  const words = /** @type {View[]} */ ([
    { ...PLAIN, kind: "equations", title: "", lines: ["x_i = E_{t_i}"] },
    { ...PLAIN, kind: "verdict", title: "", text: "It is so.", good: null },
  ]);
  const { charts, tables } = shownView({ ...about, rows: /** @type {ViewRow[]} */ ([row(words), row([MAP])]) });
  assert.deepEqual([Object.keys(charts), Object.keys(tables)], [["all charts", "Similarity"], ["Similarity"]]);
  const drawing = await charts["all charts"]();
  assert.equal(drawing.shown, "T: similarity · A");
  const texts = drawing.draw(180, "").figure.shapes.flatMap((shape) => (shape.kind === "text" ? [shape.text] : []));
  assert.ok(["x_i = E_(t_i)", "It is so.", "Similarity"].every((text) => texts.includes(text)));
  const alone = shownView({ ...about, rows: /** @type {ViewRow[]} */ ([row(words.slice(0, 1))]) });
  assert.deepEqual(Object.keys(alone.charts), ["all charts"]);
  assert.equal((await alone.charts["all charts"]()).shown, "T · A");
});
