// How a page reports a student's place and answers to the room component. Outside a room nothing happens.

import { remembered } from "../../ui/frontend/dom/memory.ts";

export const ANSWER_EVENT = "headlight-room-answer";
export const PLACE_EVENT = "headlight-room-place";

export const JOINED_EVENT = "headlight-room-joined"; // or left

export type Answered = { place: string; answer: string; variant: string };
type HandIn = (place: string, file: string) => Promise<unknown>;
type Fields = Record<string, string>; // of an address

const known = remembered((_page: Document) => ({
  place: "",
  shared: {} as Fields,
  own: (() => ({})) as () => Fields,
  handIn: null as HandIn | null,
}));

/**
 * Report the student's answer to the question at a place, given before the solution was shown.
 * @param place as in "course/attention/look-up": the kind of page, then the names that identify the question
 * @param answer an option's text, a number, or another answer that the page accepts; GIVE_UP for none
 * @param variant of the question: a lesson's seed, "" for a screen as it opens, "other" for one that was changed
 */
export function reportAnswer(place: string, answer: string, variant: string) {
  reportPlace(place);
  document.dispatchEvent(new CustomEvent(ANSWER_EVENT, { detail: { place, answer, variant } }));
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

/**
 * Offer fields that complete the address of this view for others; an empty one is left out.
 * @param own those of what this browser alone keeps, for a teacher who asks for the view
 */
export function offerFields(shared: Fields = {}, own: () => Fields = () => ({})) {
  Object.assign(known(document), { shared, own });
}

export function offeredFields(withOwn: boolean): Fields {
  const { shared, own } = known(document);
  return withOwn ? { ...shared, ...own() } : shared;
}

/** Hands a file in to this browser's room; null outside of one. */
export function roomHandIn() {
  return known(document).handIn;
}

export function setRoomHandIn(handIn: HandIn | null) {
  const isOther = Boolean(handIn) !== Boolean(known(document).handIn);
  known(document).handIn = handIn;
  if (isOther) document.dispatchEvent(new CustomEvent(JOINED_EVENT));
}
