// All heads of both sides, the distance of each from its partner, and the heads that differ most.

import { colour, paintCodes } from "../../ui/frontend/charts/colours.js";
import { createElement, drawChoices, updateChildren } from "../../ui/frontend/dom/dom.js";
import { find } from "../../ui/frontend/dom/elements.js";
import { HeadTable, labelCell } from "../../ui/frontend/head_table.js";
import { isOff } from "../../ui/frontend/state/head_ablation.js";
import { distanceCodes, rankedHeads } from "./comparison.js";

/** @import { AttentionPair, Comparison } from "./comparison.js" */
/** @import { CompareElements } from "./elements.js" */
/** @import { CompareState } from "./state.js" */
/** @import { HeadIndex } from "./types.d.ts" */

/**
 * The actions of the visitor; side null means both.
 * @typedef {object} HeadTableActions
 * @property {(side: number | null, head: HeadIndex) => void} chooseHead
 * @property {(name: string) => void} chooseAttention
 */

const SIDES = [0, 1];
const RANKED = 6;
const ALIKE = 1e-5; // smaller distances are rounding errors

export class HeadTables {
  #elements;
  #actions;
  #sides;
  #distances;
  /** The content of each side's thumbnails. @type {{ comparison: Comparison, name: string }[]} */
  #painted = [];

  /** @param {CompareElements} elements @param {HeadTableActions} actions */
  constructor(elements, actions) {
    this.#elements = elements;
    this.#actions = actions;
    this.#sides = SIDES.map(
      (side) => new HeadTable(elements.headTables[side], (layer, head) => actions.chooseHead(side, { layer, head })),
    );
    this.#distances = new HeadTable(elements.distances, (layer, head) => actions.chooseHead(null, { layer, head }));
  }

  /** @param {Comparison} comparison @param {CompareState} state */
  draw(comparison, state) {
    const attention = comparison.attention(state.choice.attention);
    const { attentions, headsHint } = this.#elements;
    attentions.hidden = comparison.attentions.length < 2;
    if (!attention) {
      headsHint.textContent = "These two models have no attention in common to compare.";
      return;
    }
    const options = comparison.attentions.map(
      ({ left_name, title }) => /** @type {[string, string]} */ ([left_name, title]),
    );
    drawChoices(attentions, "attention", options, attention.left_name, this.#actions.chooseAttention);
    for (const side of SIDES) this.#drawSide(comparison, state, attention, side);
    this.#drawDistances(attention, state.headOf(0, attention.groups[0]));
    this.#drawRanked(attention, state.headOf(0, attention.groups[0]));
    const [layers, heads] = sharedHeads(attention);
    const same = attention.groups.every((group) => group.layers === layers && group.heads === heads);
    headsHint.textContent = same ? "" : `Only the ${layers} × ${heads} heads that both have are compared.`;
  }

  /**
   * @param {Comparison} comparison @param {CompareState} state @param {AttentionPair} attention @param {number} side
   */
  #drawSide(comparison, state, attention, side) {
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

  /** @param {AttentionPair} attention @param {HeadIndex} chosen */
  #drawDistances({ left_name: name, distance }, chosen) {
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

  /** @param {AttentionPair} attention @param {HeadIndex} chosen */
  #drawRanked({ distance }, chosen) {
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

/** Formats a distance; small ones, such as to a quantised model, keep two digits. @param {number} distance */
function formatDistance(distance) {
  return distance < 0.1 ? distance.toPrecision(2) : distance.toFixed(3);
}

/** The numbers of layers and heads that both sides have. @param {Pick<AttentionPair, "distance">} attention */
function sharedHeads({ distance }) {
  return [distance.length, distance[0]?.length || 0];
}
