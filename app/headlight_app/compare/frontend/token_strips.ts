// The tokens of both sides as chips: dashed without a partner, shaded by the attention of the current query.

import { createChip, createElement, describeChip, listenToChip, updateChildren } from "../../ui/frontend/dom/dom.ts";
import type { AttentionPair, Comparison } from "./comparison.ts";
import type { Cell, HeadIndex, QueryKey, Token } from "./types.ts";

interface TokenStripActions {
  point: (cell: Cell | null) => void;
  choose: (cell: Cell) => void;
}

const MANY = 60; // tokens; with more, chips are small

export class TokenStrips {
  #strips;
  #actions;

  /** @param strips of both sides */
  constructor(strips: HTMLElement[], actions: TokenStripActions) {
    this.#strips = strips;
    this.#actions = actions;
  }

  /** @param query a position in A, or -1 */
  draw(comparison: Comparison, query: number) {
    const focusable = comparison.queryPositions(query);
    this.#strips.forEach((strip, side) => {
      const tokens = comparison.tokens(side, "text");
      strip.classList.toggle("many", tokens.length > MANY);
      const letter = createElement("b", "letter", "AB"[side], { ariaHidden: "true" });
      const chips = tokens.map((token, position) => {
        const alone = comparison.partner(side, "text", position) === null;
        return this.#createChip(token, { side, query: position, key: null }, position === focusable[side], alone);
      });
      updateChildren(strip, letter, ...chips);
    });
  }

  /** @param heads of each side @param positions on each side */
  shade(comparison: Comparison, { groups }: AttentionPair, heads: HeadIndex[], positions: QueryKey[]) {
    this.#strips.forEach((strip, side) => {
      const group = groups[side];
      const { query } = positions[side];
      const weight = comparison.weights(side, group, heads[side]);
      strip.querySelectorAll("button").forEach((chip, position) => {
        const share = query === null || group.keys !== "text" ? 0 : weight(query, position);
        chip.style.setProperty("--shade", share > 0 ? `${Math.round(Math.sqrt(share) * 100)}%` : "0%");
        chip.classList.toggle("query", position === query && group.queries === "text");
      });
    });
  }

  /** @param alone whether the other side has no such token */
  #createChip(token: Token, cell: Cell, focusable: boolean, alone: boolean) {
    const chip = createChip(token, focusable);
    chip.classList.toggle("alone", alone);
    describeChip(chip, token, alone ? "The other side has no such token" : "Click to compare both sides at this token");
    listenToChip(chip, { read: () => this.#actions.point(cell), left: () => this.#actions.point(null) });
    chip.onclick = () => this.#actions.choose(cell);
    return chip;
  }
}
