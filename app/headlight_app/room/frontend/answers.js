// What a page tells the room that a student is in: where they are, and what they answer. Outside rooms nothing happens.

import { remembered } from "../../ui/frontend/state/memory.js";

export const ANSWER_EVENT = "headlight-room-answer";
export const PLACE_EVENT = "headlight-room-place";
export const SHOWN = "!"; // in place of an answer: the student asked to be shown it

/** @typedef {{ place: string, answer: string }} Answered */

const known = remembered((/** @type {Document} */ _page) => ({ place: "" }));

/**
 * The student has answered the question at a place before they were shown the answer.
 * @param {string} place as in "course/attention/look-up": what asks, then the names by which it finds the question
 * @param {string} answer an option's own text, a number, or what else the page takes for an answer; SHOWN for none
 */
export function reportAnswer(place, answer) {
  reportPlace(place);
  document.dispatchEvent(new CustomEvent(ANSWER_EVENT, { detail: { place, answer } }));
}

/** The student is at a place; "" where the page has none of its own. @param {string} place */
export function reportPlace(place) {
  if (known(document).place === place) return;
  known(document).place = place;
  document.dispatchEvent(new CustomEvent(PLACE_EVENT));
}

/** The place that was reported last. */
export function reportedPlace() {
  return known(document).place;
}
