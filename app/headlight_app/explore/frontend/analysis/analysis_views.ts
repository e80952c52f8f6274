// An analysis whose views are computed in Python: on the screen, as a figure, and as numbers.

import { withoutIsolates } from "../../../ui/frontend/charts/figure_text.ts";
import { updateChildren } from "../../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { keepScrolled } from "../../../ui/frontend/dom/scrolling.ts";
import { currentGroup } from "../../../ui/frontend/state/head_selection.ts";
import { isControl } from "../../../ui/frontend/views/controls.ts";
import { drawViews, isDrawn } from "../../../ui/frontend/views/export/figures.ts";
import { tablesOf } from "../../../ui/frontend/views/export/tables.ts";
import { decodeImages } from "../../../ui/frontend/views/image.ts";
import type { Drawn } from "../../../ui/frontend/views/rows.ts";
import { createRows } from "../../../ui/frontend/views/rows.ts";
import type { ViewRow } from "../../../ui/frontend/views/types.ts";
import { askFloats } from "../server.ts";
import { runOf } from "../shown_run.ts";
import type { AnalysisAnswer, AnalysisPanel, AnalysisRow, ExplorePage, Found, ShownDrawing } from "../types.ts";
import { answerPosition, askedQuestion, detailsOf, picksOf } from "./analysis_choice.ts";
import { drawRun, keepSteps, stepsOf } from "./analysis_steps.ts";

const PLACES = ["analysis-views", "analysis-long", "analysis-steps"];

const memory = remembered((_root: HTMLElement) => ({
  /** Kept from answer to answer. */
  shown: {
    isOpen: false,
    controls: new Map() as Map<string, HTMLElement>,
    drawn: new WeakMap() as WeakMap<ViewRow, Drawn>,
  },
  /** The rows of each place, and the question that they are about. */
  rows: new Map() as Map<HTMLElement, { rows: ViewRow[]; question: string }>,
  /** The titles of the rows when a part was clicked: a row that this opens is scrolled to. */
  before: null as string[] | null,
}));

export function drawAnalysis(page: ExplorePage, panel: AnalysisPanel) {
  const { row, root } = panel;
  const [atOnce, later, stepwise] = PLACES.map((name) => findByTestId(root, name));
  if (atOnce.dataset.shown !== row.name) {
    for (const place of [atOnce, later, stepwise]) {
      place.replaceChildren();
      place.dataset.drawn = "";
    }
    memory(root).shown.controls.clear();
    memory(root).rows.clear();
    memory(root).before = null;
    say(panel, "");
  }
  atOnce.dataset.shown = row.name;
  const { server } = page;
  const details = detailsOf(page, row, { isLong: true });
  const isDrawn = row.routes.includes("analysis")
    ? drawFound(
        page,
        panel,
        atOnce,
        server.get("analysis", detailsOf(page, row, { ofControls: true }), row.pause_at_once),
      )
    : drawRows(page, panel, atOnce, []);
  if (!isDrawn) return;
  if (!row.routes.includes("long_analysis")) drawRows(page, panel, later, []);
  else if (!drawFound(page, panel, later, server.get("long_analysis", details, row.pause))) return;
  drawRun(page, panel);
  drawRows(page, panel, stepwise, stepsOf(page, row)?.rows ?? []);
  if (atOnce.ariaBusy !== "true") memory(root).before = null;
}

/** Whether the analysis can be shown for this model. */
function drawFound(page: ExplorePage, panel: AnalysisPanel, place: HTMLElement, found: Found<AnalysisAnswer> | null) {
  const { name, routes } = panel.row;
  const isWhole = place.dataset.testid === PLACES[0] || routes.length === 1;
  if (isWhole && place.dataset.drawn !== name) markWaiting(place, !found);
  else place.ariaBusy = String(!found);
  if (!found) return keepRows(page, panel, place, isWhole);
  place.dataset.drawn = name;
  if (!found.meta.error) return drawRows(page, panel, place, rowsOf(found.meta));
  if (!isWhole) return drawRows(page, panel, place, [sentenceRow(found.meta.error)]); // the rest can be used without it
  if (!panel.refuse(found.meta.error)) drawProblem(page, panel, place, found.meta.error);
  return false;
}

/** The sentence below the controls, with which the cause may be removed. */
function drawProblem(page: ExplorePage, panel: AnalysisPanel, place: HTMLElement, sentence: string) {
  const known = memory(panel.root).rows.get(place)?.rows ?? [];
  const controls = known.filter(({ views }) => views.length && views.every(isControl));
  drawRows(page, panel, place, [...controls, sentenceRow(sentence)]);
  drawRows(page, panel, findByTestId(panel.root, PLACES[1]), []);
}

/**
 * Until the answer has come, the earlier rows stay; of the same text they show at once what is chosen now. What a part
 * of an analysis offers for another text goes.
 */
function keepRows(page: ExplorePage, panel: AnalysisPanel, place: HTMLElement, isWhole: boolean) {
  const { rows, question } = memory(panel.root).rows.get(place) ?? { rows: [], question: "" };
  if (question === JSON.stringify(page.state.answer.question)) return drawRows(page, panel, place, rows);
  const offers = !isWhole && rows.some((row) => row.views.some(isControl));
  return offers ? drawRows(page, panel, place, []) : true;
}

function drawRows(page: ExplorePage, panel: AnalysisPanel, place: HTMLElement, rows: ViewRow[]) {
  const { rows: known, shown } = memory(panel.root);
  const width = place.parentElement?.clientWidth || innerWidth;
  const { other_text: _, patch_from: __, ...choice } = page.state.choice; // only controls show these, and controls are drawn again in any case
  const key = JSON.stringify([width, choice, answerPosition(page)]);
  const question = JSON.stringify(page.state.answer.question);
  const isSame = known.get(place)?.question === question;
  known.set(place, { rows, question });
  const surroundings = { width, picks: chosenHere(page, panel), mark: panel.mark };
  const drawn = createRows(rows, surroundings, Object.assign(shown, { key }));
  keepScrolled(place, () => updateChildren(place, ...drawn), isSame);
  scrollToOpened(panel, rows, place);
  const sentence = firstSentence(rows);
  if (sentence) say(panel, sentence);
  return true;
}

/** Marks a text that waits for an answer, with a message if it is still empty. */
function markWaiting(words: HTMLElement, waits: boolean) {
  words.ariaBusy = String(waits);
  if (waits && !words.hasChildNodes()) words.textContent = "This is being computed …";
}

/** The picks of the views; what one of them opens is scrolled to. */
function chosenHere(page: ExplorePage, { root, row }: AnalysisPanel) {
  const picks = picksOf(page);
  return {
    ...picks,
    choose(pick: Parameters<typeof picks.choose>[0]) {
      memory(root).before = PLACES.flatMap((name) => headingsOf(findByTestId(root, name)));
      keepSteps(page, row, pick);
      picks.choose(pick);
    },
  };
}

function headingsOf(place: HTMLElement) {
  return [...place.querySelectorAll("h3")].map(({ textContent }) => textContent ?? "");
}

function scrollToOpened({ root }: AnalysisPanel, rows: ViewRow[], place: HTMLElement) {
  const { before } = memory(root);
  const opened = before ? rows.findIndex(({ title }) => title && !before.includes(title)) : -1;
  if (opened < 0) return;
  memory(root).before = null;
  place.children[opened]?.scrollIntoView({ block: "nearest" });
}

/** Says a sentence to a screen reader, once. */
function say({ root }: AnalysisPanel, sentence: string) {
  const said = findByTestId(root, "analysis-said");
  if (said.textContent !== sentence) said.textContent = sentence;
}

function firstSentence(rows: ViewRow[]) {
  return rows.flatMap(({ views }) => views.flatMap((view) => (view.kind === "verdict" ? [view.text] : [])))[0] ?? "";
}

function sentenceRow(text: string): ViewRow {
  return { title: "", text, views: [], folded: false };
}

export function rowsOf({ rows }: AnalysisAnswer) {
  return rows as unknown as ViewRow[];
}

/**
 * The views as a figure and as numbers; null if there are only controls.
 * @param side what is known of the run besides its question
 */
export async function exportAnalysis(
  page: ExplorePage,
  row: AnalysisRow,
  side: object = { question: askedQuestion(page, row), ...attentionOf(page, row) },
): Promise<ShownDrawing | null> {
  const name = row.name.replaceAll("_", "-");
  const rows = await rowsToSave(page, row);
  if (!rows.some(({ views }) => views.some(isDrawn))) {
    const sentences = sentencesOf(rows);
    if (sentences) throw new Error(sentences);
    return null;
  }
  await decodeImages(rows.flatMap(({ views }) => views));
  const words = stepsOf(page, row)?.answer?.words ?? "";
  return drawingOf(page, name, rows, [row.title, words], side);
}

/** Rows as a figure and as numbers. @param words said before and after @param side what else is known of the run */
export function drawingOf(
  page: ExplorePage,
  name: string,
  rows: ViewRow[],
  [title, words]: string[] = ["", ""],
  side: object = {},
): ShownDrawing {
  const said = new Set([title, ...rows.flatMap(captionsOf), words].filter(Boolean));
  return {
    name,
    shown: withoutIsolates([...said].join("; ")),
    sides: [{ ...runOf(page), ...side }],
    draw: drawViews(rows),
    tables: tablesOf(rows),
  };
}

/** What is said of a row in a figure: of what it draws, and what it states. */
function captionsOf({ title, text, views }: ViewRow) {
  const said = views.flatMap((view) => (view.kind === "verdict" ? [view.text] : isDrawn(view) ? [view.title] : []));
  return said.length ? [title, ...said, text] : [];
}

/** What is said in place of views. */
function sentencesOf(rows: ViewRow[]) {
  return rows.flatMap(({ views }) => views.flatMap((view) => (view.kind === "verdict" ? [view.text] : []))).join(" ");
}

/** The attention that is analysed, if it can be chosen: patches are of self-attention. */
function attentionOf(page: ExplorePage, { reads, of_unpatched }: AnalysisRow) {
  const group = currentGroup(page);
  if (!group || !reads.includes("attention")) return {};
  return { attention_group: of_unpatched ? `${group.stack}.self` : group.name };
}

/** All rows, with their numbers. */
async function rowsToSave(page: ExplorePage, row: AnalysisRow): Promise<ViewRow[]> {
  const steps = stepsOf(page, row);
  if (row.start && !steps?.rows.length)
    throw new Error(`Nothing is computed yet: press “${row.start}” first, then save the result.`);
  const found = await Promise.all(
    (["analysis", "long_analysis"] as const).map((route) => {
      const details = detailsOf(page, row, { ofControls: true, isLong: route === "long_analysis" });
      return row.routes.includes(route) && askFloats(page, route, { ...details, with_tables: true });
    }),
  );
  return [...found.flatMap((answer) => (answer ? rowsOf(answer.meta) : [])), ...(steps?.rows ?? [])];
}
