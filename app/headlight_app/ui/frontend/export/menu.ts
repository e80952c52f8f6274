// The menu Export: opens and closes it, runs one action at a time, and reports the result.

import { sentenceNodes } from "../dom/dom.ts";
import { find, findByTestId } from "../dom/elements.ts";
import { createPopover } from "../dom/popover.ts";
import { failureText } from "../server.ts";
import type { FigureSize } from "./figure_size.ts";
import { FIGURE_SIZES } from "./figure_size.ts";

export type FigureForm = "svg" | "png" | "pdf";
export type NumberForm = "csv" | "json" | "npz";
/** `foot`: whether the origin is drawn below. */
export type FigureOptions = { size: FigureSize; title: string; foot: boolean };
type Take = () => void | Promise<void>;

export const FIGURE_FORMS = ["svg", "png", "pdf"] as const;
export const NUMBER_FORMS = ["csv", "json", "npz"] as const;

export class ExportMenu {
  close;
  end;

  #place;
  #isReady;
  #opened;
  #elements;
  #busy = false;

  /** @param isReady whether there is something to export @param opened lists the choices */
  constructor(place: ParentNode, isReady: () => boolean, opened: () => unknown = () => {}) {
    this.#place = place;
    this.#isReady = isReady;
    this.#opened = opened;
    this.#elements = {
      button: findByTestId(place, "export-menu-button", HTMLButtonElement),
      menu: findByTestId(place, "export-menu"),
      status: findByTestId(place, "export-status"),
      copied: findByTestId(place, "export-copied", HTMLTextAreaElement),
      size: findByTestId(place, "figure-size", HTMLSelectElement),
      title: findByTestId(place, "figure-title", HTMLInputElement),
      foot: findByTestId(place, "figure-foot", HTMLInputElement),
    };
    const { button, menu } = this.#elements;
    const { show, end } = createPopover(button, menu, () => this.#begin());
    this.close = () => show(false);
    this.end = end;
    menu.onkeydown = (event) => event.stopPropagation(); // letters typed here are not shortcuts of the page
    button.hidden = false; // shown only once it listens: an earlier click would be lost
  }

  get figureOptions(): FigureOptions {
    const { size, title, foot } = this.#elements;
    return { size: FIGURE_SIZES[size.value], title: title.value.trim(), foot: foot.checked };
  }

  /** The actions of buttons, by name. */
  listen(actions: Record<string, Take>) {
    for (const [name, take] of Object.entries(actions)) {
      const control = findByTestId(this.#place, `export-${name}`);
      control.onclick = () => this.run(control, take);
    }
  }

  #begin() {
    this.#elements.copied.hidden = true;
    this.say("");
    this.#list();
    find(this.#elements.menu, "button").focus();
  }

  /** Lists the choices again if the menu was opened before the answer arrived. */
  relist() {
    if (!this.#elements.menu.hidden) this.#list();
  }

  async #list() {
    try {
      await this.#opened();
    } catch (error) {
      this.say(failureText(error));
    }
    this.#elements.menu.scrollIntoView({ block: "nearest" });
  }

  say(...message: (Node | string)[]) {
    const nodes = message.flatMap((part) => (typeof part === "string" ? sentenceNodes(part) : [part]));
    this.#elements.status.replaceChildren(...nodes);
    if (message.some(Boolean)) this.#elements.status.scrollIntoView({ block: "nearest" }); // a phone shows half the menu
  }

  /** Runs one action at a time, and reports errors. */
  async run(control: HTMLElement, take: Take) {
    if (!this.#isReady() || this.#busy) return;
    this.#busy = true;
    control.classList.add("busy");
    this.say("");
    try {
      await take();
    } catch (error) {
      this.say(failureText(error));
    } finally {
      this.#busy = false;
      control.classList.remove("busy");
    }
  }

  /** Copies text to the clipboard, and shows it; without a clipboard, it is selected for copying. */
  async copy(text: string, message: string) {
    const box = this.#elements.copied;
    box.hidden = false;
    box.value = text;
    box.rows = Math.min(text.split("\n").length, 9);
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      box.select(); // a page served over plain http has no clipboard
      if (!document.execCommand("copy")) return this.say("Press Ctrl+C to copy the marked text.");
    }
    this.say(message);
  }
}
