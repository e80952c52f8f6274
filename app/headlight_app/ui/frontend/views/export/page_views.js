// A page of views as figures and as numbers, each with its origin.

import { explained } from "../../export/page_export.js";
import { drawViews, isDrawn } from "./figures.js";
import { LONGEST_NAME, tablesOf } from "./tables.js";

/** @import { Question, ShownFigure, ShownSide, ShownView, Table, ViewsAnswer } from "../../types.js" */
/** @import { Drawn } from "./figures.js" */
/** @import { Origin, ViewRow } from "../types.js" */
/** @typedef {Omit<ViewsAnswer, "rows"> & { page: string, question: Question, rows: ViewRow[] }} ShownPage */

const ALL_CHARTS = "all charts";

/** @param {ShownPage} page @returns {ShownView} */
export function shownView(page) {
  const [own, others] = [page.rows.filter(({ origin }) => !origin), page.rows.filter(({ origin }) => origin)];
  const views = drawnOf(own);
  const sets = views.map((view) => /** @type {[string, Drawn[]]} */ ([view.title, [view]]));
  if (views.length > 1) sets.unshift([ALL_CHARTS, views]);
  const whole = ownFigure(page, views);
  return {
    sides: pageSides(page),
    charts: {
      ...Object.fromEntries(sets.map(([subject, set]) => [subject, () => ownFigure(page, set)])),
      ...Object.fromEntries(others.flatMap((row) => otherFigures(page, row))),
    },
    tables: {
      ...explained(named(page, tablesOf(own)), whole.shown),
      ...Object.assign({}, ...others.map((row) => otherTables(page, row))),
    },
  };
}

/** The run of the page. @param {Pick<ShownPage, "question">} page @returns {ShownSide[]} */
export function pageSides({ question }) {
  return [sideOf(question)];
}

/** @param {Question} question @returns {ShownSide} */
function sideOf(question) {
  return { question, tokens: [], source_tokens: null };
}

/** @param {ViewRow[]} rows */
function drawnOf(rows) {
  return rows.flatMap(({ views }) => views.filter(isDrawn));
}

/** @param {ShownPage} page @param {Drawn[]} views @returns {ShownFigure} */
function ownFigure({ page, title, about }, views) {
  const draw = drawViews([{ views }], 2);
  return {
    name: `${page}-${plainName(title)}`,
    shown: `${title}: ${views.map((view) => view.title.toLowerCase()).join(", ")} · ${about}`,
    draw: (width, heading) => draw(width, heading || title),
  };
}

/** The figures of numbers that are not from the page's run. @param {ShownPage} page @param {ViewRow} row */
function otherFigures({ page }, row) {
  const { models, words, brief } = /** @type {Origin} */ (row.origin);
  return drawnOf([row]).map((view) => {
    const name = `${page}-${plainName(view.title)}`;
    const figure = { name, shown: `${view.title}, ${words}`, brief, sides: asTrained(models) };
    return [view.title, () => ({ ...figure, draw: drawViews([{ views: [view] }]) })];
  });
}

/** @param {ShownPage} page @param {ViewRow} row */
function otherTables(page, row) {
  const sides = asTrained(/** @type {Origin} */ (row.origin).models);
  const tables = Object.entries(named(page, tablesOf([row])));
  return Object.fromEntries(tables.map(([title, table]) => [title, { ...table, sides }]));
}

/** Tables whose files are named after the page. @param {ShownPage} page @param {Record<string, Table>} tables */
function named({ page }, tables) {
  const nameOf = (/** @type {Table} */ { name }) => `${page} ${name}`.slice(0, LONGEST_NAME);
  return Object.fromEntries(Object.entries(tables).map(([title, table]) => [title, { ...table, name: nameOf(table) }]));
}

/** Models without an input; the fields of their questions that are left out are the defaults. @param {string[]} models */
function asTrained(models) {
  return models.map((model) => sideOf(/** @type {Question} */ (/** @type {unknown} */ ({ model, edits: [] }))));
}

/** @param {string} title as a part of a file's name */
function plainName(title) {
  return (title.toLowerCase().match(/[a-z0-9]+/g) ?? []).join("-");
}
