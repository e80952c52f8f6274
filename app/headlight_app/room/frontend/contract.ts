// Written from headlight_app/room/contract.py by app/contract_types.py.

import type { Request } from "../../ui/frontend/contract.ts";

/** A page and all choices on it, as a query string without "?". */
export interface View {
  page: string;
  query: string;
}

/** The number of students with an answer, or at a place. */
export interface Count {
  name: string;
  count: number;
}

/** The number of students with an answer to one variant of a question. */
export interface AnswerCount extends Count {
  variant: string;
}

/** The first answers to the question at a place, the most frequent first. */
export interface QuestionCounts {
  place: string;
  answers: AnswerCount[];
}

/** A student who has given a nickname. */
export interface Nicknamed {
  number: number;
  name: string;
}

/** A student's hand-in file of a lesson, as their browser sent it. */
export interface HandedIn {
  place: string;
  number: number;
  file: string;
}

/** The student whose view the teacher has requested, and the view once it has arrived. */
export interface ShownMember {
  number: number;
  view: View | null;
}

/** The members of one network address, which the teacher sees by the number of its first member alone. */
export interface NetworkSeats {
  first: number;
  members: number;
  hand_ins: number;
}

/** The state of a room, for its teacher only. */
export interface RoomPanelAnswer {
  code: string;
  view: View;
  link: string;
  picture: string;
  seconds_left: number;
  members: number;
  present: number;
  refused: number;
  networks: NetworkSeats[];
  places: Count[];
  questions: QuestionCounts[];
  hand_ins: Count[];
  wants_nicknames: boolean;
  nicknames: Nicknamed[];
  shown: ShownMember | null;
}

/** A browser's role in a room, a student's number, and whether the teacher requested this student's view. */
export interface RoomVisitAnswer {
  role: "student" | "teacher" | "waiting";
  number: number;
  is_shown: boolean;
  brought: number;
  view: View | null;
  wants_nickname: boolean;
}

/** An empty answer: the request succeeded. */
export type RoomDone = object;

/** Opens a room whose link leads to a view. */
export interface RoomOpenRequest extends Request {
  view: Partial<View>;
}

/** The teacher's view of the room, after applying the teacher's decisions. */
export interface RoomPanelRequest extends Request {
  code: string;
  show?: number | null;
  admit?: boolean;
  free?: number;
  bring?: View | null;
  nicknames?: boolean | null;
}

/** Ends the teacher's own room. */
export interface RoomEndRequest extends Request {
  code: string;
}

/** Reports a browser's place in a room. The first visit joins; `view` is used only if the teacher requested it. */
export interface RoomVisitRequest extends Request {
  code: string;
  place?: string;
  view?: View | null;
  brought?: number;
  nickname?: string;
}

/** A student's answer to the question at a place. Only the first answer counts. */
export interface RoomAnswerRequest extends Request {
  code: string;
  place: string;
  answer: string;
  variant?: string;
}

/** A student's hand-in file of the lesson at a place; it replaces an earlier one. */
export interface RoomHandInRequest extends Request {
  code: string;
  place: string;
  file: string;
}

/** All hand-ins of a room, for its teacher only. */
export interface RoomHandInsAnswer {
  files: HandedIn[];
}

/** The hand-ins of the teacher's own room. */
export interface RoomHandInsRequest extends Request {
  code: string;
}

/** The name and text of a file of scenes; both empty if the server has none for this browser. */
export interface OfferedScenesAnswer {
  name: string;
  text: string;
}

/** The scenes given at server start, for browsers on the server's machine. */
export type OfferedScenesRequest = Request;

/** A student leaves. Their answers are kept, so that a returning student cannot answer twice. */
export interface RoomLeaveRequest extends Request {
  code: string;
}

/** The request and the answer of each route. */
export interface RoomRoutes {
  room_open: { request: RoomOpenRequest; answer: RoomPanelAnswer };
  room_panel: { request: RoomPanelRequest; answer: RoomPanelAnswer };
  room_end: { request: RoomEndRequest; answer: RoomDone };
  room_visit: { request: RoomVisitRequest; answer: RoomVisitAnswer };
  room_answer: { request: RoomAnswerRequest; answer: RoomDone };
  room_hand_in: { request: RoomHandInRequest; answer: RoomDone };
  room_hand_ins: { request: RoomHandInsRequest; answer: RoomHandInsAnswer };
  offered_scenes: { request: OfferedScenesRequest; answer: OfferedScenesAnswer };
  room_leave: { request: RoomLeaveRequest; answer: RoomDone };
}

export const MAX_QUERY = 20000;
export const MAX_SCENES_BYTES = 4194304;
