// A page of views as figures and as numbers, each with its origin.

import { explained } from "../../export/page_export.ts";
import type { Question, ShownFigure, ShownSide, ShownView, ViewsAnswer } from "../../types.ts";
import type { Origin, ViewRow } from "../types.ts";
import type { Drawn } from "./figures.ts";
import { drawPanels, hasFigure } from "./figures.ts";
import { namedAfter, tablesOf } from "./tables.ts";

type ShownPage = Omit<ViewsAnswer, "rows"> & { page: string; question: Question; rows: ViewRow[] };

const ALL_CHARTS = "all charts";

export function shownView(page: ShownPage): ShownView {
  const [own, others] = [page.rows.filter(({ origin }) => !origin), page.rows.filter(({ origin }) => origin)];
  const views = drawnOf(own);
  const titled = views.filter(({ title }) => title);
  const sets = titled.map((view) => [view.title, [view]] as [string, Drawn[]]);
  if (views.length > 1 || views.length > titled.length) sets.unshift([ALL_CHARTS, views]);
  const whole = ownFigure(page, views);
  return {
    sides: pageSides(page),
    charts: {
      ...Object.fromEntries(sets.map(([subject, set]) => [subject, () => ownFigure(page, set)])),
      ...Object.fromEntries(others.flatMap((row) => otherFigures(page, row))),
    },
    tables: {
      ...explained(namedAfter(page.page, tablesOf(own)), whole.shown),
      ...Object.assign({}, ...others.map((row) => otherTables(page, row))),
    },
  };
}

/** The run of the page. */
export function pageSides({ question }: Pick<ShownPage, "question">): ShownSide[] {
  return [sideOf(question)];
}

function sideOf(question: Question): ShownSide {
  return { question, tokens: [], source_tokens: null };
}

function drawnOf(rows: ViewRow[]) {
  return rows.flatMap(({ views }) => views.filter(hasFigure));
}

function ownFigure({ page, title, about }: ShownPage, views: Drawn[]): ShownFigure {
  const draw = drawPanels(views, 2);
  const titles = views.flatMap((view) => (view.title ? [view.title.toLowerCase()] : []));
  return {
    name: `${page}-${plainName(title)}`,
    shown: `${[title, titles.join(", ")].filter(Boolean).join(": ")} · ${about}`,
    draw: (width, heading) => draw(width, heading || title),
  };
}

/** The figures of numbers that are not from the page's run. */
function otherFigures({ page }: ShownPage, row: ViewRow) {
  const { models, words, brief } = row.origin as Origin;
  const titled = drawnOf([row]).filter(({ title }) => title);
  return titled.map((view) => {
    const name = `${page}-${plainName(view.title)}`;
    const figure = { name, shown: `${view.title}, ${words}`, brief, sides: asTrained(models) };
    return [view.title, () => ({ ...figure, draw: drawPanels([view]) })];
  });
}

function otherTables(page: ShownPage, row: ViewRow) {
  const sides = asTrained((row.origin as Origin).models);
  const tables = Object.entries(namedAfter(page.page, tablesOf([row])));
  return Object.fromEntries(tables.map(([title, table]) => [title, { ...table, sides }]));
}

/** Models without an input; the fields of their questions that are left out are the defaults. */
function asTrained(models: string[]) {
  return models.map((model) => sideOf({ model, edits: [] } as unknown as Question));
}

/** @param title as a part of a file's name */
function plainName(title: string) {
  return (title.toLowerCase().match(/[a-z0-9]+/g) ?? []).join("-");
}
