// The heads without a server: in a notebook's cell, as a widget, or in a saved file. Requests are answered from the
// saved data: the weights of all heads as byte codes, and possibly one matrix with its exact numbers.

import { createElement } from "../dom/dom.js";
import { find, findByTestId } from "../dom/elements.js";
import headsStyle from "../heads/heads_tab.css";
import headsTab from "../heads/heads_tab.html";
import HEADS_TAB, { headElements, listenToHeads } from "../heads/heads_tab.js";
import { drawPredictions } from "../heads/predictions.js";
import { codeWeights } from "../heads/query_key_order.js";
import { drawTokenStrips } from "../heads/token_strip.js";
import { clearMeasurements } from "../plots/measurements.js";
import { describeEdit, wordNodes } from "../state/edit_words.js";
import { combineHeads, isPlainWeights, quantizedMatrix } from "../state/head_matrix.js";
import { currentGroup, selectedHeads } from "../state/head_selection.js";
import { editsInWords, provenanceLine } from "../state/provenance.js";
import { DEFAULT_CHOICE, State } from "../state/state.js";
import baseStyle from "../styles/base.css";
import { fromBase64, readFloats, unpack } from "../wire.js";
import style from "./standalone.css";
import body from "./standalone.html";

/** @import { AttentionGroup, Details, DisplayChoice, Found, HeadChoice, HeadMatrix, HeadRoutes, HeadViewAnswer, Page, Pair, SavedPage, Server, View } from "../types.js" */

const FIXED = ["text", "source", "masked_positions", "zoom"]; // choices that require a server
const NOT_SAVED =
  "This page contains only the view that was saved and the plain weights of all heads. Use Headlight itself for more.";
/** @type {Found} */
const NOTHING = { meta: { error: NOT_SAVED }, numbers: new Float32Array() };

/**
 * The receiver of choices, and whether there is a model that edits can change.
 * @typedef {{ report: (choice: Readonly<DisplayChoice>) => void, hasModel: boolean }} Listener
 */
/** @type {Listener} */
const NOBODY = { report: () => {}, hasModel: false };

/** @param {HTMLElement} host @param {SavedPage} saved @param {Uint8Array<ArrayBuffer>} bytes */
export function openPage(host, saved, bytes, listener = NOBODY) {
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

/** @implements {Page} */
export class StandalonePage {
  /** @type {State} */
  state;
  /** @type {View} */
  view;
  /** @type {Server} */
  server;
  /** Removes all listeners. */
  close = () => {};
  #root;
  #listener;
  /** @type {string[]} */
  #provenance = [];

  /** @param {ShadowRoot} root @param {SavedPage} saved @param {Uint8Array<ArrayBuffer>} bytes @param {Listener} listener */
  constructor(root, saved, bytes, listener) {
    this.#root = root;
    this.#listener = listener;
    this.state = new State({ ...DEFAULT_CHOICE, ...saved.state }, saved);
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

  /** @param {SavedPage} saved @param {Uint8Array<ArrayBuffer>} bytes */
  #take(saved, bytes) {
    this.#provenance = saved.provenance_parts;
    this.state.receive({ ...saved, maskable: false, bytes });
    return new SavedAnswers(this, saved.saved_views);
  }

  /** Takes over numbers of another text or a changed model. @param {SavedPage} saved @param {Uint8Array<ArrayBuffer>} bytes */
  receive(saved, bytes) {
    this.server = this.#take(saved, bytes);
    this.state.update(saved.state);
    this.draw();
  }

  /** @param {Partial<DisplayChoice>} patch */
  change(patch) {
    const { report, hasModel } = this.#listener;
    const possible = Object.entries(patch).filter(([name]) => !FIXED.includes(name) && (hasModel || name !== "edits"));
    this.state.update(Object.fromEntries(possible));
    this.view.redraw();
    report(this.state.choice);
  }

  /** Takes over a choice from another source. @param {Partial<DisplayChoice>} patch */
  follow(patch) {
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

/**
 * Follows the theme of the notebook; a saved file follows the system.
 * @param {StandalonePage} page @param {HTMLElement} host @returns {() => void} ends it
 */
function followTheme(page, host) {
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

/** Answers requests from the saved data. @implements {Server} */
class SavedAnswers {
  #page;
  #views;
  /** @type {Map<string, Found>} */
  #known = new Map();

  /** @param {Page} page @param {SavedPage["saved_views"]} views */
  constructor(page, views) {
    this.#page = page;
    this.#views = views;
  }

  /**
   * The saved answer; null if the byte codes of all heads contain it, else a refusal.
   * @template {keyof HeadRoutes} Name @param {Name} route @param {Details<HeadRoutes[Name]["request"]>} details
   * @returns {Found<HeadRoutes[Name]["answer"]> | null}
   */
  get(route, details) {
    const found = this.#find(route, details);
    return /** @type {Found<HeadRoutes[Name]["answer"]> | null} */ (found);
  }

  /** @param {keyof HeadRoutes} route @param {object} details @returns {Found | null} */
  #find(route, details) {
    if (route === "query_key_weights") {
      const { query, key } = /** @type {Pair} */ (details);
      return { meta: {}, numbers: weightsOfPair(this.#page, query, key) };
    }
    if (route !== "head_view") return NOTHING;
    const { choice } = /** @type {{ choice: Partial<HeadChoice> }} */ (details);
    const plain = isPlainWeights(this.#page, choice);
    if (plain && !currentGroup(this.#page).exact) return null;
    const key = `view ${JSON.stringify(choice)}`;
    const found = this.#known.get(key) ?? (plain ? this.#plain() : this.#saved(key));
    this.#known.set(key, found);
    return found;
  }

  /** @param {AttentionGroup} _grid @param {number} _layer */
  async getLayerCodes(_grid, _layer) {
    return null; // all codes are saved
  }

  imageName() {
    return "";
  }

  imageUrl() {
    return "";
  }

  /** @returns {Found<HeadViewAnswer>} */
  #plain() {
    const matrix = exactWeights(this.#page);
    return { meta: { ...matrix, per_head: matrix.per_head.length }, numbers: new Float32Array(), matrix };
  }

  /** @param {string} key @returns {Found} */
  #saved(key) {
    const packed = this.#views[key];
    if (!packed) return NOTHING;
    const { meta, start, buffer } = unpack(fromBase64(packed).buffer);
    return { meta, numbers: readFloats(buffer, start) };
  }
}

/**
 * The exact weights of a head, which follow the byte codes of all groups.
 * @param {Page} page @param {AttentionGroup} group @param {number} place of the head, layer after layer
 */
function exactHead(page, group, place) {
  const { bytes, attention_groups } = page.state.answer;
  const last = attention_groups[attention_groups.length - 1];
  const cells = last.offset + last.layers * last.heads * last.rows * last.columns;
  const size = group.rows * group.columns;
  return new Float32Array(bytes.buffer, Math.ceil(cells / 4) * 4).subarray(
    group.offset + place * size,
    group.offset + (place + 1) * size,
  );
}

/**
 * The weight of one cell in all heads; for a long text, the largest of its block.
 * @param {Page} page @param {number} query @param {number} key
 */
function weightsOfPair(page, query, key) {
  const group = currentGroup(page);
  if (!group.exact) return codeWeights(page, group, query, key);
  return Float32Array.from(
    { length: group.layers * group.heads },
    (_, place) => exactHead(page, group, place)[query * group.columns + key],
  );
}

/** The exact weights of the selected heads. @param {Page} page @returns {HeadMatrix} */
function exactWeights(page) {
  const group = currentGroup(page);
  const each = selectedHeads(page).map(([layer, head]) => exactHead(page, group, layer * group.heads + head));
  const numbers = each.length > 1 ? combineHeads(each, page.state.choice.head_reduction) : each[0];
  return { ...quantizedMatrix(page), per_head: each, numbers, exact: true };
}
