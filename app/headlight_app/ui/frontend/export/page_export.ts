// The menu Export of a page: figures and numbers, each with its origin, and links, files and programs of the page.

import { saveBlob } from "../dom/clipboard.ts";
import { findByTestId } from "../dom/elements.ts";
import { formatCount } from "../dom/numbers.ts";
import type { Api } from "../server.ts";
import { askRoute, fetchFile } from "../server.ts";
import { editsInWords } from "../state/provenance.ts";
import { MAX_TABLE_NUMBERS } from "./contract.ts";
import { saveFigure, toBase64 } from "./figure_files.ts";
import { layOutFigure } from "./figure_size.ts";
import type { FigureForm, FigureOptions, NumberForm } from "./menu.ts";
import { ExportMenu, FIGURE_FORMS, NUMBER_FORMS } from "./menu.ts";
import type { Shared } from "./share.ts";
import { describeSide, Share } from "./share.ts";
import type { Metadata, ShownFigure, ShownView, Table } from "./types.ts";

const LETTERS = "ABCDEFGH"; // names of the sides
const LISTING = "The figures and numbers are being listed …";

/** Numbers of a page outside its tables: their title, and how they are saved. */
type OtherNumbers = { title: string; choose(chosen: boolean): void; save(format: NumberForm): Promise<string> };

export class PageExport {
  menu;
  share;

  #api;
  #collect;
  #others;
  #which;
  #chart;
  /** How many lists were begun; the latest of them. */
  #lists = 0;
  #listed = Promise.resolve();

  constructor(
    place: ParentNode,
    api: Api,
    {
      isReady,
      collect,
      share,
      others,
    }: {
      /** Whether it shows an answer. */
      isReady: () => boolean;
      /** Its figures and tables. */
      collect: () => ShownView | Promise<ShownView>;
      share: () => Shared;
      others?: OtherNumbers;
    },
  ) {
    this.#api = api;
    this.#collect = collect;
    this.#others = others;
    this.#which = findByTestId(place, "export-which", HTMLSelectElement);
    this.#chart = findByTestId(place, "figure-subject", HTMLSelectElement);
    this.menu = new ExportMenu(place, isReady, () => isReady() && this.#list());
    this.share = new Share(place, api, this.menu, share);
    this.#which.onchange = () => others?.choose(this.#which.value === others.title);
    this.menu.listen({
      ...Object.fromEntries(FIGURE_FORMS.map((form) => [form, () => this.#saveFigure(form)])),
      ...Object.fromEntries(NUMBER_FORMS.map((form) => [form, () => this.#saveTable(form)])),
    });
  }

  end() {
    this.menu.end();
  }

  /** Lists what can be saved; whatever is saved waits for it. */
  #list() {
    this.#listed = this.#fillLists(++this.#lists);
    return this.#listed;
  }

  /** @param number of this list: a later one replaces it */
  async #fillLists(number: number) {
    this.#which.hidden = this.#chart.hidden = true; // if there is nothing to choose from
    const collected = this.#collect();
    const isLate = collected instanceof Promise;
    if (isLate) this.menu.say(LISTING);
    const view = await Promise.resolve(collected).catch((error) => {
      if (number === this.#lists) throw error;
    });
    if (!view || number !== this.#lists) return;
    const { tables, charts, note } = view;
    listNames(this.#which, [...Object.keys(tables), ...(this.#others ? [this.#others.title] : [])]);
    this.#others?.choose(this.#which.value === this.#others.title);
    listNames(this.#chart, Object.keys(charts));
    if (note || isLate) this.menu.say(note ?? "");
  }

  async #saveFigure(form: FigureForm) {
    await this.#listed.catch(() => this.#list());
    const view = await this.#collect();
    const chosen = view.charts[this.#chart.value] ?? Object.values(view.charts)[0];
    if (!chosen) throw new Error("This page shows nothing that can be drawn.");
    const drawing = await chosen();
    const { figure, metadata } = await this.figure(view, drawing, this.menu.figureOptions);
    const writePdf = (request: Parameters<Parameters<typeof saveFigure>[4]>[0]) =>
      fetchFile(this.#api, "export_pdf", request);
    this.menu.say(await saveFigure(figure, metadata, drawing.name, form, writePdf));
  }

  /** A drawing as a figure, with its metadata. */
  async figure(view: Pick<ShownView, "sides">, drawing: ShownFigure, { size, title, foot }: FigureOptions) {
    const { metadata, address } = await this.#origin(view, drawing);
    return { figure: layOutFigure(drawing, title, foot ? [metadata.line, address] : [], size), metadata };
  }

  async #saveTable(format: NumberForm) {
    await this.#listed.catch(() => this.#list());
    const name = this.#which.value;
    if (this.#others && name === this.#others.title)
      return this.menu.say(`${await this.#others.save(format)} is saved.`);
    const view = await this.#collect();
    const table = view.tables[name];
    if (!table) throw new Error("The page does not show these numbers.");
    const sides = (table.sides ?? view.sides).map(describeSide);
    const shown = table.shown ? `${name}: ${table.shown}` : name;
    const file = await fetchFile(this.#api, "export_table", { sides, shown, format, table: encodeTable(table) });
    saveBlob(file.name, file);
    this.menu.say(`${file.name} is saved.`);
  }

  /** The metadata of a figure, and the address for its foot. */
  async #origin(
    view: Pick<ShownView, "sides">,
    drawing: ShownFigure,
  ): Promise<{ metadata: Metadata; address: string }> {
    const sides = drawing.sides ?? view.sides;
    const asked = { sides: sides.map(describeSide), shown: drawing.shown };
    const { meta } = await askRoute(this.#api, "export_origin", asked);
    const changes = sides.map(({ question, tokens, source_tokens }) =>
      editsInWords({ catalogue: meta, latestAnswer: { tokens, source_tokens } }, question.edits),
    );
    const { link, drawn } = await this.share.address();
    const fields = { ...meta.provenance, changes: changes.length > 1 ? changes : changes[0], address: link };
    const metadata = { line: originLine(meta.sides, changes), fields: JSON.stringify(fields) };
    return { metadata, address: drawn };
  }
}

/** Lists names; keeps the chosen one if it is among them. */
function listNames(list: HTMLSelectElement, names: string[]) {
  const chosen = names.includes(list.value) ? list.value : names[0];
  list.replaceChildren(...names.map((name) => new Option(name, name, false, name === chosen)));
  list.hidden = names.length < 2;
}

/** The line under a picture; the last of each side's parts is the program and the date. @param changes of each side */
export function originLine(sides: readonly string[][], changes: readonly string[][]) {
  const lines = sides.map((parts, side) => {
    const changed = changes[side].length ? [`changed: ${changes[side].join(", ")}`] : [];
    return [...parts.slice(0, -1), ...changed].join(" · ");
  });
  const named = sides.length > 1 ? lines.map((line, side) => `${LETTERS[side]}: ${line}`) : lines;
  return [...named, ...sides[0].slice(-1)].join(" · ");
}

/** A table in the form of a request. */
function encodeTable({ name, axes, labels, values }: Table) {
  if (values.length > MAX_TABLE_NUMBERS)
    throw new Error(
      `That is ${formatCount(values.length)} numbers; this page saves at most ${formatCount(MAX_TABLE_NUMBERS)} as a file.`,
    );
  return { name, axes, labels, values: toBase64(new Uint8Array(values.buffer, values.byteOffset, values.byteLength)) };
}

/** Tables with the description of their drawing. */
export function explained(tables: Record<string, Table>, shown: string) {
  return Object.fromEntries(Object.entries(tables).map(([title, table]) => [title, { shown, ...table }]));
}

/** Numbers to be saved, with labels for each axis by its name. */
export function createTable(name: string, labels: Record<string, string[]>, values: Iterable<number>): Table {
  return { name, axes: Object.keys(labels), labels: Object.values(labels), values: Float32Array.from(values) };
}

/** Numbers in front distinguish equal names, and keep a spreadsheet from reading one as a formula. */
export function numbered(tokens: { text: string }[]) {
  return tokens.map(({ text }, place) => `${place} ${text}`);
}
