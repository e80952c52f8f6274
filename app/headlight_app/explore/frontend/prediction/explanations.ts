// What is explained beside the open panel: what to look at next once heads are switched off, why the likeliest answer
// leads, and why the chosen head looks at a token.

import { areScores, leaderOf } from "../../../ui/frontend/charts/answer_numbers.ts";
import { updateChildren } from "../../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { takePress } from "../../../ui/frontend/heads/plot_events.ts";
import { currentGroup } from "../../../ui/frontend/state/head_selection.ts";
import { chosenKey } from "../../../ui/frontend/state/token_selection.ts";
import { createRows } from "../../../ui/frontend/views/rows.ts";
import { picksOf } from "../analysis/analysis_choice.ts";
import { drawingOf, rowsOf } from "../analysis/analysis_views.ts";
import { askFloats } from "../server.ts";
import type { ExplorePage, ShownDrawing } from "../types.ts";

const [WHY_PAUSE, LEDGER_PAUSE] = [900, 300]; // milliseconds without another choice

/** Whether a request is for an explanation. */
export function isExplanation(details: object) {
  return "analysis" in details && ["offer", "why", "ledger"].includes(String(details.analysis));
}

const memory = remembered((_: ExplorePage) => ({ pressed: "" })); // the weight whose explanation is waited for

export function drawExplanations(page: ExplorePage) {
  draw(page, "offer", offerChoice(page), LEDGER_PAUSE);
  draw(page, "why", whyChoice(page), WHY_PAUSE);
  const choice = ledgerChoice(page);
  scrollToPressed(page, draw(page, "ledger", choice, LEDGER_PAUSE), JSON.stringify(choice));
}

/** Scrolls, once, to the explanation of a weight that was pressed in the plot, as it opens below; other choices scroll nowhere. */
function scrollToPressed(page: ExplorePage, ledger: HTMLElement, weight: string) {
  const known = memory(page);
  if (takePress(page)) known.pressed = weight;
  if (known.pressed === weight && ledger.ariaBusy === "true") return;
  if (known.pressed === weight && !ledger.hidden) ledger.scrollIntoView({ block: "nearest" });
  known.pressed = "";
}

/** The earlier rows stay, faded, until the new ones have arrived. @param choice null: nothing */
function draw(page: ExplorePage, name: string, choice: Record<string, unknown> | null, pause: number) {
  const place = findByTestId(page.view.elements.board, name);
  const found = choice && page.server.get("analysis", { analysis: name, choice }, pause);
  place.ariaBusy = String(Boolean(choice) && !found);
  if (!choice || found) {
    const rows = found && !found.meta.error ? rowsOf(found.meta) : [];
    const surroundings = { width: place.clientWidth, picks: picksOf(page) };
    updateChildren(place, ...createRows(rows, surroundings, { isOpen: false }));
  }
  place.hidden = !place.childElementCount;
  return place;
}

/** Null unless heads alone are switched off, and the likeliest answer is another without them or moves much. */
function offerChoice({ state }: ExplorePage) {
  const { question, attention_groups, predictions } = state.answer;
  const { query } = state.choice;
  const shown = predictions.find(({ position }) => position === query) ?? predictions[0];
  const switchesHeadsOff = (edit: string) => attention_groups.some(({ ablations }) => ablations[edit]?.length);
  const isOfHeads = question.edits.length > 0 && question.edits.every(switchesHeadsOff);
  if (!isOfHeads || Object.values(question.variant).some(Boolean) || !shown || areScores(shown)) return null;
  const [before, after] = [leaderOf(shown, "before"), leaderOf(shown, "after")];
  const isLarge = before.id !== after.id || Math.abs(before.after - before.before) >= state.catalogue.large_change;
  return isLarge ? { query } : null;
}

/** Null for a prediction of the whole text, which is not explained here, and for a lone candidate. */
function whyChoice(page: ExplorePage) {
  const [prediction] = page.state.answer.predictions;
  const isKnown = prediction?.candidates.length > 1 && prediction.token_text !== null;
  return isKnown ? { query: page.state.choice.query } : null;
}

/** The clicked weight of one head. */
function ledgerChoice(page: ExplorePage) {
  const { pinned, layer, head, heads } = page.state.choice;
  const key = chosenKey(page);
  if (pinned.length !== 1 || key === null || heads.length > 1) return null;
  return { attention: currentGroup(page).name, layer, head, pinned, key };
}

/** The ledger as a figure and as numbers; null if no weight is clicked. */
export async function ledgerDrawing(page: ExplorePage): Promise<ShownDrawing | null> {
  const choice = ledgerChoice(page);
  if (!choice) return null;
  const { meta } = await askFloats(page, "analysis", { analysis: "ledger", choice, with_tables: true });
  return drawingOf(page, "ledger", rowsOf(meta));
}
