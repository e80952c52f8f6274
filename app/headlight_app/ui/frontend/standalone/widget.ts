// Heads as a notebook widget: Python reads and sets the choices, runs the model, and answers.

import { createElement } from "../dom/dom.ts";
import { elementsOf, find } from "../dom/elements.ts";
import { setText } from "../text_box.ts";
import type { DisplayChoice, SavedPage } from "../types.ts";
import type { Packed } from "../wire.ts";
import { unpack } from "../wire.ts";
import type { StandalonePage } from "./page.ts";
import { openPage } from "./page.ts";

/** The traits that are read here; without a model there are no edits. */
interface Traits {
  _name: string;
  _asked: number;
  _answered: number;
  _view: DataView<ArrayBuffer>;
  error: string;
  source: string;
  text: string;
  edits: string[] | undefined;
}
/** The traits of the widget in Python, as passed by anywidget; all views of a widget share one model. */
interface Model {
  get: <Name extends string>(name: Name) => Name extends keyof Traits ? Traits[Name] : unknown;
  set: (name: string, value: unknown) => void;
  save_changes: () => void;
  on: (event: string, listener: () => void) => void;
  off: (event: string, listener: () => void) => void;
}

const CHOICES = ["attention", "layer", "head", "heads", "query", "pinned", "edits"] as const;
const PATIENCE = 3_000; // milliseconds
const SILENT = "Python has not answered yet. It is busy, or its kernel has ended: in that case run this cell again.";

/** Called by anywidget for every cell that shows the widget. */
export function renderWidget({ model, el }: { model: Model; el: HTMLElement }) {
  // Letters typed here must not act as JupyterLab's commands, some of which delete cells.
  const host = createElement("div", "", [], { dataset: { lmSuppressShortcuts: "true" } });
  el.append(host);
  for (const view of document.querySelectorAll(`[data-headlight-widget="${model.get("_name")}"]`))
    view.toggleAttribute("hidden", true); // the static view that a saved notebook shows instead of the widget
  const hasModel = model.get("edits") !== undefined;
  const tell = (values: Readonly<Record<string, unknown>>) => {
    const asked = model.get("_asked") + 1;
    for (const [name, value] of Object.entries({ ...values, _asked: asked })) model.set(name, value);
    model.save_changes();
    setTimeout(() => drawQuestion(model.get("_answered") < asked ? SILENT : ""), PATIENCE);
  };
  const report = (choice: Readonly<DisplayChoice>) =>
    tell(Object.fromEntries(sharedBy(model).map((name) => [name, choice[name]])));
  const page = openPage(host, ...readView(model), { hasModel, report });
  const drawQuestion = listenToQuestion(page, model, tell);
  const follow = () => {
    page.follow(choiceOf(model));
    drawQuestion();
  };
  const listeners: [event: string, listener: () => void][] = [
    ["change:_view", () => page.receive(...readView(model))],
    ...[...CHOICES, "text", "source", "error", "_answered"].map(
      (name) => [`change:${name}`, follow] as [string, () => void],
    ),
  ];
  for (const [event, listener] of listeners) model.on(event, listener);
  return () => {
    for (const [event, listener] of listeners) model.off(event, listener);
    page.close();
  };
}

/** The view computed by Python, with the current choices. */
function readView(model: Model): [SavedPage, Uint8Array<ArrayBuffer>] {
  const { buffer, byteOffset, byteLength }: DataView<ArrayBuffer> = model.get("_view");
  const { meta, start, buffer: packed }: Packed<SavedPage> = unpack(buffer.slice(byteOffset, byteOffset + byteLength));
  return [{ ...meta, state: { ...meta.state, ...choiceOf(model) } }, new Uint8Array(packed.slice(start))];
}

function sharedBy(model: Model) {
  return CHOICES.filter((name) => model.get(name) !== undefined);
}

function choiceOf(model: Model): Partial<DisplayChoice> {
  return Object.fromEntries(sharedBy(model).map((name) => [name, model.get(name)]));
}

/** The boxes for a model's texts and edits. */
function listenToQuestion(page: StandalonePage, model: Model, tell: (values: Record<string, unknown>) => void) {
  const { root } = page.view.elements;
  const boxes = elementsOf(root);
  const [edits, problem] = [boxes.box("edits"), boxes.named("problem")];
  const texts = (["source", "text"] as const).filter((name) => typeof model.get(name) === "string");
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
