// This browser's room: a student's status line, which survives a reload, or the teacher's panel.

import { defineComponent } from "../../ui/frontend/bridge.ts";
import { listenTo } from "../../ui/frontend/dom/dom.ts";
import { findAll, findByTestId } from "../../ui/frontend/dom/elements.ts";
import { askRoute, failureText } from "../../ui/frontend/server.ts";
import type { Answered } from "./answers.ts";
import { ANSWER_EVENT, offeredFields, PLACE_EVENT, reportedPlace, setRoomHandIn } from "./answers.ts";
import type { RoomVisitAnswer, View } from "./contract.ts";
import { MAX_QUERY } from "./contract.ts";
import { RoomPanel } from "./panel.ts";
import type { Describers } from "./places.ts";
import { goTo, SCENES_EVENT, sceneAddress, sceneAt } from "./scene_list.ts";
import type { RoomData } from "./types.ts";
import { isWriting } from "./writing.ts";

const PAUSE = 5000; // milliseconds between two visits
const TOLD = 15_000; // milliseconds for which a student reads why the view has changed
const SHOWN_PAUSE = 1000; // while the teacher shows this student's view

class Room {
  #data;
  #elements;
  #panel;
  #code;
  #isMember = false;
  /** Whether the teacher asks for this student's view, and whether the student has agreed to show it. */
  #isAsked = false;
  #agrees = false;
  /** The last view to which the teacher brought the class. */
  #brought = 0;
  #broughtAt = -TOLD;
  /** Goes where the teacher has brought the class while this student was writing. */
  #go: (() => void) | null = null;
  /** A nickname that the server does not have yet. */
  #nickname = "";
  /** The width of a teacher's buttons in the header. */
  #width = "0px";
  /** Answers that the server does not have yet. */
  #pending: Answered[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #endListening;

  constructor(place: HTMLElement, data: RoomData, describers: Describers) {
    this.#data = data;
    this.#elements = {
      ...findAll(place, ["line", "said"], undefined, "room-"),
      ...findAll(place, ["leave", "agree", "button", "go", "own-scenes"], HTMLButtonElement, "room-"),
      form: findByTestId(place, "room-nickname-form", HTMLFormElement),
      nickname: findByTestId(place, "room-nickname", HTMLInputElement),
    };
    this.#listen();
    this.#panel = new RoomPanel(place, data, describers, {
      view: () => this.#view(),
      opened: (code) => this.#keep(code),
      ended: () => this.#keep(""),
      widened: (width) => {
        this.#width = width;
        this.#reserve();
      },
    });
    this.#endListening = listenTo(document, {
      [ANSWER_EVENT]: ({ detail }: CustomEvent<Answered>) => this.#answer(detail),
      [PLACE_EVENT]: () => this.#isMember && this.#visit(),
    });
    this.#code = readCookie(data.cookie);
    if (this.#code) this.#visit();
  }

  #listen() {
    const { leave, agree, form, nickname, go, ownScenes } = this.#elements;
    leave.onclick = () => this.#leave();
    go.onclick = () => {
      this.#go?.();
      this.#visit();
    };
    ownScenes.onclick = () => document.dispatchEvent(new CustomEvent(SCENES_EVENT));
    agree.onclick = () => {
      this.#agrees = true;
      this.#visit();
    };
    form.onsubmit = (event) => {
      event.preventDefault();
      this.#nickname = nickname.value;
      nickname.value = "";
      this.#visit();
    };
  }

  update(data: RoomData, tell: (name: string, value: unknown) => void) {
    this.#data = data;
    this.#panel.update(data, tell);
  }

  end() {
    clearTimeout(this.#timer);
    this.#endListening();
    this.#panel.end();
  }

  /** The current view, without presenter mode; `withOwn`: with what this browser alone keeps, such as answers. */
  #view(withOwn: boolean = false): View {
    const { page = "", query = "" } = sceneAt(location, this.#data.pages) ?? {};
    const whole = new URLSearchParams(query);
    for (const [name, text] of Object.entries(offeredFields(withOwn)))
      text ? whole.set(name, text) : whole.delete(name);
    return { page, query: String(whole).length > MAX_QUERY ? query : String(whole) };
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
    const view = this.#isAsked && this.#agrees ? this.#view(true) : null;
    const own = { brought: this.#brought, nickname: this.#nickname };
    try {
      const { meta } = await askRoute(this.#data.api, "room_visit", { code, place, view, ...own });
      if (code !== this.#code) return;
      if (this.#nickname === own.nickname) this.#nickname = ""; // the teacher may let the server forget it
      if (meta.role === "teacher") {
        this.#say("");
        return this.#panel.follow(code);
      }
      this.#isMember = meta.role === "student";
      this.#isAsked = meta.is_shown;
      this.#agrees &&= meta.is_shown;
      if (this.#isMember)
        setRoomHandIn((of, file) => askRoute(this.#data.api, "room_hand_in", { code, place: of, file }));
      this.#follow(meta);
      this.#say([describe(code, meta, this.#agrees), this.#brings].filter(Boolean).join(" "));
      this.#elements.form.hidden = !meta.wants_nickname;
      if (this.#isMember) await this.#send();
    } catch (error) {
      if (code !== this.#code) return;
      if (!(error instanceof TypeError)) return this.#forget(failureText(error));
      this.#say(`Room ${code}: waiting for the network.`);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#visit(), this.#agrees ? SHOWN_PAUSE : PAUSE);
  }

  /** Go where the teacher has brought the class; who is writing is left to do so. */
  #follow({ brought, view }: RoomVisitAnswer) {
    this.#go = null;
    if (brought <= this.#brought) return;
    const here = this.#view();
    if (!view || (here.page === view.page && here.query === view.query)) {
      this.#brought = brought;
      return;
    }
    const go = () => {
      this.#go = null;
      this.#brought = brought;
      this.#broughtAt = performance.now();
      goTo(sceneAddress({ name: "", ...view }, this.#data.pages, this.#data.presenter));
    };
    if (isWriting(document)) this.#go = go;
    else go();
  }

  /** What is said of the view to which the teacher has brought the class; "" if that was a while ago. */
  get #brings() {
    if (this.#go) return "Your teacher brings the class to another view.";
    return performance.now() - this.#broughtAt < TOLD ? "Your teacher has brought the class here." : "";
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
    this.#isMember = this.#isAsked = this.#agrees = false;
    this.#brought = 0;
    this.#go = null;
    this.#nickname = "";
    this.#elements.form.hidden = true;
    setRoomHandIn(null);
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
    const { line, said, leave, agree, button, go } = this.#elements;
    if (said.textContent !== sentence) said.textContent = sentence;
    line.hidden = !sentence;
    button.hidden = Boolean(sentence); // it is for teachers, and for those who come
    agree.hidden = !this.#isAsked || this.#agrees;
    go.hidden = !this.#go;
    leave.textContent = this.#code ? "Leave" : "Close";
    this.#reserve();
  }

  /** Reserve space: for a student's line above the page, or for a teacher's buttons in the header. */
  #reserve() {
    const { classList, style } = document.documentElement;
    const isAbove = !this.#elements.line.hidden;
    classList.toggle("headlight-in-room", isAbove);
    style.setProperty("--room-width", isAbove ? "0px" : this.#width);
  }
}

function describe(code: string, { role, number, is_shown: isAsked }: RoomVisitAnswer, agrees: boolean) {
  if (role === "waiting")
    return `Room ${code}: others of your network are in it. Your teacher can admit more; this page tries again by itself.`;
  const shown = agrees
    ? "Your teacher shows your view to the class."
    : "Your teacher asks to show your view to the class.";
  const first = `Room ${code}: your first answer to each question goes to the teacher, without your name unless you hand a lesson in. You are number ${number}.`;
  return isAsked ? `${first} ${shown}` : first;
}

function readCookie(name: string) {
  const pairs = document.cookie.split("; ").map((pair) => pair.split("="));
  return pairs.find(([key]) => key === name)?.[1] ?? "";
}

/** The room as a component; `describers` say what stands at the places of each page. */
export function defineRoom(describers: Describers) {
  return defineComponent((place, data: RoomData) => new Room(place, data, describers));
}
