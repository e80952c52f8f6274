// How a page reports a student's place and answers to the room component. Outside a room nothing happens.

import { remembered } from "../../ui/frontend/dom/memory.ts";

export const ANSWER_EVENT = "headlight-room-answer";
export const PLACE_EVENT = "headlight-room-place";
export const SHOWN = "!"; // instead of an answer: the student asked to see the solution

export type Answered = { place: string; answer: string };

const known = remembered((_page: Document) => ({ place: "" }));

/**
 * Report the student's answer to the question at a place, given before the solution was shown.
 * @param place as in "course/attention/look-up": the kind of page, then the names that identify the question
 * @param answer an option's text, a number, or another answer that the page accepts; SHOWN for none
 */
export function reportAnswer(place: string, answer: string) {
  reportPlace(place);
  document.dispatchEvent(new CustomEvent(ANSWER_EVENT, { detail: { place, answer } }));
}

/** Report the student's place; "" if the page has no places. */
export function reportPlace(place: string) {
  if (known(document).place === place) return;
  known(document).place = place;
  document.dispatchEvent(new CustomEvent(PLACE_EVENT));
}

/** The last reported place. */
export function reportedPlace() {
  return known(document).place;
}
