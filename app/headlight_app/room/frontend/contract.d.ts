// Written from headlight_app/room/contract.py by tests/javascript/contracts.py.

import type { Request } from "../../ui/frontend/contract.js";

/** A page and all that is chosen on it, as an address without "?" says it. */
export interface View {
  page: string;
  query: string;
}

/** How many students gave an answer, or are at a place. */
export interface Count {
  name: string;
  count: number;
}

/** The first answers to the question at a place, the most frequent first. */
export interface QuestionCounts {
  place: string;
  answers: Count[];
}

/** The student whose view the teacher has asked for, and the view once it has come. */
export interface ShownMember {
  number: number;
  view: View | null;
}

/** What only the teacher of a room learns. */
export interface RoomPanelAnswer {
  code: string;
  view: View;
  link: string;
  picture: string;
  seconds_left: number;
  members: number;
  present: number;
  refused: number;
  places: Count[];
  questions: QuestionCounts[];
  shown: ShownMember | null;
}

/** What a browser in a room learns: what it is there, its number if it is a student's, and whether it is shown. */
export interface RoomVisitAnswer {
  role: "student" | "teacher" | "waiting";
  number: number;
  is_shown: boolean;
}

/** It is done. */
export type RoomDone = object;

/** Opens a room, whose link leads to a view, in place of the one that its teacher had open. */
export interface RoomOpenRequest extends Request {
  view: Partial<View>;
}

/** What the teacher sees. */
export interface RoomPanelRequest extends Request {
  code: string;
  show?: number | null;
  admit?: boolean;
}

/** Ends a room of one's own. */
export interface RoomEndRequest extends Request {
  code: string;
}

/** A browser is in a room, at a place. It joins with the first; `view` counts where the teacher has asked for it. */
export interface RoomVisitRequest extends Request {
  code: string;
  place?: string;
  view?: View | null;
}

/** A student's answer to the question at a place. The first one counts. */
export interface RoomAnswerRequest extends Request {
  code: string;
  place: string;
  answer: string;
}

/** The name of a file of scenes and its text; both empty where the server has none for this browser. */
export interface OfferedScenesAnswer {
  name: string;
  text: string;
}

/** The scenes with which a server was started, for the person at its machine. */
export type OfferedScenesRequest = Request;

/** A student leaves. The answers given stay, so that nobody answers twice by coming back. */
export interface RoomLeaveRequest extends Request {
  code: string;
}

/** What each route is asked, and what it answers. */
export interface RoomRoutes {
  room_open: { request: RoomOpenRequest; answer: RoomPanelAnswer };
  room_panel: { request: RoomPanelRequest; answer: RoomPanelAnswer };
  room_end: { request: RoomEndRequest; answer: RoomDone };
  room_visit: { request: RoomVisitRequest; answer: RoomVisitAnswer };
  room_answer: { request: RoomAnswerRequest; answer: RoomDone };
  offered_scenes: { request: OfferedScenesRequest; answer: OfferedScenesAnswer };
  room_leave: { request: RoomLeaveRequest; answer: RoomDone };
}
