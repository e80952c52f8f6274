// The teacher's sheet: the link for the class, then its answers and places, and one student's view.

import { GIVE_UP } from "../../ui/frontend/contract.ts";
import { createElement, sentenceNodes, setAvailable, updateChildren } from "../../ui/frontend/dom/dom.ts";
import { findAll, findByTestId, listenToSheet } from "../../ui/frontend/dom/elements.ts";
import { linkNotes } from "../../ui/frontend/export/link_notes.ts";
import { askRoute, failureText } from "../../ui/frontend/server.ts";
import type { RoomPanelAnswer, RoomPanelRequest, View } from "./contract.ts";
import type { Bar } from "./counts.ts";
import { countBars, isAlike, isTyped } from "./counts.ts";
import type { Described, Describers, Judged } from "./places.ts";
import { OTHER, Places } from "./places.ts";
import { saveHandIns, saveResults } from "./results.ts";
import { SCENES_EVENT, sceneAddress } from "./scene_list.ts";
import { actOnSecondClick, countHandIns } from "./sure.ts";
import { TIME_IS_UP, Timer } from "./timer.ts";
import type { RoomData } from "./types.ts";

/** Callbacks of the room; `widened` gets the width of the buttons in the header. */
type Told = { view: () => View; opened: (code: string) => void; ended: () => void; widened: (width: string) => void };

const PAUSE = 2000; // milliseconds between two requests
const SAID = 8000; // milliseconds for which a sentence is shown
const BROUGHT = "Students come here within some seconds.";
const MOST_RESULTS = 40; // questions that the server counts

export class RoomPanel {
  #data;
  #told;
  #places;
  #elements;
  #code = "";
  #invited = 0;
  #seen: RoomPanelAnswer | null = null;
  /** The place of the question that the teacher has chosen; "" follows the latest. */
  #chosen = "";
  #showsTyped = false;
  /** The place of the question whose answers are marked right and wrong. */
  #marked = "";
  #left = "";
  /** How often questions were drawn: an earlier drawing, which has waited for answers, gives way. */
  #drawings = 0;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #countdown = new Timer((left) => this.#tellTime(left));
  #tell: (name: string, value: unknown) => void = () => {};
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(place: HTMLElement, data: RoomData, describers: Describers, told: Told) {
    this.#data = data;
    this.#told = told;
    this.#places = new Places(data.api, data.pages, describers);
    this.#elements = findElements(place);
    this.#invited = data.invitation?.number ?? 0;
    this.#listen();
  }

  update(data: RoomData, tell: (name: string, value: unknown) => void) {
    this.#data = data;
    this.#tell = tell;
    if (data.invitation && data.invitation.number !== this.#invited) {
      const { number, address, site, picture } = data.invitation;
      this.#invited = number;
      if (!this.#code) this.#drawWayIn("Invite the room", this.#told.view(), address, site, picture);
    }
    this.#drawButton();
    this.#draw(); // presenter mode has less space
  }

  end() {
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    this.#countdown.stop();
  }

  /** Show the panel of this teacher's room. */
  follow(code: string) {
    this.#code = code;
    this.#look();
  }

  #listen() {
    const { sheet, open, end, admit, typed, mark, before, after, form, number, unshow, join, code } = this.#elements;
    this.#listenToTools();
    listenToSheet(sheet);
    open.onclick = () => this.#try(() => this.#open());
    actOnSecondClick(
      end,
      () => `End it and forget all answers${countHandIns(this.#handIns, " and ")}?`,
      () => this.#try(() => this.#end()),
    );
    admit.onclick = () => this.#try(() => this.#ask({ admit: true }));
    unshow.onclick = () => this.#try(() => this.#ask({ show: 0 }));
    form.onsubmit = (event) => {
      event.preventDefault();
      this.#try(() => this.#ask({ show: Number(number.value) }));
    };
    join.onsubmit = (event) => {
      event.preventDefault();
      location.assign(this.#data.api.replace(/api$/, `room/${code.value}`));
    };
    typed.onclick = () => {
      this.#showsTyped = !this.#showsTyped;
      this.#draw();
    };
    mark.onclick = () => {
      this.#marked = this.#marked ? "" : (this.#seen?.questions[this.#shownQuestion()]?.place ?? "");
      this.#draw();
    };
    before.onclick = () => this.#turn(1);
    after.onclick = () => this.#turn(-1);
  }

  #listenToTools() {
    const { sheet, button, bring, here, scenes, grades, files, results, time, minutes, nicknames } = this.#elements;
    button.onclick = () => {
      sheet.showModal();
      this.#askForInvitation();
    };
    for (const each of [bring, here])
      each.onclick = () => this.#try(() => this.#ask({ bring: this.#told.view() }), BROUGHT);
    scenes.onclick = () => {
      sheet.close();
      document.dispatchEvent(new CustomEvent(SCENES_EVENT));
    };
    for (const [button, format] of [[grades, "csv"] as const, [files, "zip"] as const])
      button.onclick = () => this.#compute(button, () => saveHandIns(this.#data.api, this.#code, format));
    results.onclick = () => this.#compute(results, () => this.#saveResults());
    nicknames.onchange = () => this.#try(() => this.#ask({ nicknames: nicknames.checked }));
    time.onsubmit = (event) => {
      event.preventDefault();
      if (this.#countdown.runs) this.#countdown.stop();
      else this.#countdown.start(Number(minutes.value));
    };
  }

  #tellTime(left: string) {
    this.#left = left;
    setText(this.#elements.left, left);
    setText(this.#elements.timer, left ? "Stop" : "Start");
    if (left === TIME_IS_UP) this.#say(left);
    this.#drawButton();
  }

  /** Streamlit knows the address for others; asks again, because it may drop a run for a newer one. */
  #askForInvitation() {
    const number = Date.now();
    if (this.#code || !this.#elements.sheet.open) return;
    this.#tell("settled", { invite: number });
    setTimeout(() => this.#invited < number && this.#askForInvitation(), PAUSE);
  }

  /** @param act may return a sentence, which is said in place of `done` */
  async #try(act: () => Promise<unknown>, done: string = "") {
    const { problem, sheet } = this.#elements;
    problem.hidden = true;
    this.#say("");
    try {
      const said = await act();
      this.#say(typeof said === "string" && said ? said : done);
    } catch (error) {
      problem.textContent = failureText(error);
      problem.hidden = false;
      if (!sheet.open) sheet.showModal();
    }
  }

  /** The same for a button whose file takes a while. */
  async #compute(button: HTMLButtonElement, act: () => Promise<unknown>) {
    if (button.ariaDisabled === "true") return;
    const before = button.textContent;
    setAvailable(button, false);
    button.textContent = "Computing…";
    await this.#try(act);
    setAvailable(button, true);
    button.textContent = before;
  }

  /** Say a sentence for a while, in the sheet and beside the buttons in the header. */
  #say(sentence: string) {
    const { done, told } = this.#elements;
    clearTimeout(this.#silence);
    for (const each of [done, told]) setText(each, sentence);
    if (sentence) this.#silence = setTimeout(() => this.#say(""), SAID);
  }

  async #open() {
    const { meta } = await askRoute(this.#data.api, "room_open", { view: this.#told.view() });
    this.#code = meta.code;
    this.#told.opened(meta.code);
    await this.#show(meta);
    this.#elements.end.focus();
    this.#wait();
    const held = countHandIns(this.#handIns, "This is your room from before: end it to open another. It holds ");
    return held && `${held}.`;
  }

  async #end() {
    await askRoute(this.#data.api, "room_end", { code: this.#code });
    this.#gone();
  }

  async #saveResults() {
    const questions = this.#seen?.questions ?? [];
    await saveResults(this.#code, this.#places, questions);
    return questions.length < MOST_RESULTS ? "" : `The file has the ${MOST_RESULTS} questions with the most answers.`;
  }

  get #handIns() {
    return this.#seen?.hand_ins.reduce((sum, { count }) => sum + count, 0) ?? 0;
  }

  #gone() {
    const { sheet, seen, start, bring } = this.#elements;
    sheet.close();
    clearTimeout(this.#timer);
    this.#countdown.stop();
    this.#code = this.#chosen = this.#marked = "";
    this.#seen = null;
    this.#showsTyped = false;
    this.#told.ended();
    seen.hidden = bring.hidden = true;
    start.hidden = false;
    this.#drawButton();
  }

  async #ask(decision: Partial<RoomPanelRequest>) {
    const { meta } = await askRoute(this.#data.api, "room_panel", { code: this.#code, ...decision });
    void this.#show(meta); // its drawing waits for answers, which the next request need not
  }

  async #look() {
    try {
      await this.#ask({});
    } catch (error) {
      if (!(error instanceof TypeError)) return this.#gone(); // the room has ended; after a network failure it tries again
    }
    this.#wait();
  }

  #wait() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), PAUSE);
  }

  /** @param step 1 for the question answered before, -1 for the one answered after */
  #turn(step: number) {
    const questions = this.#seen?.questions ?? [];
    const next = questions[this.#shownQuestion() + step];
    if (next) this.#chosen = next.place;
    this.#draw();
  }

  #shownQuestion() {
    return Math.max(0, this.#seen?.questions.findIndex(({ place }) => place === this.#chosen) ?? 0);
  }

  /** Draw the panel, without questions at places that the server does not know. */
  async #show(seen: RoomPanelAnswer) {
    const titles = await Promise.all(seen.questions.map(({ place }) => this.#places.title(place).catch(() => "")));
    if (seen.code !== this.#code) return; // the room has ended
    this.#seen = { ...seen, questions: seen.questions.filter((_, at) => titles[at]) };
    this.#draw();
  }

  #draw() {
    const seen = this.#seen;
    if (!seen) return;
    const { seen: panel, start, bring, numbers, admit } = this.#elements;
    this.#drawWayIn(`Room ${seen.code}`, seen.view, seen.link, seen.link, seen.picture);
    start.hidden = true;
    panel.hidden = bring.hidden = false;
    this.#drawButton();
    setText(numbers, `${seen.present} here of ${seen.members} who joined · open for ${duration(seen.seconds_left)}`);
    admit.hidden = !seen.refused;
    setText(admit, `${seen.refused} more from one network: admit them`);
    this.#drawNetworks(seen);
    this.#drawShown(seen);
    this.#drawHandIns();
    this.#drawNicknames(seen);
    void this.#drawQuestion(seen);
    void this.#drawPlaces(seen);
  }

  /** The button in the header, which always opens the sheet. */
  #drawButton() {
    const { bar, button, label, clock } = this.#elements;
    bar.classList.toggle("edge", !this.#data.presenter);
    const seen = this.#seen;
    setText(label, seen ? `${seen.code} · ${seen.present}` : "Class");
    setText(clock, seen && this.#left ? ` · ${this.#left}` : "");
    button.title = seen ? `Room ${seen.code}: ${seen.present} here` : "A room for a class, and the list of scenes";
    this.#told.widened(seen ? (this.#left ? "285px" : "235px") : "75px");
  }

  #drawHandIns() {
    const { handed, grades, files } = this.#elements;
    handed.hidden = grades.hidden = files.hidden = !this.#handIns;
    setText(handed, `${countHandIns(this.#handIns)}:`);
  }

  #drawNicknames({ wants_nicknames: wants, nicknames: given }: RoomPanelAnswer) {
    const { nicknames, names } = this.#elements;
    nicknames.checked = wants;
    names.hidden = !given.length;
    updateChildren(
      findByTestId(names, "room-name-list"),
      ...given.map(({ number, name }) => createElement("li", "", [createElement("b", "", number), ` ${name}`])),
    );
  }

  #drawWayIn(title: string, { query }: View, address: string, shown: string, svg: string) {
    const { title: heading, picture, address: line, note } = this.#elements;
    setText(heading, title);
    setText(line, shown.replace(/^https?:\/\//, ""));
    line.title = address;
    const source = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    if (picture.src !== source) picture.src = source;
    picture.alt = `QR code of ${address}`;
    const own = Object.entries(this.#data.own_models).find(([name]) => decodeURIComponent(query).includes(name));
    setText(note, linkNotes(address, { omitted: [], ownModel: own?.[1] ?? "", hasOwnPicture: false }));
  }

  /** A button for each network with many students; drawn anew only if it changed. */
  #drawNetworks({ networks: all }: RoomPanelAnswer) {
    const { networks } = this.#elements;
    const key = JSON.stringify(all);
    if (networks.dataset.shown === key) return;
    networks.dataset.shown = key;
    const buttons = all.map(({ first, members, hand_ins: handIns }) => {
      const button = createElement("button", "act", `Network of student ${first}: remove its ${members} students`);
      const question = `Remove ${members} students, and forget their answers${countHandIns(handIns, " and ")}?`;
      const free = () => this.#try(() => this.#ask({ free: first }));
      actOnSecondClick(button, () => question, free);
      return button;
    });
    networks.replaceChildren(...buttons);
  }

  #drawShown({ shown }: RoomPanelAnswer) {
    const { view, unshow } = this.#elements;
    view.hidden = !shown?.view;
    unshow.hidden = !shown;
    if (!shown) return;
    setText(view, `Open the view of student ${shown.number}`);
    setText(unshow, `Stop ${shown.view ? "showing" : "waiting for"} student ${shown.number}`);
    if (shown.view) view.href = sceneAddress({ name: "", ...shown.view }, this.#data.pages, true);
  }

  /** Draw the chosen question, or else the next place that has a question. */
  async #drawQuestion(seen: RoomPanelAnswer) {
    const { question, answered, before, after } = this.#elements;
    const drawing = ++this.#drawings;
    for (const counts of seen.questions.slice(this.#shownQuestion())) {
      const judged = await this.#places.judge(counts, this.#marked === counts.place);
      const known = judged.find(({ question: one }) => one)?.question;
      const asked = known ?? (await this.#places.question(counts.place).catch(() => null));
      if (!asked) continue;
      const title = await this.#places.title(counts.place).catch(() => "");
      if (drawing !== this.#drawings || !this.#seen) return;
      const total = counts.answers.reduce((sum, { count }) => sum + count, 0);
      setText(
        question,
        isAlike(judged) ? asked.text : `Each with other numbers or another text, such as: ${asked.text}`,
      );
      setText(answered, `${title} · ${total} first ${total === 1 ? "answer" : "answers"}`);
      await this.#drawAnswers(counts.place, judged, asked, total);
      break;
    }
    const at = this.#shownQuestion();
    before.hidden = after.hidden = seen.questions.length < 2;
    before.disabled = at + 1 >= seen.questions.length;
    after.disabled = at === 0;
  }

  async #drawAnswers(place: string, judged: Judged[], asked: Described, total: number) {
    const { answers, typed, mark, right } = this.#elements;
    const isMarked = this.#marked === place;
    const bars = countBars(judged, this.#showsTyped, isMarked);
    updateChildren(answers, ...bars.map((bar) => createBar(bar, total)));
    typed.hidden = !isTyped(asked) || !isAlike(judged);
    setText(typed, this.#showsTyped ? "Hide typed answers" : "Show typed answers");
    mark.hidden = asked.is_right === null;
    setText(mark, isMarked ? "Hide right and wrong" : "Mark right and wrong");
    const variant = judged.find((each) => each.variant !== OTHER)?.variant ?? OTHER;
    const isTold = isMarked && isAlike(judged) && variant !== OTHER;
    const told = isTold ? await this.#places.question(place, variant, [GIVE_UP]).catch(() => null) : null;
    setText(right, told?.said ?? "");
  }

  async #drawPlaces(seen: RoomPanelAnswer) {
    const { places } = this.#elements;
    const titles = await Promise.all(seen.places.map(({ name }) => this.#places.title(name).catch(() => "")));
    if (seen !== this.#seen) return;
    const counts: Map<string, number> = new Map();
    for (const [at, { count }] of seen.places.entries()) {
      const title = titles[at] || "elsewhere";
      counts.set(title, (counts.get(title) ?? 0) + count);
    }
    const collator = new Intl.Collator("en", { numeric: true });
    const rows = [...counts].sort(([one], [other]) => collator.compare(one, other));
    places.replaceChildren(
      ...rows.map(([title, count]) => createElement("li", "", [createElement("b", "", count), ` ${title}`])),
    );
  }
}

function createBar({ label, count, isRight, mistake }: Bar, total: number) {
  const bar = createElement("span", "share");
  bar.style.setProperty("--share", `${(100 * count) / Math.max(1, total)}%`);
  const sign = isRight === null ? "" : isRight ? "✓ " : "✗ ";
  const words = createElement("span", "label", [
    createElement("span", "sign", sign, { ariaLabel: isRight === null ? "" : isRight ? "right: " : "wrong: " }),
    label,
    ...(mistake ? [createElement("small", "", mistake)] : []),
  ]);
  return createElement("li", "", [words, bar, createElement("b", "", count)]);
}

/** Set a text only if it changed, so that screen readers do not repeat it. */
function setText(element: HTMLElement, text: string) {
  if (element.textContent !== text) element.replaceChildren(...sentenceNodes(text));
}

function duration(seconds: number) {
  const minutes = Math.ceil(seconds / 60);
  return minutes > 90 ? `${Math.round(minutes / 60)} hours` : `${minutes} minutes`;
}

function findElements(place: HTMLElement) {
  const words = findAll(place, ["title", "address", "note", "start", "problem", "seen"], undefined, "room-");
  const seen = findAll(place, ["numbers", "question", "answered", "answers", "places", "networks"], undefined, "room-");
  const more = findAll(
    place,
    ["right", "handed", "left", "done", "names", "bar", "told", "label", "clock"],
    undefined,
    "room-",
  );
  const choices = findAll(place, ["button", "open", "before", "after", "typed", "mark"], HTMLButtonElement, "room-");
  const ends = findAll(place, ["unshow", "admit", "end", "bring", "here"], HTMLButtonElement, "room-");
  const files = findAll(place, ["scenes", "grades", "files", "results", "timer"], HTMLButtonElement, "room-");
  const inputs = findAll(place, ["code", "number", "minutes", "nicknames"], HTMLInputElement, "room-");
  return {
    ...{ ...words, ...seen, ...more, ...choices, ...ends, ...files, ...inputs },
    time: findByTestId(place, "room-time-form", HTMLFormElement),
    sheet: findByTestId(place, "room-sheet", HTMLDialogElement),
    picture: findByTestId(place, "room-picture", HTMLImageElement),
    join: findByTestId(place, "room-join-form", HTMLFormElement),
    form: findByTestId(place, "room-show-form", HTMLFormElement),
    view: findByTestId(place, "room-view", HTMLAnchorElement),
  };
}
