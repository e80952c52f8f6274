// All heads of both sides, and the views of their distances.

import { paintCodes } from "../../ui/frontend/charts/colours.ts";
import { activeElement, createElement, drawChoices } from "../../ui/frontend/dom/dom.ts";
import { find } from "../../ui/frontend/dom/elements.ts";
import { GRID_STEPS } from "../../ui/frontend/dom/keyboard.ts";
import { HeadTable, labelCell } from "../../ui/frontend/head_table.ts";
import { isOff } from "../../ui/frontend/state/head_ablation.ts";
import { RowsPlace } from "../../ui/frontend/views/rows.ts";
import type { Picks } from "../../ui/frontend/views/types.ts";
import type { AttentionPair, Comparison } from "./comparison.ts";
import type { CompareElements } from "./elements.ts";
import type { CompareState } from "./state.ts";
import type { HeadIndex } from "./types.ts";

/** The actions of the visitor; side null means both. */
interface HeadTableActions {
  chooseHead: (side: number | null, head: HeadIndex) => void;
  chooseAttention: (name: string) => void;
}

const SIDES = [0, 1];

export class HeadTables {
  #elements;
  #actions;
  #sides;
  #distances;
  #ranked;
  #picks: Picks;
  /** The head that both sides show, or A's if they show different ones. */
  #chosen: HeadIndex = { layer: 0, head: 0 };
  /** The content of each side's thumbnails. */
  #painted: { comparison: Comparison; name: string }[] = [];

  constructor(elements: CompareElements, actions: HeadTableActions) {
    this.#elements = elements;
    this.#actions = actions;
    this.#sides = SIDES.map(
      (side) => new HeadTable(elements.headTables[side], (layer, head) => actions.chooseHead(side, { layer, head })),
    );
    this.#picks = {
      choose: ({ layer, head }) => actions.chooseHead(null, { layer: Number(layer), head: Number(head) }),
      isChosen: ({ layer, head }) => layer === this.#chosen.layer && head === this.#chosen.head,
    };
    this.#distances = new RowsPlace(elements.distances);
    this.#ranked = new RowsPlace(elements.ranked);
    elements.distances.onkeydown = ({ key }) => {
      if (GRID_STEPS[key]) activeElement(elements.distances)?.click(); // as in the tables beside it
    };
  }

  draw(comparison: Comparison, state: CompareState) {
    const attention = comparison.attention(state.choice.attention);
    const { attentions, headsHint } = this.#elements;
    attentions.hidden = comparison.attentions.length < 2;
    if (!attention) {
      headsHint.textContent = "These two models have no attention in common to compare.";
      return;
    }
    const options = comparison.attentions.map(({ left_name, title }) => [left_name, title] as [string, string]);
    drawChoices(attentions, "attention", options, attention.left_name, this.#actions.chooseAttention);
    for (const side of SIDES) this.#drawSide(comparison, state, attention, side);
    this.#chosen = state.headOf(0, attention.groups[0]);
    const [distances, ranked] = attention.rows;
    this.#distances.draw([distances], this.#picks, this.#chosen);
    this.#ranked.draw([ranked], this.#picks, this.#chosen);
    const [one, other] = attention.groups;
    const same = one.layers === other.layers && one.heads === other.heads;
    const shared = [Math.min(one.layers, other.layers), Math.min(one.heads, other.heads)];
    headsHint.textContent = same ? "" : `Only the ${shared.join(" × ")} heads that both have are compared.`;
  }

  #drawSide(comparison: Comparison, state: CompareState, attention: AttentionPair, side: number) {
    const group = attention.groups[side];
    const chosen = state.headOf(side, group);
    const { edits } = comparison.questions[side];
    const painted = this.#painted[side];
    const outdated = painted?.comparison !== comparison || painted.name !== group.name;
    this.#sides[side].layout(group, () => [createElement("canvas")]);
    this.#sides[side].forEach((cell, layer, head) => {
      if (outdated)
        paintCodes(
          find(cell, "canvas", HTMLCanvasElement),
          comparison.codes(group, { layer, head }),
          ...group.pooled_shape,
        );
      const off = isOff(edits, group, layer, head);
      cell.classList.toggle("off", off);
      labelCell(
        cell,
        `${"AB"[side]}: layer ${layer}, head ${head}${off ? ", off" : ""}`,
        layer === chosen.layer && head === chosen.head,
      );
    });
    this.#painted[side] = { comparison, name: group.name };
  }
}
