// Patching: one value of another text's run after the other in the place of this one's, and how much of its answer returns.

import { fillSelect, formatSigned } from "../../../../ui/frontend/charts/charts.js";
import { activeElement, inlineText, quotedToken } from "../../../../ui/frontend/dom/dom.js";
import { currentGroup } from "../../../../ui/frontend/state/head_selection.js";
import { toggleEdits } from "../../edits/edit_actions.js";
import { editText, isPatch } from "../../edits/edit_text.js";
import { runOf } from "../../export/shown_run.js";
import { stepwiseMapTab } from "../ablation/stepwise_map.js";
import { answerPosition, isCurrentHead, layerElement, selectHeadOf } from "../layer_panel.js";

/** @import { ExplorePage, PatchingRequest, TableCell, Tab } from "../../types.js" */
/** @import { StepwiseMap } from "../ablation/stepwise_map.js" */
/** @typedef {NonNullable<PatchingRequest["patch"]>} PatchKind */

/** @type {Record<PatchKind, { title: string, things: string, help: string }>} */
const KINDS = {
  heads: {
    title: "a head's output",
    things: "heads",
    help: "1: all of the other text's answer returns, 0: none. Click a head to patch it in this run.",
  },
  direct_heads: {
    title: "a head's output, direct path to the answer",
    things: "heads",
    help: "Later heads are held as they are here, so only what a head gives the answer past them counts. Click a head to choose it.",
  },
  residual: {
    title: "a token's residual stream",
    things: "tokens",
    help: "1: all of the other text's answer returns, 0: none. Click a cell to patch that token before that layer in this run.",
  },
};

const map = stepwiseMapTab(patchingMap);

export default /** @type {Tab} */ ({
  ...map,
  draw(page, fresh) {
    drawControls(page);
    map.draw(page, fresh);
  },
});

/** What is put in place, and where it is from. @param {ExplorePage} page */
function drawControls(page) {
  const { catalogue, choice } = page.state;
  const kinds = Object.entries(KINDS).map(([name, { title }]) => /** @type {[string, string]} */ ([name, title]));
  fillSelect(layerElement(page, "patching-kind", HTMLSelectElement), kinds, choice.patch, (patch) =>
    page.change({ patch: /** @type {PatchKind} */ (patch) }),
  );
  const [typed, images] = [
    layerElement(page, "patching-other", HTMLInputElement),
    layerElement(page, "patching-other-image", HTMLSelectElement),
  ];
  for (const [place, hidden] of /** @type {const} */ ([
    [typed, catalogue.images !== null],
    [images, catalogue.images === null],
  ]))
    if (place.parentElement) place.parentElement.hidden = hidden;
  typed.onchange = () => page.change({ patch_from: typed.value });
  if (activeElement(typed) !== typed) typed.value = choice.patch_from;
  const names = [["", "…"], ...(catalogue.images ?? []).map((name) => [name, name])];
  fillSelect(images, /** @type {[string, string][]} */ (names), choice.patch_from, (name) =>
    page.change({ patch_from: name }),
  );
}

/**
 * The share of the logit difference between both texts' answers that each patch restores. The map is of the run without
 * patches, so those that a click makes leave it as it is.
 * @param {ExplorePage} page @returns {StepwiseMap<"patching">}
 */
function patchingMap(page) {
  const { answer, choice } = page.state;
  const { stack, layers, heads } = currentGroup(page);
  const question = {
    ...answer.question,
    edits: answer.question.edits.filter((edit) => !isPatch(edit)),
    patch_from: "",
  };
  const tokens = (stack === "encoder" && answer.source_tokens) || answer.tokens;
  const { things, help } = KINDS[choice.patch];
  const ofTokens = choice.patch === "residual";
  const columns = ofTokens ? tokens.map(({ text }, place) => `${place} ${inlineText(text)}`) : headNames(heads);
  const edit = (/** @type {number} */ layer, /** @type {number} */ column) =>
    editText(`${stack}.${layer}.${ofTokens ? "residual" : "self.weighted_values"}`, [column], "from:B");
  const other = choice.patch_from;
  return {
    name: "patching",
    button: "patch",
    start: "Patch each in turn",
    route: "patching",
    asked: {
      question,
      query: answerPosition(page),
      token: choice.target_token,
      patch: choice.patch,
      other_text: other,
      stack,
    },
    things,
    place: (layer, first) => ({ layer, first }),
    layers,
    columns,
    cell(layer, column) {
      const title = `Layer ${layer}, ${ofTokens ? `token ${columns[column]}` : `head ${column}`}`;
      const made = choice.edits.includes(edit(layer, column));
      if (choice.patch === "direct_heads") return { title, chosen: isCurrentHead(page, layer, column) };
      return { title: made ? `${title} (patched)` : title, chosen: made };
    },
    pick: (cell) => pickCell(page, cell, edit(cell.layer, cell.head)),
    help,
    read: ({ title, value }, { before, after }) =>
      `${title}: ${formatSigned(value)} of the difference returns, the logits are ${formatSigned(before + value * (after - before))} apart`,
    words: ({ answer: here, other_answer: there, before, after }) => [
      "the logit of ",
      quotedToken(there),
      " less that of ",
      quotedToken(here),
      ` is ${formatSigned(before)} here, ${formatSigned(after)} in the other text`,
    ],
    file: `patching-${choice.patch.replace("_", "-")}`,
    unit: "share of the difference",
    ranked: "The largest shares",
    shown: ({ answer: here, other_answer: there }) =>
      `${KINDS[choice.patch].title} from the run of “${inlineText(other)}”: share of the difference between the logits of “${inlineText(there.text)}” and “${inlineText(here.text)}” that returns`,
    side: { ...runOf(page), question, attention_group: `${stack}.self` },
  };
}

/** @param {number} count */
function headNames(count) {
  return Array.from({ length: count }, (_, head) => String(head));
}

/** Makes the patch of a cell, or takes it back; a direct path is no edit, so its head is chosen. @param {ExplorePage} page @param {TableCell} cell @param {string} edit */
function pickCell(page, { layer, head }, edit) {
  if (page.state.choice.patch === "direct_heads") selectHeadOf(page, layer, head);
  else toggleEdits(page, [edit]);
}
