// The heads without a server: in a notebook's cell, as a widget, or in a saved file. Requests are answered from the
// saved data: the weights of all heads as byte codes, and possibly one matrix with its exact numbers.

import { DEFAULT_STATE } from "../contract.ts";
import { createElement } from "../dom/dom.ts";
import { find, findByTestId } from "../dom/elements.ts";
import headsStyle from "../heads/heads_tab.css";
import headsTab from "../heads/heads_tab.html";
import HEADS_TAB, { headElements, listenToHeads } from "../heads/heads_tab.ts";
import { drawPredictions } from "../heads/predictions.ts";
import { codeWeights } from "../heads/query_key_order.ts";
import { drawTokenStrips } from "../heads/token_strip.ts";
import { clearMeasurements } from "../plots/measurements.ts";
import { describeEdit, wordNodes } from "../state/edit_words.ts";
import { combineHeads, isPlainWeights, quantizedMatrix } from "../state/head_matrix.ts";
import { currentGroup, selectedHeads } from "../state/head_selection.ts";
import { editsInWords, provenanceLine } from "../state/provenance.ts";
import { State } from "../state/state.ts";
import baseStyle from "../styles/base.css";
import type {
  AttentionGroup,
  Details,
  DisplayChoice,
  Found,
  HeadChoice,
  HeadMatrix,
  HeadRoutes,
  HeadViewAnswer,
  Page,
  Pair,
  SavedPage,
  Server,
  View,
} from "../types.ts";
import { fromBase64, readFloats, unpack } from "../wire.ts";
import style from "./standalone.css";
import body from "./standalone.html";

const FIXED = ["text", "source", "masked_positions", "zoom"]; // choices that require a server
const NOT_SAVED =
  "This page contains only the view that was saved and the plain weights of all heads. Use Headlight itself for more.";
const NOTHING: Found = { meta: { error: NOT_SAVED }, numbers: new Float32Array() };

/** The receiver of choices, and whether there is a model that edits can change. */
type Listener = { report: (choice: Readonly<DisplayChoice>) => void; hasModel: boolean };
const NOBODY: Listener = { report: () => {}, hasModel: false };

export function openPage(host: HTMLElement, saved: SavedPage, bytes: Uint8Array<ArrayBuffer>, listener = NOBODY) {
  const root = host.attachShadow({ mode: "open" });
  root.innerHTML = `<style>${baseStyle}${headsStyle}${style}</style>${body}`;
  find(root, ".heads-panel").innerHTML = headsTab;
  const page = new StandalonePage(root, saved, bytes, listener);
  listenToHeads(page);
  page.draw();
  const forgetTheme = followTheme(page, host);
  const sizes = new ResizeObserver(() => {
    clearMeasurements(page);
    page.view.redraw();
  });
  sizes.observe(find(root, ".board"));
  page.close = () => {
    forgetTheme();
    sizes.disconnect();
  };
  return page;
}

export class StandalonePage implements Page {
  state: State;
  view: View;
  server: Server;
  /** Removes all listeners. */
  close = () => {};
  #root;
  #listener;
  #provenance: string[] = [];

  constructor(root: ShadowRoot, saved: SavedPage, bytes: Uint8Array<ArrayBuffer>, listener: Listener) {
    this.#root = root;
    this.#listener = listener;
    this.state = new State({ ...DEFAULT_STATE, ...saved.state }, saved);
    const board = find(root, ".board");
    this.view = {
      elements: headElements(root),
      redraw: (fresh = false) => {
        if (board.clientWidth) HEADS_TAB.draw(this, fresh);
      },
      markPointer: () => HEADS_TAB.markPointer(this),
    };
    this.server = this.#take(saved, bytes);
    this.view.elements.root.classList.toggle("fixed", !listener.hasModel);
    this.view.elements.headsTab.hidden = false;
    findByTestId(root, "quantity").hidden = saved.quantities.length < 2;
  }

  #take(saved: SavedPage, bytes: Uint8Array<ArrayBuffer>) {
    this.#provenance = saved.provenance_parts;
    this.state.receive({ ...saved, maskable: false, bytes });
    return new SavedAnswers(this, saved.saved_views);
  }

  /** Takes over numbers of another text or a changed model. */
  receive(saved: SavedPage, bytes: Uint8Array<ArrayBuffer>) {
    this.server = this.#take(saved, bytes);
    this.state.update(saved.state);
    this.draw();
  }

  change(patch: Partial<DisplayChoice>) {
    const { report, hasModel } = this.#listener;
    const possible = Object.entries(patch).filter(([name]) => !FIXED.includes(name) && (hasModel || name !== "edits"));
    this.state.update(Object.fromEntries(possible));
    this.view.redraw();
    report(this.state.choice);
  }

  /** Takes over a choice from another source. */
  follow(patch: Partial<DisplayChoice>) {
    const now = { ...this.state.choice, ...patch };
    if (JSON.stringify(now) === JSON.stringify(this.state.choice)) return;
    this.state.update(patch);
    this.draw();
  }

  /** Draws everything. */
  draw() {
    const { answer } = this.state;
    const { root, predictions } = this.view.elements;
    const notes = answer.notes.map((note) => createElement("p", "", note));
    findByTestId(this.#root, "notes").replaceChildren(...notes, ...this.#changes());
    const changes = editsInWords(this.state, this.state.choice.edits);
    findByTestId(this.#root, "provenance").textContent = provenanceLine(this.#provenance, changes);
    predictions.hidden = !answer.predictions.length;
    drawTokenStrips(this);
    drawPredictions(this);
    for (const button of predictions.querySelectorAll("button")) button.disabled = true;
    this.view.redraw(true);
    root.dataset.painted = "alone";
  }

  /** The changes of the model, in words. */
  #changes() {
    const { edits } = this.state.choice;
    if (!edits.length) return [];
    const line = createElement("p", "", "Changed: ");
    for (const [place, edit] of edits.entries())
      line.append(place ? " · " : "", ...wordNodes(describeEdit(this.state, edit)));
    return [line];
  }
}

/** Follows the theme of the notebook; a saved file follows the system. @returns ends it */
function followTheme(page: StandalonePage, host: HTMLElement): () => void {
  const { body, documentElement } = document;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const own = "headlight" in documentElement.dataset;
  const notebookIsDark = () =>
    body.dataset.jpThemeLight === "false" ||
    ["vscode-dark", "dark", "dark-theme"].some((name) => body.classList.contains(name)) ||
    documentElement.getAttribute("theme") === "dark";
  const repaint = () => {
    const isDark = own ? system.matches : notebookIsDark();
    if (host.hasAttribute("data-dark") === isDark) return;
    host.toggleAttribute("data-dark", isDark);
    clearMeasurements(page);
    page.draw();
  };
  repaint();
  const themes = new MutationObserver(repaint);
  for (const element of [body, documentElement])
    themes.observe(element, { attributeFilter: ["class", "theme", "data-jp-theme-light"] });
  system.addEventListener("change", repaint);
  return () => {
    themes.disconnect();
    system.removeEventListener("change", repaint);
  };
}

/** Answers requests from the saved data. */
class SavedAnswers implements Server {
  #page;
  #views;
  #known: Map<string, Found> = new Map();

  constructor(page: Page, views: SavedPage["saved_views"]) {
    this.#page = page;
    this.#views = views;
  }

  answers(route: string) {
    return route === "head_view" || route === "query_key_weights";
  }

  /** The saved answer; null if the byte codes of all heads contain it, else a refusal. */
  get<Name extends keyof HeadRoutes>(
    route: Name,
    details: Details<HeadRoutes[Name]["request"]>,
  ): Found<HeadRoutes[Name]["answer"]> | null {
    const found = this.#find(route, details);
    return found as Found<HeadRoutes[Name]["answer"]> | null;
  }

  #find(route: keyof HeadRoutes, details: object): Found | null {
    if (route === "query_key_weights") {
      const { query, key } = details as Pair;
      return { meta: {}, numbers: weightsOfPair(this.#page, query, key) };
    }
    if (route !== "head_view") return NOTHING;
    const { choice } = details as { choice: Partial<HeadChoice> };
    const plain = isPlainWeights(this.#page, choice);
    if (plain && !currentGroup(this.#page).exact) return null;
    const key = `view ${JSON.stringify(choice)}`;
    const found = this.#known.get(key) ?? (plain ? this.#plain() : this.#saved(key));
    this.#known.set(key, found);
    return found;
  }

  async getLayerCodes(_grid: AttentionGroup, _layer: number) {
    return null; // all codes are saved
  }

  imageName() {
    return "";
  }

  imageUrl() {
    return "";
  }

  #plain(): Found<HeadViewAnswer> {
    const matrix = exactWeights(this.#page);
    return { meta: { ...matrix, per_head: matrix.per_head.length }, numbers: new Float32Array(), matrix };
  }

  #saved(key: string): Found {
    const packed = this.#views[key];
    if (!packed) return NOTHING;
    const { meta, start, buffer } = unpack(fromBase64(packed).buffer);
    return { meta, numbers: readFloats(buffer, start) };
  }
}

/**
 * The exact weights of a head, which follow the byte codes of all groups.
 * @param place of the head, layer after layer
 */
function exactHead(page: Page, group: AttentionGroup, place: number) {
  const { bytes, attention_groups } = page.state.answer;
  const last = attention_groups[attention_groups.length - 1];
  const cells = last.offset + last.layers * last.heads * last.rows * last.columns;
  const size = group.rows * group.columns;
  return new Float32Array(bytes.buffer, Math.ceil(cells / 4) * 4).subarray(
    group.offset + place * size,
    group.offset + (place + 1) * size,
  );
}

/** The weight of one cell in all heads; for a long text, the largest of its block. */
function weightsOfPair(page: Page, query: number, key: number) {
  const group = currentGroup(page);
  if (!group.exact) return codeWeights(page, group, query, key);
  return Float32Array.from(
    { length: group.layers * group.heads },
    (_, place) => exactHead(page, group, place)[query * group.columns + key],
  );
}

/** The exact weights of the selected heads. */
function exactWeights(page: Page): HeadMatrix {
  const group = currentGroup(page);
  const each = selectedHeads(page).map(([layer, head]) => exactHead(page, group, layer * group.heads + head));
  const numbers = each.length > 1 ? combineHeads(each, page.state.choice.head_reduction) : each[0];
  return { ...quantizedMatrix(page), per_head: each, numbers, exact: true };
}
