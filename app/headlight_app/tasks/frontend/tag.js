// Tag: each token with its label, in the colour of the label's entity type.

import { answerNumber } from "../../ui/frontend/charts/answer_numbers.js";
import { HEAD_COLOURS } from "../../ui/frontend/charts/colours.js";
import {
  createChip,
  createElement,
  largestShares,
  listenToChip,
  quotedToken,
  updateChildren,
} from "../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../ui/frontend/dom/elements.js";
import { currentGroup } from "../../ui/frontend/state/head_selection.js";
import { remembered } from "../../ui/frontend/state/memory.js";
import { chooseQuery, setHover } from "../../ui/frontend/state/token_selection.js";
import { alignmentWeights } from "./alignment_weights.js";
import { allLabels, exportedTags, NONE, tagOf } from "./export/labels.js";

/** @import { ExplorePage, TokenLabelsAnswer } from "./types.js" */

const NOTHING = "O"; // the label of tokens outside of entities, as in CoNLL 2003
const NAME_KINDS = new Map([
  ["PER", "person"],
  ["LOC", "place"],
  ["ORG", "organization"],
  ["MISC", "other name"],
]); // the short labels of CoNLL 2003 in words

const memory = remembered((/** @type {ExplorePage} */ _) => ({
  drawn: "",
  hovered: /** @type {number | null} */ (null),
}));

/** @param {ExplorePage} page @param {string} name */
const part = (page, name) => findByTestId(page.view.elements.root, name);

export default {
  /** @param {ExplorePage} page */
  draw(page) {
    const found = page.server.get("token_labels", {});
    if (!found) return;
    const [list, legend] = [part(page, "tagged"), part(page, "tag-legend")];
    if (found.meta.error) return list.replaceChildren(createElement("p", "quiet", found.meta.error));
    const { tokens } = page.state.answer;
    const drawn = JSON.stringify([tokens, found.meta]);
    if (memory(page).drawn !== drawn) {
      const kinds = labelKinds(found.meta.names);
      const shown = tokens.flatMap((token, place) => (token.special ? [] : [place]));
      updateChildren(list, ...shown.map((place, index) => createTagged(page, found.meta, kinds, place, index === 0)));
      updateChildren(legend, ...createLegend(kinds));
      memory(page).drawn = drawn;
    }
    mark(page);
  },

  /** @param {ExplorePage} page */
  markPointer: mark,

  /** @param {ExplorePage} page */
  async exported(page) {
    const { tokens } = page.state.answer;
    const meta = await allLabels(page);
    const kinds = labelKinds(meta.names);
    const colours = (/** @type {string} */ label) => labelColour(kinds, label);
    return exportedTags({ tokens, meta, kinds, colour: colours });
  },
};

/** The entity type of a label: PER for B-PER and I-PER. @param {string} label */
function labelKind(label) {
  return label.replace(/^[BIESLU]-/, "");
}

/** The entity types of labels, without repetition; O has none. @param {string[]} names */
export function labelKinds(names) {
  return [...new Set(names.map(labelKind))].filter((kind) => kind !== NOTHING);
}

/** An entity type, with its meaning in words if it is known. @param {string} kind */
export function legendText(kind) {
  return NAME_KINDS.has(kind) ? `${kind}: ${NAME_KINDS.get(kind)}` : kind;
}

/** @param {string[]} kinds @param {string} label */
function labelColour(kinds, label) {
  const place = kinds.indexOf(labelKind(label));
  return place < 0 ? "" : HEAD_COLOURS[place % HEAD_COLOURS.length];
}

/** @param {ExplorePage} page @param {TokenLabelsAnswer} meta @param {string[]} kinds @param {number} place @param {boolean} first */
function createTagged(page, meta, kinds, place, first) {
  const { label, note } = tagOf(meta, place);
  const chip = createChip(page.state.answer.tokens[place], first);
  const colour = labelColour(kinds, label);
  chip.dataset.position = String(place);
  chip.dataset.label = label;
  if (colour) {
    chip.classList.add("labelled");
    chip.style.setProperty("--tint", colour);
  }
  const parts = [createElement("b", "", label || NONE), createElement("small", "", note)];
  const output = createElement("span", "output", parts);
  chip.append(output);
  chip.onclick = () => chooseQuery(page, place);
  const point = (/** @type {number | null} */ query) => () => {
    memory(page).hovered = query;
    if (currentGroup(page)) setHover(page, query === null ? null : { query, key: null });
    mark(page);
  };
  listenToChip(chip, { read: point(place), left: point(null) });
  return chip;
}

/** @param {string[]} kinds */
function createLegend(kinds) {
  return kinds.map((kind) => {
    const entry = createElement("span", "kind", legendText(kind));
    entry.style.setProperty("--tint", labelColour(kinds, kind));
    return entry;
  });
}

/** Marks the active token, and describes its labels and where the shown heads look. @param {ExplorePage} page */
function mark(page) {
  const { pointer, choice } = page.state;
  const place = memory(page).hovered ?? pointer?.query ?? choice.query;
  const list = part(page, "tagged");
  for (const chip of /** @type {Iterable<HTMLElement>} */ (list.children))
    chip.classList.toggle("query", Number(chip.dataset.position) === place);
  const meta = page.server.get("token_labels", {})?.meta;
  part(page, "tag-reading").replaceChildren(
    ...(meta?.labels?.[place]
      ? reading(page, place, meta)
      : [createElement("span", "quiet", "Point at a token to see its labels and where it looked.")]),
  );
}

/** @param {ExplorePage} page @param {number} place @param {TokenLabelsAnswer} meta */
function reading(page, place, meta) {
  const { tokens, attention_groups } = page.state.answer;
  const shares = meta.labels[place].map(({ text, after }) => `${text} ${answerNumber(meta, after)}`).join(", ");
  const weights = attention_groups.length ? alignmentWeights(page, attention_groups[0].name) : null;
  const looked = weights
    ? largestShares(
        tokens.map((_, key) => weights.at(place, key)),
        tokens,
        `. In ${weights.title} it looked at `,
        -1,
      )
    : [];
  return [quotedToken(tokens[place]), ` is ${shares}`, ...looked, "."];
}
