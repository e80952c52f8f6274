// The answer above the tabs, such as a task's, in the menu Export: it is one more figure, and its numbers are tables.

import { addFoot } from "../../../ui/frontend/charts/figure_text.js";
import { saveBlob } from "../../../ui/frontend/dom/clipboard.js";
import { findByTestId } from "../../../ui/frontend/dom/elements.js";
import { encodeTable } from "../../../ui/frontend/export/page_export.js";
import { fetchFile } from "../server.js";

/** @import { Side } from "../../../ui/frontend/export/contract.js" */
/** @import { Figure, ShownDrawing } from "../../../ui/frontend/export/types.js" */
/** @import { ExplorePage } from "../types.js" */
/** @typedef {{ width: number, title: string, foot: string }} FigureOptions */

const ANSWER = "answer";
const PICTURE = ""; // the numbers of the picture of heads, or of a path

export class AnswerExport {
  #page;
  #subject;
  #which;
  #path;

  /** @param {ExplorePage} page @param {ParentNode} place */
  constructor(page, place) {
    this.#page = page;
    this.#subject = findByTestId(place, "figure-subject", HTMLSelectElement);
    this.#which = findByTestId(place, "export-which", HTMLSelectElement);
    this.#path = findByTestId(place, "export-path", HTMLInputElement);
    this.#which.onchange = () => this.#showPath();
  }

  /** Whether the figure that was chosen is the answer's. */
  get drawsFigure() {
    return this.#subject.value === ANSWER;
  }

  /** Whether the numbers that were chosen are the answer's. */
  get hasTable() {
    return this.#which.value !== PICTURE;
  }

  /** What there is to choose from now; the answer comes first, because it stands first on the page. */
  async list() {
    const drawing = await this.#page.view.exportAnswer();
    if (!drawing) return;
    if (!this.#subject.querySelector(`[value="${ANSWER}"]`))
      this.#subject.prepend(new Option("the answer to the task", ANSWER, true, true));
    const titles = Object.keys(drawing.tables);
    const chosen = this.#which.options.length ? this.#which.value : titles[0];
    const options = [...titles.map((title) => [title, title]), ["Of the picture of heads, or of a path", PICTURE]];
    this.#which.replaceChildren(...options.map(([title, value]) => new Option(title, value, false, value === chosen)));
    this.#which.hidden = false;
    this.#showPath();
  }

  /** @param {FigureOptions} options @param {ShownDrawing} drawing @returns {Figure} */
  figure({ width, title, foot }, drawing) {
    const { figure, y } = drawing.draw(width, title);
    addFoot(figure, [drawing.shown], foot, y);
    return figure;
  }

  /** @param {Side} side the question and its heads @param {string} format @returns {Promise<string>} the file's name */
  async saveTable(side, format) {
    const { shown, tables } = await this.drawing();
    const title = this.#which.value;
    if (!tables[title]) throw new Error("The page shows no such numbers now.");
    const table = encodeTable(tables[title]);
    const asked = { sides: [side], shown: `${title}: ${shown}`, format, table };
    const file = await fetchFile(this.#page, "export_table", asked);
    saveBlob(file.name, file);
    return file.name;
  }

  /** @returns {Promise<ShownDrawing>} */
  async drawing() {
    const drawing = await this.#page.view.exportAnswer();
    if (!drawing) throw new Error("This page shows no answer to a task.");
    return drawing;
  }

  #showPath() {
    this.#path.hidden = this.hasTable;
  }
}
