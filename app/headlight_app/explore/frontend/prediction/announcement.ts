// Announces the effect of a change on the prediction to screen readers.

import { answerNumber } from "../../../ui/frontend/charts/answer_numbers.ts";
import { announce } from "../../../ui/frontend/dom/announce.ts";
import { inlineText } from "../../../ui/frontend/dom/dom.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { countChanges } from "../edits/edit_history.ts";
import type { ExplorePage, Prediction } from "../types.ts";
import { changeInWords } from "./what_changed.ts";

/** The state of an answer, to compare with the next one. */
type Known = { model: string; masked: string; text: string; notes: readonly string[] };

const memory = remembered((_: ExplorePage) => ({ known: null as Known | null }));

/** The likeliest answer with its probability (or the highest score), and the number before the change. */
export function announcedPrediction(prediction: Prediction, changed: boolean) {
  const [likeliest] = [...prediction.candidates].sort((one, other) => other.after - one.after);
  const before = changed ? `, before ${answerNumber(prediction, likeliest.before)}` : "";
  return `${prediction.title}: ${inlineText(likeliest.text)} ${answerNumber(prediction, likeliest.after)}${before}`;
}

/**
 * The announcement of an answer: the prediction, what has changed in the chosen head and new warnings after a change of
 * the model or its mask; nothing while the visitor types.
 */
export function announcedChange(
  known: Known | null,
  now: Known,
  prediction: Prediction | undefined,
  changed: boolean,
  ofHead: () => string = () => "",
) {
  const isMasked = known?.text === now.text && known.masked !== now.masked; // otherwise the masks went with the text
  if (!known || (known.model === now.model && !isMasked)) return "";
  const predicted = prediction?.candidates.length ? [announcedPrediction(prediction, changed)] : [];
  const fresh = now.notes.filter((note) => !known.notes.includes(note));
  return [...predicted, ofHead().replace(/\.$/, ""), ...fresh].filter(Boolean).join(". ");
}

/** Announces an answer once it is drawn; it may be drawn again while a choice that was made since has none yet. */
export function announcePrediction(page: ExplorePage) {
  const { answer } = page.state;
  const { edits, variant, text, source, text_pair, chat, masked_positions } = answer.question;
  const now = {
    model: JSON.stringify([edits, variant]),
    masked: JSON.stringify(masked_positions),
    text: JSON.stringify([text, source, text_pair, chat]),
    notes: answer.notes,
  };
  const words = announcedChange(memory(page).known, now, answer.predictions[0], countChanges(answer.question) > 0, () =>
    changeInWords(page),
  );
  memory(page).known = now;
  if (words) announce(page.view.elements.root, words);
}
