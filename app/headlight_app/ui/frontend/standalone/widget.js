// Heads as a notebook widget: Python reads and sets the choices, runs the model, and answers.

import { createElement } from "../dom/dom.js";
import { elementsOf, find } from "../dom/elements.js";
import { setText } from "../text_box.js";
import { unpack } from "../wire.js";
import { openPage } from "./page.js";

/** @import { DisplayChoice, SavedPage } from "../types.js" */
/** @import { StandalonePage } from "./page.js" */

/**
 * The traits of the widget in Python, as passed by anywidget; all views of a widget share one model.
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(name: string, value: unknown) => void} set
 * @property {() => void} save_changes
 * @property {(event: string, listener: () => void) => void} on
 * @property {(event: string, listener: () => void) => void} off
 */

const CHOICES = /** @type {const} */ (["attention", "layer", "head", "heads", "query", "pinned", "edits"]);
const PATIENCE = 3_000; // milliseconds
const SILENT = "Python has not answered yet. It is busy, or its kernel has ended: in that case run this cell again.";

/** Called by anywidget for every cell that shows the widget. @param {{ model: Model, el: HTMLElement }} place */
export function renderWidget({ model, el }) {
  // Letters typed here must not act as JupyterLab's commands, some of which delete cells.
  const host = createElement("div", "", [], { dataset: { lmSuppressShortcuts: "true" } });
  el.append(host);
  for (const view of document.querySelectorAll(`[data-headlight-widget="${model.get("_name")}"]`))
    view.toggleAttribute("hidden", true); // the static view that a saved notebook shows instead of the widget
  const hasModel = model.get("edits") !== undefined;
  /** @param {Readonly<Record<string, unknown>>} values */
  const tell = (values) => {
    const asked = model.get("_asked") + 1;
    for (const [name, value] of Object.entries({ ...values, _asked: asked })) model.set(name, value);
    model.save_changes();
    setTimeout(() => drawQuestion(model.get("_answered") < asked ? SILENT : ""), PATIENCE);
  };
  /** @param {Readonly<DisplayChoice>} choice */
  const report = (choice) => tell(Object.fromEntries(sharedBy(model).map((name) => [name, choice[name]])));
  const page = openPage(host, ...readView(model), { hasModel, report });
  const drawQuestion = listenToQuestion(page, model, tell);
  const follow = () => {
    page.follow(choiceOf(model));
    drawQuestion();
  };
  /** @type {[event: string, listener: () => void][]} */
  const listeners = [
    ["change:_view", () => page.receive(...readView(model))],
    ...[...CHOICES, "text", "source", "error", "_answered"].map(
      (name) => /** @type {[string, () => void]} */ ([`change:${name}`, follow]),
    ),
  ];
  for (const [event, listener] of listeners) model.on(event, listener);
  return () => {
    for (const [event, listener] of listeners) model.off(event, listener);
    page.close();
  };
}

/** The view computed by Python, with the current choices. @param {Model} model @returns {[SavedPage, Uint8Array<ArrayBuffer>]} */
function readView(model) {
  /** @type {DataView<ArrayBuffer>} */
  const { buffer, byteOffset, byteLength } = model.get("_view");
  /** @type {import("../wire.js").Packed<SavedPage>} */
  const { meta, start, buffer: packed } = unpack(buffer.slice(byteOffset, byteOffset + byteLength));
  return [{ ...meta, state: { ...meta.state, ...choiceOf(model) } }, new Uint8Array(packed.slice(start))];
}

/** @param {Model} model */
function sharedBy(model) {
  return CHOICES.filter((name) => model.get(name) !== undefined);
}

/** @param {Model} model @returns {Partial<DisplayChoice>} */
function choiceOf(model) {
  return Object.fromEntries(sharedBy(model).map((name) => [name, model.get(name)]));
}

/**
 * The boxes for a model's texts and edits.
 * @param {StandalonePage} page @param {Model} model @param {(values: Record<string, unknown>) => void} tell
 */
function listenToQuestion(page, model, tell) {
  const { root } = page.view.elements;
  const boxes = elementsOf(root);
  const [edits, problem] = [boxes.box("edits"), boxes.named("problem")];
  const texts = /** @type {const} */ (["source", "text"]).filter((name) => typeof model.get(name) === "string");
  for (const name of texts) {
    const box = boxes.box(name);
    find(root, `.box.${name}`).hidden = false;
    box.oninput = () => tell({ [name]: box.value });
  }
  find(root, ".box.edits").hidden = model.get("edits") === undefined;
  const apply = () => page.change({ edits: edits.value.split("\n").filter((line) => line.trim()) });
  edits.onchange = apply;
  edits.onkeydown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) apply();
  };
  let shown = "";
  const draw = (trouble = "") => {
    const error = model.get("error") || trouble;
    problem.hidden = !error;
    problem.textContent = error;
    for (const name of texts) setText(boxes.box(name), model.get(name));
    const made = (model.get("edits") ?? []).join("\n");
    // Refused edits stay for correction, and text that is being typed is not overwritten.
    if (error || ![shown, made].includes(edits.value)) return;
    setText(edits, made);
    shown = made;
  };
  draw();
  return draw;
}
