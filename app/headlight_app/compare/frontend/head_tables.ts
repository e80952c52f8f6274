// All heads of both sides, the distance of each from its partner, and the heads that differ most.

import { colour, paintCodes } from "../../ui/frontend/charts/colours.ts";
import { createElement, drawChoices, updateChildren } from "../../ui/frontend/dom/dom.ts";
import { find } from "../../ui/frontend/dom/elements.ts";
import { HeadTable, labelCell } from "../../ui/frontend/head_table.ts";
import { isOff } from "../../ui/frontend/state/head_ablation.ts";
import type { AttentionPair, Comparison } from "./comparison.ts";
import { distanceCodes, rankedHeads } from "./comparison.ts";
import type { CompareElements } from "./elements.ts";
import type { CompareState } from "./state.ts";
import type { HeadIndex } from "./types.ts";

/** The actions of the visitor; side null means both. */
interface HeadTableActions {
  chooseHead: (side: number | null, head: HeadIndex) => void;
  chooseAttention: (name: string) => void;
}

const SIDES = [0, 1];
const RANKED = 6;
const ALIKE = 1e-5; // smaller distances are rounding errors

export class HeadTables {
  #elements;
  #actions;
  #sides;
  #distances;
  /** The content of each side's thumbnails. */
  #painted: { comparison: Comparison; name: string }[] = [];

  constructor(elements: CompareElements, actions: HeadTableActions) {
    this.#elements = elements;
    this.#actions = actions;
    this.#sides = SIDES.map(
      (side) => new HeadTable(elements.headTables[side], (layer, head) => actions.chooseHead(side, { layer, head })),
    );
    this.#distances = new HeadTable(elements.distances, (layer, head) => actions.chooseHead(null, { layer, head }));
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
    this.#drawDistances(attention, state.headOf(0, attention.groups[0]));
    this.#drawRanked(attention, state.headOf(0, attention.groups[0]));
    const [layers, heads] = sharedHeads(attention);
    const same = attention.groups.every((group) => group.layers === layers && group.heads === heads);
    headsHint.textContent = same ? "" : `Only the ${layers} × ${heads} heads that both have are compared.`;
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

  #drawDistances({ left_name: name, distance }: AttentionPair, chosen: HeadIndex) {
    const { codes, high } = distanceCodes(distance);
    const [layers, heads] = sharedHeads({ distance });
    this.#distances.layout({ name, layers, heads });
    this.#distances.forEach((cell, layer, head) => {
      const number = distance[layer][head];
      const code = codes[layer * heads + head];
      cell.style.background = code ? `rgb(${colour((code - 1) / 254).join(" ")})` : "none";
      const words = number === null ? "nothing to compare" : formatDistance(number);
      labelCell(cell, `Layer ${layer}, head ${head}: ${words}`, layer === chosen.layer && head === chosen.head);
    });
    const isAlike = !rankedHeads(distance, ALIKE).length;
    this.#elements.largestDistance.textContent = isAlike ? "0: alike everywhere" : high.toFixed(2);
  }

  #drawRanked({ distance }: AttentionPair, chosen: HeadIndex) {
    const ranked = rankedHeads(distance, ALIKE).slice(0, RANKED);
    const buttons = ranked.map(({ layer, head, distance: number }) => {
      const content = [`layer ${layer}, head ${head} `, createElement("i", "", formatDistance(number))];
      const ariaPressed = String(layer === chosen.layer && head === chosen.head);
      const onclick = () => this.#actions.chooseHead(null, { layer, head });
      return createElement("button", "pill", content, { ariaPressed, onclick });
    });
    const words = ranked.length ? "They differ most in" : "No head differs between the two sides.";
    updateChildren(this.#elements.ranked, createElement("span", "quiet", words), ...buttons);
  }
}

/** Formats a distance; small ones, such as to a quantised model, keep two digits. */
function formatDistance(distance: number) {
  return distance < 0.1 ? distance.toPrecision(2) : distance.toFixed(3);
}

/** The numbers of layers and heads that both sides have. */
function sharedHeads({ distance }: Pick<AttentionPair, "distance">) {
  return [distance.length, distance[0]?.length || 0];
}
