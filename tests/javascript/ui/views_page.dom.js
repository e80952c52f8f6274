// A page of views and its server: what is asked when, and what is shown until the answer comes and if none comes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, test } from "node:test";
import { Opened, pack, settle, wordsOf } from "../opened.js";

const UI = new URL("../../../app/headlight_app/ui/frontend/", import.meta.url);
const { default: run } = await import(new URL("views/page/views_page.ts", UI).href);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, UI), "utf8");
const HTML = read("views/page/views_page.html").replace("<!-- the export menu -->", read("export/export_menu.html"));

const PLAIN = { note: "", before: "", tables: null };
const CHOICE = { ...PLAIN, kind: "choice", chosen: 0, form: "buttons" };
const MAP = {
  ...{ ...PLAIN, kind: "heat_map", title: "Map", rows: [], columns: [], row_axis: "", column_axis: "" },
  ...{ values: [[1, 0]], colours: "signed", low: 0, high: null, row_groups: 0, column_groups: 0, is_small: false },
};
const SLIDER = {
  ...{ ...CHOICE, title: "Position", form: "slider", options: ["0", "1", "2"] },
  picks: [{ position: 0 }, { position: 1 }, { position: 2 }],
};
const STACK = {
  ...{ ...CHOICE, title: "Stack", options: ["encoder", "decoder"] },
  picks: [{ attention: "encoder.self" }, { attention: "decoder.self" }],
};
const TOGGLES = (/** @type {number[]} */ channels) => ({
  ...{ ...CHOICE, title: "Channels", form: "toggles", options: channels.map(String), chosen: [0] },
  picks: channels.map((channel) => ({ channels: [channel] })),
});

/** Views as a row of an answer; their digests are their contents. @param {Record<string, any>[]} views */
const row = (...views) => ({
  ...{ title: "", text: "", folded: false, origin: null },
  views: views.map((view) => ({ ...view, digest: JSON.stringify(view) })),
});
/** @param {Record<string, any>[]} rows */
const answer = (rows, program = {}) => ({ rows, title: "Encoding", about: "decoder", program });
const refused = { error: "This model has no positions." };

/** @type {(() => void)[]} */
const endings = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

/** A page whose questions are answered by hand, in any order. */
class Page extends Opened {
  /** @type {{ route: string, body: any, answer: (meta: object) => Promise<void> }[]} */
  asked = [];

  constructor() {
    const host = document.createElement("div");
    document.body.append(host);
    const place = host.attachShadow({ mode: "open" });
    place.innerHTML = HTML;
    const state = { attention: "", position: 0, channels: [] };
    const shared = { page: { path: "positions", own_model: "", room_address: "" }, state };
    const data = {
      api: "/api",
      page: "positions",
      question: { model: "one" },
      state,
      serial: 0,
      presenter: "",
      shared,
    };
    super(place, [], data);
    globalThis.fetch = /** @type {typeof fetch} */ ((address, request) => this.#ask(String(address), request));
    this.end = () => {};
    this.update();
    endings.push(() => this.leave());
  }

  /** @param {string} address @param {RequestInit} [request] @returns {Promise<Response>} */
  #ask(address, request) {
    return new Promise((resolve, reject) => {
      const [route, body] = [address.replace("/api/", ""), JSON.parse(String(request?.body ?? "{}"))];
      request?.signal?.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
      const give = (/** @type {object} */ meta) => {
        resolve(pack({ meta: /** @type {Record<string, unknown>} */ (meta), numbers: "" }));
        return settle();
      };
      this.asked.push({ route, body, answer: give });
    });
  }

  /** Streamlit runs the page. @param {Record<string, any>} [more] */
  update(more = {}) {
    Object.assign(this.data, more);
    this.end = run({
      parentElement: this.place,
      data: [{ ...this.data }],
      setStateValue: (/** @type {string} */ _, /** @type {Record<string, any>} */ value) => this.reports.push(value),
    });
  }

  /** The visitor goes to another page. */
  leave() {
    /** @type {ShadowRoot} */ (/** @type {unknown} */ (this.place)).host.remove();
    this.end();
  }

  /** The questions about views. */
  get views() {
    return this.asked.filter(({ route }) => route === "views");
  }

  /** @returns {any} */
  get last() {
    return this.views.at(-1);
  }

  get pressed() {
    return this.all('.rows [aria-pressed="true"]').map(wordsOf);
  }

  get titles() {
    return this.all("figcaption").map(wordsOf);
  }

  get isAsking() {
    return this.get("views-page").dataset.state === "asking";
  }
}

test("what could not be answered is told above the older rows, and asked again at the next choice or update", async () => {
  const page = new Page();
  await page.last.answer(answer([row(STACK), row(MAP)]));
  page.click("option-1");
  await page.last.answer(refused);
  assert.equal(page.text("problem"), refused.error);
  assert.deepEqual([page.titles, page.pressed], [["Map"], ["decoder"]]);
  assert.ok(page.get("views").classList.contains("stale"));
  assert.equal(page.isAsking, false);
  assert.equal(page.views.length, 2, "not again by itself");
  page.update();
  assert.equal(page.last.body.choice.attention, "decoder.self");
  assert.equal(page.views.length, 3);
  await page.last.answer(refused);
  page.click("option-0");
  await page.last.answer(answer([row(STACK), row(MAP)]));
  assert.deepEqual([page.shows("problem"), page.get("views").classList.contains("stale")], [false, false]);
});

test("a choice that is taken back after a failure needs no new answer", async () => {
  const page = new Page();
  await page.last.answer(answer([row(STACK), row(MAP)]));
  page.click("option-1");
  await page.last.answer(refused);
  page.update({ state: { ...page.data.state, attention: "encoder.self" }, serial: 1 });
  await page.last.answer(answer([row(STACK), row(MAP)]));
  page.click("option-1");
  await page.last.answer(refused);
  page.click("option-0");
  await settle();
  assert.equal(page.shows("problem"), false);
  assert.deepEqual(page.pressed, ["encoder"]);
});

test("if another model is refused, only the choices stay; they do for the one before, too", async () => {
  const page = new Page();
  await page.last.answer(answer([row(STACK), row(MAP), row(MAP, SLIDER)]));
  page.update({ question: { model: "two" } });
  await page.last.answer(refused);
  assert.deepEqual([page.titles, page.pressed], [[], ["encoder"]]);
  page.update({ question: { model: "one" } });
  assert.ok(page.isAsking, "its rows are gone");
  await page.last.answer(answer([row(STACK), row(MAP)]));
  assert.deepEqual(page.titles, ["Map"]);
});

test("a choice is shown at once, and the rows are busy until the answer", async () => {
  const page = new Page();
  assert.equal(page.get("views").ariaBusy, "true");
  await page.last.answer(answer([row(STACK), row(MAP, SLIDER)]));
  assert.equal(page.get("views").ariaBusy, "false");
  page.click("option-1");
  assert.deepEqual([page.pressed, page.get("views").ariaBusy], [["decoder"], "true"]);
  await page.last.answer(answer([row({ ...STACK, chosen: 1 }), row(MAP, SLIDER)]));
  const slider = /** @type {HTMLInputElement} */ (page.get("choose-position"));
  slider.value = "2";
  slider.dispatchEvent(new Event("input")); // a finger gives no focus
  assert.deepEqual([slider.value, page.one("output").textContent], ["2", "2"]);
  await page.last.answer(answer([row({ ...STACK, chosen: 1 }), row(MAP, { ...SLIDER, chosen: 1 })]));
  assert.equal(slider.value, "2", "an answer to an earlier question does not move it");
});

test("after Back a slider that has the focus follows", async () => {
  const page = new Page();
  await page.last.answer(answer([row(MAP, SLIDER)]));
  const slider = /** @type {HTMLInputElement} */ (page.get("choose-position"));
  page.fill(slider, "2");
  await page.last.answer(answer([row(MAP, { ...SLIDER, chosen: 2 })]));
  const { serial } = /** @type {any} */ (page.reports.at(-1));
  page.update({ state: { ...page.data.state, position: 2 }, serial });
  page.update({ state: { ...page.data.state, position: 1 } });
  await page.last.answer(answer([row(MAP, { ...SLIDER, chosen: 1 })]));
  assert.deepEqual([page.focused, slider.value, page.one("output").textContent], [slider, "1", "1"]);
});

test("toggles that come back with fewer options show what is left, or what the answer names", async () => {
  const page = new Page();
  await page.last.answer(answer([row(MAP, TOGGLES([0, 4, 9]))]));
  page.click("choose-channels-9");
  assert.deepEqual(page.pressed, ["0", "9"]);
  await page.last.answer(answer([row(MAP, TOGGLES([0, 4]))]));
  assert.deepEqual([page.pressed, page.isAsking], [["0"], false]);
  page.click("choose-channels-4");
  page.click("choose-channels-0");
  assert.deepEqual(page.pressed, ["4"]);
  await page.last.answer(answer([row(MAP, TOGGLES([0]))]));
  await page.last.answer(answer([row(MAP, TOGGLES([0]))]));
  assert.deepEqual([page.pressed, page.isAsking], [["0"], false], "none of its own is left");
});

test("a button of toggles stays the same between press and release", async () => {
  const page = new Page();
  await page.last.answer(answer([row(MAP, TOGGLES([0, 4]))]));
  const button = page.get("choose-channels-4");
  page.update({ question: { model: "two" } });
  await page.last.answer(answer([row(MAP, TOGGLES([0, 4, 9]))]));
  assert.equal(page.get("choose-channels-4"), button);
});

test("the digests of the shown views are sent, and equal rows are shown one by one", async () => {
  const page = new Page();
  assert.deepEqual(page.last.body.known, []);
  await page.last.answer(answer([row(MAP), row(MAP), row(MAP, SLIDER), row(MAP, SLIDER)]));
  assert.deepEqual([page.titles.length, page.all(".rows input").length], [4, 2]);
  page.fill(page.all(".rows input")[0], "1");
  const known = page.last.body.known;
  assert.deepEqual(known, [row(MAP).views[0].digest, row(SLIDER).views[0].digest]);
  const again = [row(MAP), row(MAP), row(MAP, { ...SLIDER, chosen: 1 }), row(MAP, { ...SLIDER, chosen: 1 })];
  await page.last.answer(answer(again));
  assert.deepEqual([page.titles.length, page.all(".rows input").length], [4, 2]);
  page.fill(page.all(".rows input")[0], "2");
  const only = { rows: [{ ...row(), views: [{ digest: known[0] }] }] };
  await page.last.answer({ ...answer([]), ...only });
  assert.deepEqual(page.titles, ["Map"]);
});

test("a page that is left asks and draws no more", async () => {
  const page = new Page();
  await page.last.answer(answer([row(STACK), row(MAP)]));
  page.click("option-1");
  const waiting = page.last;
  page.leave();
  await waiting.answer(answer([]));
  assert.deepEqual([page.titles, page.views.length], [["Map"], 2]);
  assert.equal(page.shows("problem"), false);
});

test("another page in its place begins anew, and an answer for the one before is not shown", async () => {
  const page = new Page();
  await page.last.answer(answer([row(STACK), row(MAP)]));
  page.click("option-1");
  const before = page.last;
  page.update({ page: "other", state: { layer: 3 }, serial: 1 });
  assert.deepEqual(page.titles, []);
  await before.answer(refused);
  assert.equal(page.shows("problem"), false);
  const { page: name, choice, known } = page.last.body;
  assert.deepEqual([name, choice, known, page.titles], ["other", { layer: 3 }, [], []]);
  await page.last.answer(answer([row({ ...MAP, title: "Other" })]));
  assert.deepEqual(page.titles, ["Other"]);
});

test("why an answer has to wait is told until it comes", async () => {
  const page = new Page();
  await settle();
  const [waits] = page.asked.filter(({ route }) => route === "waiting");
  await waits.answer({ sentence: "Two others are first." });
  assert.equal(page.text("waiting"), "Two others are first.");
  await page.last.answer(answer([row(MAP)]));
  assert.equal(page.shows("waiting"), false);
});

/** The questions about what can be saved. @param {Page} page */
const collected = (page) => page.views.filter(({ body }) => body.with_tables);

test("what can be saved is asked once for a question, and the latest list counts", async () => {
  const page = new Page();
  await page.last.answer(answer([row(STACK), row(MAP)]));
  const listed = () => [...page.get("export-which").children].map(wordsOf);
  page.click("export-menu-button");
  assert.equal(page.text("export-status"), "The figures and numbers are being listed …");
  page.click("option-1");
  await page.last.answer(answer([row(STACK), row(MAP)]));
  page.click("export-menu-button"); // the click beside the menu has closed it
  const [first, second] = collected(page);
  await second.answer(answer([row({ ...MAP, title: "Second" })]));
  await first.answer(answer([row({ ...MAP, title: "First" })]));
  assert.deepEqual([listed(), page.text("export-status")], [["Second"], ""]);
  page.click("export-menu-button");
  page.click("export-menu-button");
  await settle();
  assert.deepEqual([listed(), collected(page).length], [["Second"], 2]);
});

test("numbers are saved once they are listed, and a list that failed is asked again", async () => {
  const page = new Page();
  await page.last.answer(answer([row(MAP)]));
  page.click("export-menu-button");
  page.click("export-csv");
  await settle();
  assert.equal(page.asked.at(-1)?.route, "views");
  await collected(page)[0].answer(refused);
  await collected(page)[1].answer(answer([row(MAP)]));
  const saved = page.asked.find(({ route }) => route === "export_table");
  assert.match(saved?.body.shown, /^Map: /);
});

test("the program is that of the shown answer", async () => {
  const page = new Page();
  await page.last.answer(answer([row(STACK), row(MAP)], { stack: "encoder", length: 8 }));
  const copied = async () => {
    page.click("export-python");
    await settle();
    const { route, body } = /** @type {any} */ (page.asked.at(-1));
    await page.asked.at(-1)?.answer({ python: "import headlight" });
    return [route, body.stack, body.length];
  };
  assert.deepEqual(await copied(), ["export_program", "encoder", 8]);
  page.click("option-1");
  await page.last.answer(answer([row(STACK), row(MAP)], { stack: "decoder", length: 8 }));
  assert.deepEqual(await copied(), ["export_program", "decoder", 8]);
});
