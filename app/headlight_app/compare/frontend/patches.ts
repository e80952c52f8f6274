// Patches: A takes a value from B's run, a head's output or a token before a layer, by a button or by dragging from B
// to A.

import { createElement, quotedToken, updateChildren } from "../../ui/frontend/dom/dom.ts";
import { wordNodes, wordText } from "../../ui/frontend/state/edit_words.ts";
import type { Words } from "../../ui/frontend/types.ts";
import type { AttentionPair, Comparison } from "./comparison.ts";
import type { CompareElements } from "./elements.ts";
import { isPatch } from "./questions.ts";
import type { CompareState } from "./state.ts";
import type { AttentionGroupAnswer, Catalog, HeadIndex, Question, VariantField } from "./types.ts";

/** The text of a question that patches take values from. */
type DonorField = "text" | "source";
type Shown = { comparison: Comparison; attention: AttentionPair; heads: HeadIndex[] }; // heads of each side

/** Why A cannot take values from B's run; empty if it can. @param parts the titles of the parts of a variant */
export function whyNoPatch([a, b]: [Question, Question], field: DonorField, parts: Catalog["parts"]) {
  if (a.model !== b.model) return "A can take values from B only if both are the same model.";
  const differing = (Object.keys(a.variant) as VariantField[]).filter((part) => a.variant[part] !== b.variant[part]);
  if (differing.length) {
    const titles = differing.map((part) => parts[part]?.title ?? part).join(" and ");
    return `A can take values from B only if both have the same parts: set B's ${titles} to “as A”.`;
  }
  const same = field === "source" ? "text" : "source";
  if (a[field] === b[field] || a[same] !== b[same])
    return `A can take values from B only if they differ in the ${field === "source" ? "source" : "text"} alone.`;
  if (b.edits.length || b.masked_positions.length)
    return "A can take values from B only if B is unchanged: set its changes to “none”.";
  return "";
}

function headPatch({ stack, kind }: AttentionGroupAnswer, { layer, head }: HeadIndex) {
  return `${stack}.${layer}.${kind}.weighted_values[${head}]=from:B`;
}

/** @param layer that reads the token @param ours its position in A @param theirs its position in B */
export function tokenPatch(stack: string, layer: number, ours: number, theirs: number) {
  return `${stack}.${layer}.residual[${ours}]=from:B${ours === theirs ? "" : `[${theirs}]`}`;
}

const PATCH_PATTERN = /^(\w+)\.(\d+)\.(?:\w+\.weighted_values\[(\d+)\]|residual\[(\d+)\])=from:B(?:\[(\d+)\])?$/;

/**
 * A patch in the words of the buttons; its edit text if it is not of a head or a token of the text.
 * @param stack that reads the text @param tokens of B's text
 */
export function patchWords(edit: string, stack: string, tokens: readonly { text: string }[]): Words {
  const [, read, layer, head, ours, theirs = ours] = edit.match(PATCH_PATTERN) ?? [];
  if (head) return [`layer ${layer}, head ${head}`];
  const token = read === stack && tokens[Number(theirs)];
  return token ? [{ token }, ` before layer ${layer}${ours === theirs ? "" : `, at position ${ours}`}`] : [edit];
}

/** The stack that reads the text. */
const textStack = ({ stack, queries }: AttentionGroupAnswer) => (queries === "text" ? stack : "decoder");

export class Patches {
  #elements;
  #patch;
  /** The dragged value: the patch that it makes on a token of A, or on none. */
  #dragged: ((ours: number | null) => string) | null = null;
  #shown: Shown | null = null;

  /** @param patch makes or removes a patch */
  constructor(elements: CompareElements, patch: (edit: string) => void) {
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

  draw(shown: Shown, state: CompareState, field: DonorField, parts: Catalog["parts"]) {
    this.#shown = shown;
    const { comparison, attention, heads } = shown;
    const { patchHead, patchToken, patchHint, patchesMade, headTables, sideMaps, strips } = this.#elements;
    const why = whyNoPatch(state.questions, field, parts);
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
    const wordsOf = (each: string) => patchWords(each, textStack(other), comparison.tokens(1, "text"));
    updateChildren(patchesMade, ...made.map((each) => this.#createMade(each, wordsOf(each))));
    const draggable = [...headTables[1].querySelectorAll(".head-cell"), sideMaps[1]];
    for (const place of draggable) (place as HTMLElement).draggable = !why && !uneven;
    for (const chip of strips[1].querySelectorAll("button")) chip.draggable = !why;
  }

  /** @param why it is not possible */
  #drawButton(button: HTMLButtonElement, state: CompareState, why: string, edit: string, words: (Node | string)[]) {
    button.replaceChildren(...words);
    button.disabled = Boolean(why);
    button.title = why || edit;
    button.ariaPressed = String(state.choice.edits.includes(edit));
    button.onclick = () => this.#patch(edit);
  }

  /** The button that removes a patch of A. */
  #createMade(edit: string, words: Words) {
    const told = { ariaLabel: `Take back ${wordText(words)}`, title: edit };
    return createElement("button", "pill", [...wordNodes(words), " ×"], { ...told, onclick: () => this.#patch(edit) });
  }

  #drag(event: DragEvent) {
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

  #drop(event: DragEvent) {
    const makes = this.#dragged;
    if (!makes) return;
    event.preventDefault();
    this.#carry(null);
    const chip = event.target instanceof HTMLElement ? event.target.closest(".tokens button") : null;
    this.#patch(makes(chip ? placeOf(chip, "button") : null));
  }

  #carry(dragged: ((ours: number | null) => string) | null) {
    this.#dragged = dragged;
    this.#elements.root.classList.toggle("dragging", Boolean(dragged));
  }
}

/** The index of an element among its siblings of a kind. */
function placeOf(element: Element, kind: string) {
  return [...(element.parentElement?.children ?? [])].filter((each) => each.matches(kind)).indexOf(element);
}
