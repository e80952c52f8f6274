// Patches: A takes a value from B's run, a head's output or a token before a layer, by a button or by dragging from B
// to A.

import { createElement, quotedToken, updateChildren } from "../../ui/frontend/dom/dom.js";
import { wordNodes, wordText } from "../../ui/frontend/state/edit_words.js";

import { isPatch } from "./questions.js";

/** @import { AttentionPair, Comparison } from "./comparison.js" */
/** @import { CompareElements } from "./elements.js" */
/** @import { CompareState } from "./state.js" */
/** @import { AttentionGroupAnswer, HeadIndex, Question } from "./types.d.ts" */
/** @import { Words } from "../../ui/frontend/types.js" */

/** The text of a question that patches take values from. @typedef {"text" | "source"} DonorField */
/** @typedef {{ comparison: Comparison, attention: AttentionPair, heads: HeadIndex[] }} Shown heads of each side */

/**
 * Why A cannot take values from B's run; empty if it can.
 * @param {[Question, Question]} questions @param {DonorField} field
 */
export function whyNoPatch([a, b], field) {
  const [one, other] = [a, b].map(({ model, variant }) => JSON.stringify([model, variant]));
  if (one !== other) return "A can take values from B only if both are the same model.";
  const same = field === "source" ? "text" : "source";
  if (a[field] === b[field] || a[same] !== b[same])
    return `A can take values from B only if they differ in the ${field === "source" ? "source" : "text"} alone.`;
  if (b.edits.length || b.masked_positions.length)
    return "A can take values from B only if B is unchanged: set its changes to “none”.";
  return "";
}

/** @param {AttentionGroupAnswer} group @param {HeadIndex} head */
export function headPatch({ stack, kind }, { layer, head }) {
  return `${stack}.${layer}.${kind}.weighted_values[${head}]=from:B`;
}

/** @param {string} stack @param {number} layer that reads the token @param {number} ours @param {number} theirs positions */
export function tokenPatch(stack, layer, ours, theirs) {
  return `${stack}.${layer}.residual[${ours}]=from:B${ours === theirs ? "" : `[${theirs}]`}`;
}

const PATCH_PATTERN = /^(\w+)\.(\d+)\.(?:\w+\.weighted_values\[(\d+)\]|residual\[(\d+)\])=from:B(?:\[(\d+)\])?$/;

/**
 * A patch in the words of the buttons; its edit text if it is not of a head or a token of the text.
 * @param {string} edit @param {string} stack that reads the text @param {readonly { text: string }[]} tokens of B's text
 * @returns {Words}
 */
export function patchWords(edit, stack, tokens) {
  const [, read, layer, head, ours, theirs = ours] = edit.match(PATCH_PATTERN) ?? [];
  if (head) return [`layer ${layer}, head ${head}`];
  const token = read === stack && tokens[Number(theirs)];
  return token ? [{ token }, ` before layer ${layer}${ours === theirs ? "" : `, at position ${ours}`}`] : [edit];
}

/** The stack that reads the text. @param {AttentionGroupAnswer} group */
const textStack = ({ stack, queries }) => (queries === "text" ? stack : "decoder");

export class Patches {
  #elements;
  #patch;
  /**
   * The dragged value: the patch that it makes on a token of A, or on none.
   * @type {((ours: number | null) => string) | null}
   */
  #dragged = null;
  /** @type {Shown | null} */
  #shown = null;

  /** @param {CompareElements} elements @param {(edit: string) => void} patch makes or removes a patch */
  constructor(elements, patch) {
    this.#elements = elements;
    this.#patch = patch;
    const places = [elements.headTables, elements.sideMaps, elements.strips];
    for (const [ours, theirs] of places) {
      ours.ondragover = (event) => this.#dragged && event.preventDefault();
      ours.ondrop = (event) => this.#drop(event);
      theirs.ondragstart = (event) => this.#drag(event);
      theirs.ondragend = () => this.#carry(null);
    }
  }

  /** @param {Shown} shown @param {CompareState} state @param {DonorField} field */
  draw(shown, state, field) {
    this.#shown = shown;
    const { comparison, attention, heads } = shown;
    const { patchHead, patchToken, patchHint, patchesMade, headTables, sideMaps, strips } = this.#elements;
    const why = whyNoPatch(state.questions, field);
    const [one, other] = attention.groups;
    const uneven = one.rows !== other.rows ? "A head can be taken from B only if both have equally many tokens." : "";
    patchHint.textContent = why || uneven || "or drag a head or a token of B onto A";
    const head = heads[1];
    this.#drawButton(patchHead, state, why || uneven, headPatch(other, head), [
      `layer ${head.layer}, head ${head.head}`,
    ]);
    const [ours, theirs] = comparison.queryPositions(state.choice.query);
    const token = comparison.tokens(1, "text")[theirs ?? -1];
    const edit = tokenPatch(textStack(other), head.layer, ours, theirs ?? 0);
    const words = token ? [quotedToken(token), ` before layer ${head.layer}`] : ["no token"];
    this.#drawButton(patchToken, state, why || (token ? "" : "This token of A has no partner in B."), edit, words);
    const made = state.choice.edits.filter(isPatch);
    const wordsOf = (/** @type {string} */ each) => patchWords(each, textStack(other), comparison.tokens(1, "text"));
    updateChildren(patchesMade, ...made.map((each) => this.#createMade(each, wordsOf(each))));
    const draggable = [...headTables[1].querySelectorAll(".head-cell"), sideMaps[1]];
    for (const place of draggable) /** @type {HTMLElement} */ (place).draggable = !why && !uneven;
    for (const chip of strips[1].querySelectorAll("button")) chip.draggable = !why;
  }

  /**
   * @param {HTMLButtonElement} button @param {CompareState} state @param {string} why it is not possible
   * @param {string} edit @param {(Node | string)[]} words
   */
  #drawButton(button, state, why, edit, words) {
    button.replaceChildren(...words);
    button.disabled = Boolean(why);
    button.title = why || edit;
    button.ariaPressed = String(state.choice.edits.includes(edit));
    button.onclick = () => this.#patch(edit);
  }

  /** The button that removes a patch of A. @param {string} edit @param {Words} words */
  #createMade(edit, words) {
    const told = { ariaLabel: `Take back ${wordText(words)}`, title: edit };
    return createElement("button", "pill", [...wordNodes(words), " ×"], { ...told, onclick: () => this.#patch(edit) });
  }

  /** @param {DragEvent} event */
  #drag(event) {
    if (!this.#shown || !(event.target instanceof HTMLElement)) return;
    const { comparison, attention, heads } = this.#shown;
    const group = attention.groups[1];
    const chip = event.target.closest("button");
    if (chip) {
      const theirs = placeOf(chip, "button");
      const partner = comparison.partner(1, "text", theirs);
      this.#carry((ours) => tokenPatch(textStack(group), heads[1].layer, ours ?? partner ?? theirs, theirs));
    } else {
      const cell = event.target.closest(".head-cell");
      const row = cell?.closest(".row");
      const head =
        cell && row ? { layer: placeOf(row, ".row:has(.head-cell)"), head: placeOf(cell, ".head-cell") } : heads[1];
      this.#carry(() => headPatch(group, head));
    }
    event.dataTransfer?.setData("text/plain", this.#dragged?.(null) ?? ""); // some browsers need data to drag
  }

  /** @param {DragEvent} event */
  #drop(event) {
    const makes = this.#dragged;
    if (!makes) return;
    event.preventDefault();
    this.#carry(null);
    const chip = event.target instanceof HTMLElement ? event.target.closest(".tokens button") : null;
    this.#patch(makes(chip ? placeOf(chip, "button") : null));
  }

  /** @param {((ours: number | null) => string) | null} dragged */
  #carry(dragged) {
    this.#dragged = dragged;
    this.#elements.root.classList.toggle("dragging", Boolean(dragged));
  }
}

/** The index of an element among its siblings of a kind. @param {Element} element @param {string} kind */
function placeOf(element, kind) {
  return [...(element.parentElement?.children ?? [])].filter((each) => each.matches(kind)).indexOf(element);
}
