// What a step attended to: all heads as stripes, and the chosen one (or a mean) as a map, a row for each step.

import { paintCodes } from "../../../model/rendering/static/ui/colours.js";
import {
  canvasStyle,
  createElement,
  drawChoices,
  formatPercent,
  quotedToken,
} from "../../../model/rendering/static/ui/dom.js";
import { find } from "../../../model/rendering/static/ui/elements.js";
import { cellAtPointer, drawHeatmap } from "../../../model/rendering/static/ui/heatmap.js";
import { HeadTable, labelCell } from "../../ui/frontend/head_table.js";
import { attentionRow, blendTitle, gridOf, headRow, pooledCodes, stepCodes } from "./attention_rows.js";

/** @import { GenerateElements } from "./elements.js" */
/** @import { Generator } from "./generator.js" */
/** @import { Choice, GenerateState, StepGrid, StepRecord } from "./types.d.ts" */

/**
 * @typedef {object} AttentionActions
 * @property {(patch: Partial<Choice>) => void} change
 * @property {(position: number | null) => void} point the pointer is over a token, or over none
 * @property {(step: number | null) => Promise<void>} view looks at a step that is past, or (null) at the next one
 */
/** @typedef {{ step: number, record: StepRecord, piece: string }} MapRow */

const STRIPES = 48; // at most, in one thumbnail
const LISTED = 3;
const LEAST = 0.005; // a weight that is worth a word
/** @type {[string, string][]} */
const BLENDS = [
  ["head", "One head"],
  ["layer", "Mean of layer"],
  ["all", "Mean of all"],
];

export class StepAttention {
  #elements;
  #generator;
  #actions;
  #heads;
  #image = createElement("canvas");
  /** @type {ReturnType<typeof drawHeatmap> | null} */
  #layout = null;
  /** @type {MapRow[]} */
  #rows = [];

  /**
   * @param {GenerateElements} elements
   * @param {Generator} generator
   * @param {AttentionActions} actions
   */
  constructor(elements, generator, actions) {
    this.#elements = elements;
    this.#generator = generator;
    this.#actions = actions;
    this.#heads = new HeadTable(elements.headTable, (layer, head) => actions.change({ layer, head, blend: "head" }));
    this.#listen();
  }

  /**
   * @param {GenerateState} state
   * @param {number | null} key the token under the pointer
   */
  draw({ choice, kind }, key) {
    const { record } = this.#generator;
    const { attention, attentions, attentionTitle, blend } = this.#elements;
    const nothing = !record || record.done || !record.grids.length;
    attention.hidden = nothing;
    if (nothing) return;
    const grid = gridOf(record, choice.attention);
    attentions.hidden = record.grids.length < 2;
    const options = record.grids.map(({ name, title }) => /** @type {[string, string]} */ ([name, title]));
    drawChoices(attentions, "attention", options, grid.name, (name) => this.#actions.change({ attention: name }));
    drawChoices(blend, "blend", BLENDS, choice.blend, (name) =>
      this.#actions.change({ blend: /** @type {Choice["blend"]} */ (name) }),
    );
    attentionTitle.textContent = `Where it looked: ${blendTitle(choice)}`;
    this.#drawHeads(record, grid, choice);
    this.paint({ choice, kind }, key);
  }

  /**
   * Draws the map, and says in words what is under the pointer.
   * @param {Pick<GenerateState, "choice" | "kind">} state
   * @param {number | null} key
   */
  paint({ choice, kind }, key) {
    const { record, tokens, source } = this.#generator;
    if (!record || record.done || !record.grids.length) return;
    const grid = gridOf(record, choice.attention);
    const keys = grid.keys === "source" ? (source ?? []) : tokens;
    this.#rows = this.#mapRows();
    this.#paintMap(grid, choice, keys, key);
    this.#elements.map.setAttribute(
      "aria-label",
      `${blendTitle(choice)}: a row for each token written, a column for each token read`,
    );
    const words = this.#describe(attentionRow(record, grid, choice), keys, key);
    this.#elements.readout.replaceChildren(
      ...this.#describeStep(record, kind),
      `, ${blendTitle(choice)} looked`,
      ...words,
      ".",
    );
  }

  /**
   * @param {StepRecord} record
   * @param {StepGrid} grid
   * @param {Choice} choice
   */
  #drawHeads(record, grid, choice) {
    const width = Math.min(grid.columns, STRIPES);
    this.#heads.layout(grid, () => [createElement("canvas")]);
    this.#heads.forEach((cell, layer, head) => {
      paintCodes(
        find(cell, "canvas", HTMLCanvasElement),
        pooledCodes(headRow(record, grid, layer, head), width),
        1,
        width,
      );
      const chosen = layer === choice.layer && head === choice.head;
      const shown = choice.blend === "layer" ? layer === choice.layer : choice.blend === "head" && chosen;
      labelCell(cell, `Layer ${layer}, head ${head}`, shown, chosen);
    });
  }

  /** The steps whose answers are here, the one that is looked at among them: their rows make the map. */
  #mapRows() {
    const { written, endReason } = this.#generator;
    /** @type {MapRow[]} */
    const rows = [];
    for (let step = 0; step <= written.length; step++) {
      const record = this.#generator.recordAt(step);
      if (!record || record.done || (step === written.length && endReason)) continue;
      rows.push({ step, record, piece: written[step]?.piece ?? "next…" });
    }
    return rows;
  }

  /**
   * @param {StepGrid} grid
   * @param {Choice} choice
   * @param {{ piece: string }[]} keys
   * @param {number | null} key
   */
  #paintMap(grid, choice, keys, key) {
    const { root, stage, map } = this.#elements;
    const rows = this.#rows;
    const query = rows.findIndex(({ step }) => step === this.#generator.step);
    const width = stage.clientWidth;
    if (!width || query < 0) return;
    const records = rows.map(({ record }) => record);
    paintCodes(this.#image, stepCodes(records, grid.name, choice, keys.length), rows.length, keys.length);
    this.#layout = drawHeatmap(map, width, {
      queries: rows,
      keys,
      image: this.#image,
      alpha: 1,
      hot: { query, key },
      style: canvasStyle(root),
    });
  }

  /**
   * @param {StepRecord} record
   * @param {GenerateState["kind"]} kind
   */
  #describeStep({ place }, kind) {
    const { viewed, written } = this.#generator;
    if (viewed !== null) return ["Before ", ...quotedToken(written[viewed]), " was written"];
    return [kind === "fill" ? `For the mask at position ${place}` : "For the next token"];
  }

  /**
   * @param {ArrayLike<number>} row
   * @param {{ piece: string }[]} keys
   * @param {number | null} key
   */
  #describe(row, keys, key) {
    if (key !== null && keys[key] && key < row.length)
      return [" at ", ...quotedToken(keys[key]), ` with a weight of ${row[key].toFixed(5)}`];
    const largest = Array.from(row, (weight, place) => ({ weight, token: keys[place] }))
      .sort((one, other) => other.weight - one.weight)
      .slice(0, LISTED)
      .filter(({ weight }) => weight > LEAST);
    if (!largest.length) return [" at nothing"];
    return largest.flatMap(({ weight, token }, place) => [
      place ? ", " : " at ",
      ...quotedToken(token),
      ` ${formatPercent(weight)}`,
    ]);
  }

  #listen() {
    const { map } = this.#elements;
    const generator = this.#generator;
    map.onmousemove = (event) => this.#actions.point(cellAtPointer(map, this.#layout, event)?.key ?? null);
    map.onmouseleave = () => this.#actions.point(null);
    map.onclick = (event) => {
      const row = this.#rows[cellAtPointer(map, this.#layout, event)?.query ?? -1];
      if (row) this.#actions.view(row.step < generator.written.length ? row.step : null);
    };
    map.onkeydown = async (event) => {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      event.preventDefault();
      const { length } = generator.written;
      const step = Math.min(Math.max(generator.step + (event.key === "ArrowDown" ? 1 : -1), 0), length);
      await this.#actions.view(step < length ? step : null);
      map.focus();
    };
  }
}
