// The menu Export of a page that shows one or two runs: its figure and its numbers, each with its origin.

import { addFoot } from "../charts/figure_text.js";
import { saveBlob } from "../dom/clipboard.js";
import { findByTestId } from "../dom/elements.js";
import { askRoute, fetchFile } from "../server.js";
import { editsInWords } from "../state/provenance.js";
import { saveFigure, toBase64 } from "./figure_files.js";
import { ExportMenu, FIGURE_FORMS, NUMBER_FORMS } from "./menu.js";

/** @import { Side } from "./contract.js" */
/** @import { FigureForm, NumberForm } from "./menu.js" */
/** @import { Metadata, ShownSide, ShownView, Table } from "./types.js" */

const LETTERS = "ABCDEFGH"; // of the sides
const ALL_CHARTS = "all charts";
const MOST_NUMBERS = 380_000; // of a file: a request holds no more

export class PageExport {
  #api;
  #collect;
  #menu;
  #which;
  #chart;

  /**
   * @param {ParentNode} place @param {string} api @param {() => boolean} isReady whether the page shows an answer
   * @param {() => ShownView | Promise<ShownView>} collect what it shows
   */
  constructor(place, api, isReady, collect) {
    this.#api = api;
    this.#collect = collect;
    this.#which = findByTestId(place, "export-which", HTMLSelectElement);
    this.#chart = findByTestId(place, "export-chart", HTMLSelectElement);
    this.#menu = new ExportMenu(place, isReady, () => isReady() && this.#list());
    this.#menu.listen({
      ...Object.fromEntries(FIGURE_FORMS.map((form) => [form, () => this.#saveFigure(form)])),
      ...Object.fromEntries(NUMBER_FORMS.map((form) => [form, () => this.#saveTable(form)])),
    });
  }

  /** @param {{ writes_pdf: boolean }} data */
  update({ writes_pdf: writesPdf }) {
    this.#menu.offerPdf(writesPdf);
  }

  end() {
    this.#menu.end();
  }

  async #list() {
    this.#which.hidden = this.#chart.hidden = true; // where there is nothing to choose from
    const { tables, charts } = await this.#collect();
    listNames(this.#which, Object.keys(tables));
    if (charts) listNames(this.#chart, [ALL_CHARTS, ...Object.keys(charts)]);
  }

  /** @param {FigureForm} form */
  async #saveFigure(form) {
    const page = await this.#collect();
    const view = { ...page, ...page.charts?.[this.#chart.value] };
    const { width, title, foot } = this.#menu.figureOptions;
    const metadata = await this.#metadata(view);
    const { figure, y } = view.draw(width, title);
    addFoot(figure, [view.shown], foot ? metadata.line : "", y);
    this.#menu.say(
      await saveFigure(figure, metadata, view.name, form, (request) => fetchFile(this.#api, "export_pdf", request)),
    );
  }

  /** @param {NumberForm} format */
  async #saveTable(format) {
    const view = await this.#collect();
    const table = view.tables[this.#which.value];
    if (!table) throw new Error("The page shows no such numbers now.");
    const shown = table.sides ? this.#which.value : `${this.#which.value}: ${view.shown}`;
    const file = await fetchFile(this.#api, "export_table", {
      ...origin({ sides: table.sides ?? view.sides }, shown),
      format,
      table: encodeTable(table),
    });
    saveBlob(file.name, file);
    this.#menu.say(`${file.name} is saved.`);
  }

  /** @param {ShownView} view @returns {Promise<Metadata>} */
  async #metadata(view) {
    const { meta } = await askRoute(this.#api, "export_origin", origin(view, view.shown));
    const changes = view.sides.map(({ question, tokens, source_tokens }) =>
      editsInWords({ catalogue: meta, latestAnswer: { tokens, source_tokens } }, question.edits),
    );
    return {
      line: originLine(meta.sides, changes),
      fields: JSON.stringify({ ...meta.provenance, changes: changes.length > 1 ? changes : changes[0] }),
    };
  }
}

/** Offers names, the one that was chosen before if it is among them. @param {HTMLSelectElement} list @param {string[]} names */
function listNames(list, names) {
  const chosen = names.includes(list.value) ? list.value : names[0];
  list.replaceChildren(...names.map((name) => new Option(name, name, false, name === chosen)));
  list.hidden = false;
}

/**
 * The line under a picture; of each side's parts the last says by what it was made, and when.
 * @param {readonly string[][]} sides @param {readonly string[][]} changes of each side
 */
export function originLine(sides, changes) {
  const lines = sides.map((parts, side) => {
    const changed = changes[side].length ? [`changed: ${changes[side].join(", ")}`] : [];
    return [...parts.slice(0, -1), ...changed].join(" · ");
  });
  const named = sides.length > 1 ? lines.map((line, side) => `${LETTERS[side]}: ${line}`) : lines;
  return [...named, ...sides[0].slice(-1)].join(" · ");
}

/** @param {Pick<ShownView, "sides">} view @param {string} shown */
function origin({ sides }, shown) {
  return { shown, sides: sides.map(describeSide) };
}

/** @param {ShownSide} side @returns {Side} */
function describeSide({ question, attention_group = "", heads = [] }) {
  return { question, attention_group, heads };
}

/** As the server reads it. @param {Table} table */
export function encodeTable({ name, axes, labels, values }) {
  if (values.length > MOST_NUMBERS)
    throw new Error(
      `That is ${values.length.toLocaleString("en")} numbers; this page saves at most ${MOST_NUMBERS.toLocaleString("en")} as a file.`,
    );
  return { name, axes, labels, values: toBase64(new Uint8Array(values.buffer, values.byteOffset, values.byteLength)) };
}

/** Places in front keep equal names apart, and a spreadsheet from taking one for a formula. @param {{ text: string }[]} tokens */
export function numbered(tokens) {
  return tokens.map(({ text }, place) => `${place} ${text}`);
}
