// The instrument: keeps what the person chose, asks the backend, paints, and tells Streamlit once things have settled.

import { headElements, listenToHeads } from "../../../model/rendering/static/heads/heads_tab.js";
import { clearMeasurements } from "../../../model/rendering/static/heads/measurements.js";
import { drawPredictions, markTarget } from "../../../model/rendering/static/heads/predictions.js";
import { drawTokenStrips } from "../../../model/rendering/static/heads/token_strip.js";
import { createElement, updateChildren } from "../../../model/rendering/static/ui/dom.js";
import { Reporter, defineComponent } from "../../ui/frontend/bridge.js";
import { post, visitorName } from "../../ui/frontend/server.js";
import { clearHistory, drawEdits, listenToEdits, recordEdits } from "./edits/edit_list.js";
import { createExportMenu } from "./export/export_menu.js";
import { drawGallery, imageUrl, listenToGallery } from "./image_gallery.js";
import { drawPresenter, listenToPresenter } from "./presenter.js";
import { MODEL_FIELDS, answerTo, ask } from "./questions.js";
import { TABS, drawActiveTab, markActiveTab } from "./tabs.js";

export default defineComponent({ mount, update, unmount });

function update(self, data, tell) {
  self.reporter.connect(tell);
  self.api = data.api;
  self.examples = data.examples;
  self.kinds = data.kinds;
  self.metrics = data.metrics;
  self.pictures = data.pictures;
  self.sites = data.sites;
  self.parts.sourceBox.hidden = !data.sourced;
  self.parts.caption.textContent = data.sourced ? "Target: what the decoder has written so far" : "Sentence";
  clearMeasurements(self); // the theme may have changed
  const before = JSON.stringify(self.settings);
  self.settings = data.settings;
  const adopted = adopt(self, data);
  drawExamples(self);
  drawGallery(self);
  if (adopted || before !== JSON.stringify(self.settings)) ask(self);
  else if (self.problem) showProblem(self, self.problem); // the answer on the screen is an older one
  else if (self.answer) showAnswer(self);
}

function mount(place) {
  const find = (name) => place.querySelector(name);
  const named = (name) => place.querySelector(`[data-testid="${name}"]`);
  const parts = {
    root: find(".instrument"), caption: find('[for="sentence"]'), text: find("#sentence"), source: find("#source"), sourceBox: find(".source"),
    status: named("status"), examples: named("examples"), look: named("look"), problem: named("problem"), notes: named("notes"), answer: find(".answer"),
    board: find(".board"), tabs: named("tabs"), edits: named("edits"), changes: named("changes"), latest: named("latest"),
    undo: named("undo"), redo: named("redo"), ...headElements(named),
    gallery: named("gallery"), bring: named("bring"),
  };
  const rooms = Object.fromEntries(Object.keys(TABS).map((name) => [name, named(`room-${name}`)]));
  const self = { parts, rooms, drawn: {}, measured: {}, choice: null, settings: null, answer: null, hovered: null, number: 0, own: [] };
  self.visitor = visitorName();
  const isWaiting = () => parts.root.classList.contains("waiting");
  self.reporter = new Reporter(() => ({ agreed: self.choice, value: self.choice }), isWaiting);
  Object.assign(self, { change: (patch) => change(self, patch), wanted: (...question) => answerTo(self, ...question) });
  Object.assign(self, { redraw: (fresh) => drawActiveTab(self, fresh), mark: () => markActiveTab(self) });
  Object.assign(self, { post: (...question) => post(self.api, ...question), imageUrl: (name) => imageUrl(self, name) });
  listen(self);
  listenToEdits(self);
  self.endings = [self.leave, createExportMenu(self, named), listenToPresenter(self, named), listenToModelVariant(self)];
  self.observer = new ResizeObserver(() => fitBoard(self));
  self.observer.observe(parts.board);
  return self;
}

/** Pictures follow the width that they have; their height is their own affair. */
function fitBoard(self) {
  const width = self.parts.board.clientWidth;
  if (width === self.width) return;
  self.width = width;
  clearMeasurements(self);
  self.redraw();
}

function unmount(self) {
  self.reporter.cancel();
  self.asking?.abort();
  self.observer.disconnect();
  for (const end of self.endings) end();
}

/** Takes over what the address says, unless the person has gone on since Streamlit last heard from here. */
function adopt(self, data) {
  if (!self.reporter.accepts(data.choice, data.serial)) return false;
  self.choice = { ...data.choice };
  clearHistory(self);
  self.focus = null;
  drawPresenter(self);
  for (const [box, text] of [[self.parts.text, self.choice.text], [self.parts.source, self.choice.source]]) {
    if (box.value !== text) box.value = text;
  }
  fitBoxes(self);
  return true;
}

/** What the sidebar exchanges is a choice like any other; `serial` tells it when Streamlit has heard. */
function listenToModelVariant(self) {
  const rewire = (event) => {
    event.preventDefault();
    self.change(event.detail.patch);
    event.detail.serial = self.reporter.serial;
  };
  document.addEventListener("headlight-wiring", rewire);
  return () => document.removeEventListener("headlight-wiring", rewire);
}

/** The one way in which a choice changes: remember it, repaint, ask again where the model is concerned, report. */
function change(self, patch) {
  const before = self.choice;
  self.choice = { ...before, ...patch };
  recordEdits(self, before, patch);
  drawPresenter(self);
  self.hovered = null;
  const asks = MODEL_FIELDS.some((name) => name in patch);
  if (asks) ask(self);
  if (self.answer && !("text" in patch) && !("source" in patch)) drawChoice(self);
  self.reporter.changed();
}

/** Marked tokens before the edited place stay; behind it the tokens are other ones now. */
function keptPositions(self, text, places) {
  const old = self.choice.text;
  let same = 0;
  while (same < Math.min(old.length, text.length) && old[same] === text[same]) same++;
  const ends = self.answer?.tokens.map((token) => token.end) || [];
  return places.filter((position) => ends[position] < same || (ends[position] === same && same === text.length));
}

function listen(self) {
  const { parts } = self;
  parts.text.readOnly = parts.source.readOnly = false; // what is typed before somebody listens would be lost
  parts.text.oninput = () => {
    const kept = (places) => keptPositions(self, parts.text.value, places);
    const { masked, locked } = self.choice;
    self.change({ text: parts.text.value, masked: kept(masked), locked: kept(locked), query: -1, target: -1 });
    fitBoxes(self); // last: while the backend works there is time for it
  };
  parts.source.oninput = () => {
    self.change({ source: parts.source.value, target: -1 });
    fitBoxes(self);
  };
  listenToHeads(self);
  listenToGallery(self);
}

function fitBoxes(self) {
  for (const box of [self.parts.text, self.parts.source]) {
    box.style.height = "auto";
    if (box.scrollHeight) box.style.height = `${Math.min(box.scrollHeight, 120)}px`;
  }
}

function drawExamples(self) {
  const buttons = self.examples.map((example) => {
    const button = createElement("button", "example", example.text || example.source);
    button.type = "button";
    button.onclick = () => {
      self.parts.text.value = example.text;
      self.parts.source.value = example.source;
      fitBoxes(self);
      self.change({ text: example.text, source: example.source, sort: example.sort, masked: [], locked: [], query: -1, target: -1 });
    };
    return button;
  });
  updateChildren(self.parts.examples, ...buttons);
}

/** With a sentence of ours on the page: what there is to see in its heads. */
export function drawHint(self, room) {
  const { text, source } = self.answer.question;
  const look = room === "heads" && self.examples.find((one) => one.text === text && one.source === source)?.look;
  self.parts.look.textContent = look || "";
  self.parts.look.hidden = !look;
}

export function showProblem(self, sentence) {
  self.problem = sentence;
  self.parts.problem.textContent = sentence;
  self.parts.problem.hidden = false;
  self.parts.answer.classList.add("stale");
  self.parts.status.textContent = "";
  drawEdits(self);
  markPainted(self);
}

export function showAnswer(self) {
  const { answer, parts } = self;
  self.problem = "";
  parts.problem.hidden = true;
  parts.answer.classList.remove("stale");
  parts.answer.hidden = false;
  const read = answer.patches ? `${answer.patches.rows} × ${answer.patches.columns} patches` : `${answer.tokens.length} of ${answer.context} tokens`;
  parts.status.textContent = `${read} · ${Math.round(answer.milliseconds)} ms`;
  parts.notes.replaceChildren(...answer.notes.map((note) => createElement("p", "", note)));
  drawTokenStrips(self);
  drawPredictions(self);
  drawEdits(self);
  self.redraw(true);
  markPainted(self);
}

/** Says, for whoever watches from outside, which question the picture on the screen answers. */
function markPainted(self) {
  self.parts.root.dataset.painted = self.answered;
  self.parts.root.dataset.sentence = self.answer?.question.text ?? "";
  self.parts.root.dataset.image = self.answer?.question.image ?? "";
}

/** What can be shown anew without the backend: the open room, and the changes in force. */
function drawChoice(self) {
  drawEdits(self);
  markTarget(self);
  self.redraw();
}
