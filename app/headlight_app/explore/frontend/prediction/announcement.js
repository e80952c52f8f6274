// Announces the effect of a change on the prediction to screen readers.

import { answerNumber } from "../../../ui/frontend/charts/answer_numbers.js";
import { announce } from "../../../ui/frontend/dom/announce.js";
import { inlineText } from "../../../ui/frontend/dom/dom.js";
import { remembered } from "../../../ui/frontend/dom/memory.js";
import { countChanges } from "../edits/edit_history.js";

/** @import { ExplorePage, Prediction } from "../types.js" */

/**
 * The state of an answer, to compare with the next one. @typedef {{ model: string, masked: string, text: string, notes:
 * readonly string[] }} Known
 */

const memory = remembered((/** @type {ExplorePage} */ _) => ({ known: /** @type {Known | null} */ (null) }));

/**
 * The likeliest answer with its probability (or the highest score), and the number before the change.
 * @param {Prediction} prediction @param {boolean} changed
 */
export function announcedPrediction(prediction, changed) {
  const [likeliest] = [...prediction.candidates].sort((one, other) => other.after - one.after);
  const before = changed ? `, before ${answerNumber(prediction, likeliest.before)}` : "";
  return `${prediction.title}: ${inlineText(likeliest.text)} ${answerNumber(prediction, likeliest.after)}${before}`;
}

/**
 * The announcement of an answer: the prediction and new warnings after a change of the model or its mask; nothing while
 * the visitor types.
 * @param {Known | null} known @param {Known} now @param {Prediction | undefined} prediction @param {boolean} changed
 */
export function announcedChange(known, now, prediction, changed) {
  const isMasked = known?.text === now.text && known.masked !== now.masked; // otherwise the masks went with the text
  if (!known || (known.model === now.model && !isMasked)) return "";
  const predicted = prediction?.candidates.length ? [announcedPrediction(prediction, changed)] : [];
  const fresh = now.notes.filter((note) => !known.notes.includes(note));
  return [...predicted, ...fresh].join(". ");
}

/** Announces an answer once it is drawn. @param {ExplorePage} page */
export function announcePrediction(page) {
  const { choice, answer } = page.state;
  const { text, source, text_pair, chat, masked_positions } = answer.question;
  const now = {
    model: JSON.stringify([choice.edits, choice.variant]),
    masked: JSON.stringify(masked_positions),
    text: JSON.stringify([text, source, text_pair, chat]),
    notes: answer.notes,
  };
  const words = announcedChange(memory(page).known, now, answer.predictions[0], countChanges(choice) > 0);
  memory(page).known = now;
  if (words) announce(page.view.elements.root, words);
}
