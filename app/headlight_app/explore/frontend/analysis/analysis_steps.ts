// An analysis that runs step by step: until everything is done, the visitor stops it, or the question changes.

import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { askRoute, failureText, isAbort } from "../../../ui/frontend/server.ts";
import type { Pick, ViewRow } from "../../../ui/frontend/views/types.ts";
import { toggledEdits } from "../edits/edit_actions.ts";
import type { AnalysisPanel, AnalysisRow, AnalysisStepAnswer, ExplorePage } from "../types.ts";
import { askedQuestion, detailsOf } from "./analysis_choice.ts";

type Steps = { answer: AnalysisStepAnswer | null; rows: ViewRow[]; running: AbortController | null; problem: string };

const MOST_KEPT = 24; // of a page by request, so that undo restores earlier results

const memory = remembered((_page: ExplorePage) => new Map() as Map<string, Steps>);

function requestOf(page: ExplorePage, row: AnalysisRow, edits?: string[]) {
  return { question: askedQuestion(page, row, edits), ...detailsOf(page, row), with_tables: true };
}

function keyOf(page: ExplorePage, row: AnalysisRow, edits?: string[]) {
  return JSON.stringify(requestOf(page, row, edits));
}

/** The steps that were taken for the question on the page. */
export function stepsOf(page: ExplorePage, row: AnalysisRow) {
  return row.start ? memory(page).get(keyOf(page, row)) : undefined;
}

/** Keeps the result on the page if a click on it makes edits. */
export function keepSteps(page: ExplorePage, row: AnalysisRow, { toggle_edits }: Pick) {
  const steps = stepsOf(page, row);
  if (!steps || !Array.isArray(toggle_edits)) return;
  const key = keyOf(page, row, toggledEdits(page, toggle_edits));
  if (key !== keyOf(page, row)) keep(page, key, { ...steps, running: null });
}

function keep(page: ExplorePage, key: string, steps: Steps) {
  const known = memory(page);
  known.delete(key); // so that it counts as the latest
  known.set(key, steps);
  const resting = [...known].find(([, { running }]) => !running);
  if (known.size > MOST_KEPT && resting) known.delete(resting[0]);
}

/** Draws the button, the progress, and a sentence about it. */
export function drawRun(page: ExplorePage, { root, row }: AnalysisPanel) {
  findByTestId(root, "analysis-run").hidden = !row.start;
  if (!row.start) return;
  const button = findByTestId(root, "analysis-start", HTMLButtonElement);
  const bar = findByTestId(root, "analysis-progress", HTMLProgressElement);
  const { answer, running, problem } = stepsOf(page, row) ?? begin();
  const isDone = answer?.done === 1;
  button.textContent = running ? "Stop" : isDone ? "Done" : answer ? "Go on" : row.start;
  button.disabled = !running && isDone;
  button.onclick = () => (running ? stop(page, row) : takeSteps(page, row, root));
  bar.hidden = isDone || !(answer || running);
  bar.value = answer?.done ?? 0;
  const status = findByTestId(root, "analysis-status");
  const words = problem || answer?.words || "";
  if (status.textContent !== words) status.textContent = words;
}

function begin(): Steps {
  return { answer: null, rows: [], running: null, problem: "" };
}

function stop(page: ExplorePage, row: AnalysisRow) {
  const steps = stepsOf(page, row);
  steps?.running?.abort();
  if (steps) steps.running = null;
  page.view.redraw();
}

/** Requests step after step for the current choice, which the page may not show yet. */
async function takeSteps(page: ExplorePage, row: AnalysisRow, root: HTMLElement) {
  const [request, key, running] = [requestOf(page, row), keyOf(page, row), new AbortController()];
  const steps = stepsOf(page, row) ?? begin();
  const isShown = () => key === keyOf(page, row);
  const redraw = () => {
    if (isShown() && !root.hidden) page.view.redraw();
  };
  Object.assign(steps, { running, problem: "" });
  keep(page, key, steps);
  redraw();
  try {
    while (isShown() && !running.signal.aborted && steps.answer?.done !== 1) {
      const asked = { ...request, progress: steps.answer?.progress ?? "" };
      const { meta } = await askRoute(page.server.api, "analysis_step", asked, running.signal);
      steps.answer = meta;
      steps.rows = meta.rows as unknown as ViewRow[];
      redraw();
    }
  } catch (error) {
    if (!isAbort(error)) steps.problem = failureText(error);
  } finally {
    if (steps.running === running) steps.running = null;
    redraw();
  }
}
