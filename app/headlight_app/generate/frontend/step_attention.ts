// Attention of a step: all heads as stripes, and the chosen one (or a mean) as a map, a row for each step.

import { paintCodes } from "../../ui/frontend/charts/colours.ts";
import { cellAtPointer, drawHeatmap, listenToMap } from "../../ui/frontend/charts/heatmap.ts";
import {
  canvasStyle,
  createElement,
  drawChoices,
  largestShares,
  NO_LARGE_SHARE,
  optionsOf,
  quotedToken,
} from "../../ui/frontend/dom/dom.ts";
import { find } from "../../ui/frontend/dom/elements.ts";
import { formatPlaces } from "../../ui/frontend/dom/numbers.ts";
import { HeadTable, labelCell } from "../../ui/frontend/head_table.ts";
import type { StepRow } from "./attention_rows.ts";
import { attentionRow, blendTitle, groupOf, headRow, pooledCodes, stepCodes, stepRows } from "./attention_rows.ts";
import type { GenerateElements } from "./elements.ts";
import type { Generator } from "./generator.ts";
import type { AttentionGroupAnswer, Choice, GenerateState, StepRecord } from "./types.ts";

interface AttentionActions {
  change: (patch: Partial<Choice>) => void;
  point: (position: number | null) => void; // the pointer is over a token, or over none (null)
  view: (step: number | null) => Promise<void>; // shows an earlier step, or the next one (null)
}

const STRIPES = 48; // maximum rows in one thumbnail
const BLENDS: [string, string][] = [
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
  #layout: ReturnType<typeof drawHeatmap> | null = null;
  #rows: StepRow[] = [];

  constructor(elements: GenerateElements, generator: Generator, actions: AttentionActions) {
    this.#elements = elements;
    this.#generator = generator;
    this.#actions = actions;
    this.#heads = new HeadTable(elements.headTable, (layer, head) => actions.change({ layer, head, blend: "head" }));
    this.#listen();
  }

  /** @param key the token under the pointer */
  draw({ choice, mode }: GenerateState, key: number | null) {
    const { record } = this.#generator;
    const { attention, attentions, attentionTitle, blend } = this.#elements;
    const nothing = !record || record.done || !record.attention_groups.length;
    attention.hidden = nothing;
    if (nothing) return;
    const group = groupOf(record, choice.attention);
    attentions.hidden = record.attention_groups.length < 2;
    const options = optionsOf(record.attention_groups);
    drawChoices(attentions, "attention", options, group.name, (attention) => this.#actions.change({ attention }));
    drawChoices(blend, "blend", BLENDS, choice.blend, (name) =>
      this.#actions.change({ blend: name as Choice["blend"] }),
    );
    attentionTitle.textContent = `Attention: ${blendTitle(choice)}`;
    this.#drawHeads(record, group, choice);
    this.paint({ choice, mode }, key);
  }

  /** Draws the map, and describes the cell under the pointer in words. */
  paint({ choice, mode }: Pick<GenerateState, "choice" | "mode">, key: number | null) {
    const { record, tokens, source } = this.#generator;
    if (!record || record.done || !record.attention_groups.length) return;
    const group = groupOf(record, choice.attention);
    const keys = group.keys === "source" ? (source ?? []) : tokens;
    this.#rows = stepRows(this.#generator, mode);
    this.#paintMap(group, choice, keys, key);
    this.#elements.map.ariaLabel = `${blendTitle(choice)}: a row for each token generated, a column for each token read`;
    const words = this.#describe(attentionRow(record, group, choice), keys, key);
    this.#elements.readout.replaceChildren(
      ...this.#describeStep(record, mode),
      `, ${blendTitle(choice)} ${group.shows ? "took its output from" : "attended"}`,
      ...words,
      ".",
    );
  }

  #drawHeads(record: StepRecord, group: AttentionGroupAnswer, choice: Choice) {
    const width = Math.min(group.columns, STRIPES);
    this.#heads.layout(group, () => [createElement("canvas")]);
    this.#heads.forEach((cell, layer, head) => {
      paintCodes(
        find(cell, "canvas", HTMLCanvasElement),
        pooledCodes(headRow(record, group, layer, head), width),
        1,
        width,
      );
      const chosen = layer === choice.layer && head === choice.head;
      const shown = choice.blend === "layer" ? layer === choice.layer : choice.blend === "head" && chosen;
      labelCell(cell, `Layer ${layer}, head ${head}`, shown, chosen);
    });
  }

  #paintMap(group: AttentionGroupAnswer, choice: Choice, keys: { text: string }[], key: number | null) {
    const { root, stage, map } = this.#elements;
    const rows = this.#rows;
    const query = rows.findIndex(({ step }) => step === this.#generator.step);
    const width = stage.clientWidth;
    if (!width || query < 0) return;
    const records = rows.map(({ record }) => record);
    paintCodes(this.#image, stepCodes(records, group.name, choice, keys.length), rows.length, keys.length);
    this.#layout = drawHeatmap(map, width, {
      queries: rows,
      keys,
      image: this.#image,
      hot: { query, key },
      style: canvasStyle(root),
    });
  }

  #describeStep({ position }: StepRecord, mode: GenerateState["mode"]) {
    const { viewed, generated } = this.#generator;
    if (viewed !== null) return ["Before ", quotedToken(generated[viewed]), " was generated"];
    return [mode === "fill" ? `For the mask at position ${position}` : "For the next token"];
  }

  #describe(row: ArrayLike<number>, keys: { text: string }[], key: number | null) {
    if (key !== null && keys[key] && key < row.length)
      return [" to ", quotedToken(keys[key]), ` with a weight of ${formatPlaces(row[key], 5)}`];
    const largest = largestShares(row, keys, " to ");
    return largest.length ? largest : [` to ${NO_LARGE_SHARE}`];
  }

  #listen() {
    const { map } = this.#elements;
    const generator = this.#generator;
    const view = (step: number) => this.#actions.view(step < generator.generated.length ? step : null);
    listenToMap(map, (event) => cellAtPointer(map, this.#layout, event), {
      point: (cell) => this.#actions.point(cell?.key ?? null),
      choose: ({ query }) => view(this.#rows[query].step),
      step: async (by) => {
        await view(Math.min(Math.max(generator.step + by, 0), generator.generated.length));
        map.focus();
      },
    });
  }
}
