// This browser's room: a student's status line, which survives a reload, or the teacher's panel.

import { defineComponent } from "../../ui/frontend/bridge.ts";
import { listenTo } from "../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../ui/frontend/dom/elements.ts";
import { askRoute, failureText } from "../../ui/frontend/server.ts";
import type { Answered } from "./answers.ts";
import { ANSWER_EVENT, PLACE_EVENT, reportedPlace } from "./answers.ts";
import type { RoomVisitAnswer, View } from "./contract.ts";
import { markRoom, RoomPanel } from "./panel.ts";
import type { Describers } from "./places.ts";
import { sceneAt } from "./scene_list.ts";
import type { RoomData } from "./types.ts";

const PAUSE = 5000; // milliseconds between two visits
const SHOWN_PAUSE = 1000; // while the teacher shows this student's view

class Room {
  #data;
  #elements;
  #panel;
  #code;
  #isMember = false;
  #isShown = false;
  /** Answers that the server does not have yet. */
  #pending: Answered[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #endListening;

  constructor(place: HTMLElement, data: RoomData, describers: Describers) {
    this.#data = data;
    this.#elements = {
      line: findByTestId(place, "room-line"),
      said: findByTestId(place, "room-said"),
      leave: findByTestId(place, "room-leave", HTMLButtonElement),
    };
    this.#elements.leave.onclick = () => this.#leave();
    this.#panel = new RoomPanel(place, data, describers, {
      view: () => this.#view(),
      opened: (code) => this.#keep(code),
      ended: () => this.#keep(""),
    });
    this.#endListening = listenTo(document, {
      [ANSWER_EVENT]: ({ detail }: CustomEvent<Answered>) => this.#answer(detail),
      [PLACE_EVENT]: () => this.#isMember && this.#visit(),
    });
    this.#code = readCookie(data.cookie);
    if (this.#code) this.#visit();
  }

  update(data: RoomData) {
    this.#data = data;
    this.#panel.update(data);
  }

  end() {
    clearTimeout(this.#timer);
    this.#endListening();
    this.#panel.end();
  }

  /** The current view, without presenter mode. */
  #view(): View {
    const { page = "", query = "" } = sceneAt(location, this.#data.pages) ?? {};
    return { page, query };
  }

  /** Store the code of this browser's room in the cookie. @param code "" for none */
  #keep(code: string) {
    this.#code = code;
    const age = code ? "" : "; max-age=0";
    const inFrames = location.protocol === "https:" ? ["samesite=none; secure; partitioned"] : [];
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs https, which classrooms rarely have
    const write = (words: string) => (document.cookie = words);
    for (const limits of ["samesite=lax", ...inFrames]) write(`${this.#data.cookie}=${code}; path=/; ${limits}${age}`);
  }

  /** Report this browser's place to the server and apply its reply; repeats after a pause. */
  async #visit() {
    const code = this.#code;
    const place = reportedPlace() || this.#view().page;
    const view = this.#isShown ? this.#view() : null;
    try {
      const { meta } = await askRoute(this.#data.api, "room_visit", { code, place, view });
      if (code !== this.#code) return;
      if (meta.role === "teacher") return this.#panel.follow(code);
      this.#isMember = meta.role === "student";
      this.#isShown = meta.is_shown;
      this.#say(describe(code, meta));
      if (this.#isMember) await this.#send();
    } catch (error) {
      if (code !== this.#code) return;
      if (!(error instanceof TypeError)) return this.#forget(failureText(error));
      this.#say(`Room ${code}: waiting for the network.`);
    }
    clearTimeout(this.#timer);
    const shownPause = view ? SHOWN_PAUSE : 0;
    this.#timer = setTimeout(() => this.#visit(), this.#isShown ? shownPause : PAUSE);
  }

  #answer(answered: Answered) {
    if (!this.#code) return;
    this.#pending.push(answered);
    if (this.#isMember) this.#send().catch(() => {}); // the next visit sends it again
  }

  async #send() {
    while (this.#pending.length) {
      const [answered] = this.#pending;
      await askRoute(this.#data.api, "room_answer", { code: this.#code, ...answered });
      this.#pending = this.#pending.filter((other) => other !== answered);
    }
  }

  /** Leave the room in this browser. @param sentence the reason; "" if the student left */
  #forget(sentence: string) {
    clearTimeout(this.#timer);
    this.#isMember = this.#isShown = false;
    this.#pending = [];
    this.#keep("");
    this.#say(sentence);
  }

  #leave() {
    if (this.#isMember) askRoute(this.#data.api, "room_leave", { code: this.#code }).catch(() => {});
    this.#forget("");
  }

  /** @param sentence "" hides the line */
  #say(sentence: string) {
    const { line, said, leave } = this.#elements;
    if (said.textContent !== sentence) said.textContent = sentence;
    line.hidden = !sentence;
    leave.textContent = this.#code ? "Leave" : "Close";
    markRoom(Boolean(sentence), "0px");
  }
}

function describe(code: string, { role, number, is_shown: isShown }: RoomVisitAnswer) {
  if (role === "waiting")
    return `Room ${code}: others of your network are in it. Your teacher can admit more; this page tries again by itself.`;
  const shown = isShown ? " Your teacher shows your view to the class." : "";
  return `Room ${code}: your first answer to each question goes to the teacher, unnamed. You are number ${number}.${shown}`;
}

function readCookie(name: string) {
  const pairs = document.cookie.split("; ").map((pair) => pair.split("="));
  return pairs.find(([key]) => key === name)?.[1] ?? "";
}

/** The room as a component; `describers` say what stands at the places of each page. */
export function defineRoom(describers: Describers) {
  return defineComponent((place, data: RoomData) => new Room(place, data, describers));
}
