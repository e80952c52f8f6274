// What a change did to the prediction, for those who hear the page.

import { formatPercent, inlineText } from "../../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../../ui/frontend/dom/elements.js";
import { remembered } from "../../../ui/frontend/state/memory.js";
import { countChanges } from "../edits/edit_history.js";

/** @import { Prediction } from "../../../ui/frontend/types.js" */
/** @import { ExplorePage } from "../types.js" */

const memory = remembered((/** @type {ExplorePage} */ _) => ({ changes: "" }));

/** The likeliest answer with its share, and what that was before. @param {Prediction} prediction @param {boolean} changed */
export function announcedPrediction({ title, candidates }, changed) {
  const [likeliest] = [...candidates].sort((one, other) => other.after - one.after);
  const before = changed ? `, before ${formatPercent(likeliest.before)}` : "";
  return `${title}: ${inlineText(likeliest.text)} ${formatPercent(likeliest.after)}${before}`;
}

/** Says it after each change of the model; while somebody types, the page is silent. @param {ExplorePage} page */
export function announcePrediction(page) {
  const { choice, answer } = page.state;
  const changes = JSON.stringify([choice.edits, choice.variant]);
  const { changes: known } = memory(page);
  memory(page).changes = changes;
  const [prediction] = answer.predictions;
  if (!known || known === changes || !prediction?.candidates.length) return;
  const words = announcedPrediction(prediction, countChanges(choice) > 0);
  findByTestId(page.view.elements.board, "announced").textContent = words;
}
