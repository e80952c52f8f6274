// The tab "Step by step": one head, one query, one key, from the residual stream to what the head writes back to it;
// then the network of its layer, and the prediction at the query, from the last layer to the probabilities.

import { answerNumber, bestWord } from "../../../ui/frontend/charts/answer_numbers.ts";
import { fillSelect, tokenOptions } from "../../../ui/frontend/charts/charts.ts";
import { createButton, inlineText, listenTo, optionsOf } from "../../../ui/frontend/dom/dom.ts";
import { find } from "../../../ui/frontend/dom/elements.ts";
import { loadMathematicsFont } from "../../../ui/frontend/fonts/mathematics.ts";
import { markTokens } from "../../../ui/frontend/heads/token_strip.ts";
import { isShortcut } from "../../../ui/frontend/shortcut.ts";
import { clampHead, currentGroup } from "../../../ui/frontend/state/head_selection.ts";
import {
  chooseQuery,
  chosenKey,
  keyTokens,
  queryPosition,
  queryTokens,
} from "../../../ui/frontend/state/token_selection.ts";
import type { AttentionGroup, ExplorePage, Tab } from "../types.ts";
import { drawOutcome } from "./outcome.ts";
import { drawStep } from "./step.ts";
import { drawStepList } from "./step_list.ts";
import { answersOf, openStep, shownWalkthrough, splitValues, walkthroughMemory } from "./walkthrough.ts";

export default { draw: drawWalkthrough } as Tab;

/** The ways back to the heads: a button, and Escape outside of menus, which it closes. @returns ends it */
export function createWayBack(page: ExplorePage): () => void {
  const leave = () => {
    page.change({ tab: "heads" });
    page.view.elements.stage.focus();
  };
  const button = createButton("small", "‹ Back to heads", "back-to-heads", leave);
  button.title = "Also with Escape, outside of a menu or a text box";
  button.setAttribute("aria-keyshortcuts", "Escape");
  find(page.view.panels.walkthrough, "header").prepend(button);
  const pressed = (event: KeyboardEvent) => {
    const [from] = event.composedPath();
    const isHere = from === document.body || event.composedPath().includes(page.view.elements.root); // not in a dialog
    if (page.state.choice.tab === "walkthrough" && isHere && isShortcut(event, "Escape")) leave();
  };
  return listenTo(document, { keydown: pressed });
}

function drawWalkthrough(page: ExplorePage) {
  const group = currentGroup(page);
  if (!group) return showMessage(page, "This model has no layers, so there is no attention to walk through.");
  loadMathematicsFont();
  clampHead(page, group);
  drawSelects(page, group);
  const memory = walkthroughMemory(page);
  const { layer, head, target_token } = page.state.choice;
  const attention = `${group.stack}.${layer}.${group.kind}`;
  const chosen = memory.previewedKey ?? chosenKey(page) ?? -1;
  const asked = { attention, head, query: queryPosition(page), key: chosen, token: target_token };
  const found = page.server.get("walkthrough", asked);
  if (!found) return; // the old drawing stays until the numbers have arrived
  if (found.meta.error) return showMessage(page, found.meta.error);
  showMessage(page, "");
  const code = page.server.get("step_code", { attention })?.meta.code;
  memory.shown = { ...found.meta, steps: splitValues(found), code };
  fillSelect(memory.elements.key, tokenOptions(keyTokens(page)), found.meta.key, (value) =>
    page.change({ key: Number(value) }),
  );
  drawPart(page);
  const key = isPrediction(page) ? -1 : found.meta.key;
  markTokens(page, { side: group.queries, position: found.meta.query }, { side: group.keys, position: key });
  drawStepList(page);
  drawStep(page);
  drawOutcome(page, (previewed) => previewKey(page, previewed));
}

/** Whether the open step belongs to the prediction rather than a head. */
function isPrediction(page: ExplorePage) {
  return openStep(page).part === "prediction";
}

/** Shows the selects for head and key in the steps of a head, for the answer in those of the prediction. */
function drawPart(page: ExplorePage) {
  const { answers, steps } = shownWalkthrough(page);
  const { answer, attentions, ofHead, ofPrediction } = walkthroughMemory(page).elements;
  const prediction = isPrediction(page);
  for (const element of ofHead) element.hidden = prediction;
  for (const element of ofPrediction) element.hidden = !prediction;
  if (!prediction) return;
  attentions.hidden = true;
  const { numbers = [], meaning } = answersOf(steps);
  const options = answers.map(({ id, text }, place) => {
    return [id, `${inlineText(text)}  ${answerNumber(meaning, numbers[place])}`] as [number, string];
  });
  fillSelect(answer, [[-1, `the ${bestWord(meaning)}`], ...options], page.state.choice.target_token, (value) =>
    page.change({ target_token: Number(value) }),
  );
}

/** Shows a sentence instead of the steps, or hides it if empty. */
function showMessage(page: ExplorePage, sentence: string) {
  const { message, walk } = walkthroughMemory(page).elements;
  message.textContent = sentence;
  message.hidden = !sentence;
  walk.hidden = Boolean(sentence);
}

function drawSelects(page: ExplorePage, group: AttentionGroup) {
  const { attention_groups } = page.state.answer;
  const { attentions, attention, layer, head, query } = walkthroughMemory(page).elements;
  const { choice } = page.state;
  attentions.hidden = attention_groups.length < 2;
  fillSelect(attention, optionsOf(attention_groups), group.name, (name) => page.change({ attention: name, key: -1 }));
  fillSelect(layer, numberOptions(group.layers), choice.layer, (value) => page.change({ layer: Number(value) }));
  fillSelect(head, numberOptions(group.heads), choice.head, (value) => page.change({ head: Number(value) }));
  fillSelect(query, tokenOptions(queryTokens(page)), queryPosition(page), (value) => chooseQuery(page, Number(value)));
}

function numberOptions(count: number): [number, string][] {
  return Array.from({ length: count }, (_, index) => [index, String(index)]);
}

/** Previews a key under the pointer; null returns to the chosen key. */
function previewKey(page: ExplorePage, key: number | null) {
  const memory = walkthroughMemory(page);
  if (memory.previewedKey === key) return;
  memory.previewedKey = key;
  drawWalkthrough(page);
}
