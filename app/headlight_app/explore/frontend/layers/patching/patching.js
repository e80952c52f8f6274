// Patching: values of this run are replaced one by one by those of another text; how much of its answer is restored?

import { fillSelect, formatSigned } from "../../../../ui/frontend/charts/charts.js";
import { activeElement, inlineText, quotedToken } from "../../../../ui/frontend/dom/dom.js";
import { table } from "../../../../ui/frontend/dom/table.js";
import { currentGroup } from "../../../../ui/frontend/state/head_selection.js";
import { toggleEdits } from "../../edits/edit_actions.js";
import { editText, isPatch } from "../../edits/edit_text.js";
import { runOf } from "../../export/shown_run.js";
import { whyNoHeads } from "../ablation/steps.js";
import { stepwiseMapTab } from "../ablation/stepwise_map.js";
import { answerPosition, isCurrentHead, layerElement, selectHeadOf } from "../layer_panel.js";

/** @import { ExplorePage, PatchingRequest, TableCell, Tab } from "../../types.js" */
/** @import { StepwiseMap } from "../ablation/stepwise_map.js" */
/** @typedef {NonNullable<PatchingRequest["patch"]>} PatchKind */

const PAUSE = 600; // milliseconds without typing: an example takes up to two dozen runs of the model
const HELD =
  "Heads in between are frozen, so only the direct effect on the chosen head counts. Click a head to map the inputs of that head.";
/** @type {Record<PatchKind, { title: string, things: string, help: string }>} */
const KINDS = table({
  heads: {
    title: "a head's output",
    things: "heads",
    help: "1: the other text's answer is fully restored, 0: not at all. Click a head to patch it in this run.",
  },
  direct_heads: {
    title: "a head's output, direct path to the answer",
    things: "heads",
    help: "Later heads are frozen, so only the direct effect on the answer counts. Click a head to choose it.",
  },
  q: { title: "a head's output, direct path to the queries of", things: "heads", help: HELD },
  k: { title: "a head's output, direct path to the keys of", things: "heads", help: HELD },
  v: { title: "a head's output, direct path to the values of", things: "heads", help: HELD },
  residual: {
    title: "a token's residual stream",
    things: "tokens",
    help: "1: the other text's answer is fully restored, 0: not at all. Click a cell to patch that token before that layer in this run.",
  },
});

const map = stepwiseMapTab(patchingMap);

export default /** @type {Tab} */ ({
  ...map,
  draw(page, fresh) {
    drawControls(page);
    map.draw(page, fresh);
  },
});

/** The controls for the kind of patch, and for the other text. @param {ExplorePage} page */
function drawControls(page) {
  const { catalogue, choice } = page.state;
  const names = /** @type {PatchKind[]} */ (Object.keys(KINDS));
  const kinds = names.map((name) => /** @type {[string, string]} */ ([name, patchTitle(page, name)]));
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
  drawExample(page);
  typed.onchange = () => page.change({ patch_from: typed.value });
  if (activeElement(typed) !== typed) typed.value = choice.patch_from;
  const offered = [["", "…"], ...(catalogue.images ?? []).map((name) => [name, name])];
  fillSelect(images, /** @type {[string, string][]} */ (offered), choice.patch_from, (name) =>
    page.change({ patch_from: name }),
  );
}

/**
 * Offers an example to patch from while there is no other text: the current text with one word replaced.
 * @param {ExplorePage} page
 */
function drawExample(page) {
  const { catalogue, choice } = page.state;
  const button = layerElement(page, "patching-example", HTMLButtonElement);
  const asked = { query: answerPosition(page), token: choice.target_token };
  const isWanted = !choice.patch_from && !catalogue.images && !whyNoHeads(page);
  const text = (isWanted && page.server.get("patching_example", asked, PAUSE)?.meta.text) || "";
  button.hidden = !text;
  button.textContent = `Try: “${inlineText(text)}”`;
  button.onclick = () => page.change({ patch_from: text });
}

/** Whether patches of a kind go into the chosen head instead of the answer. @param {PatchKind} patch */
function isHeard(patch) {
  return patch === "q" || patch === "k" || patch === "v";
}

/** The kind of patch in words. @param {ExplorePage} page @param {PatchKind} patch */
function patchTitle(page, patch) {
  const { layer, head } = page.state.choice;
  const which = currentGroup(page).kind === "cross" ? " of self-attention" : "";
  return isHeard(patch) ? `${KINDS[patch].title} layer ${layer}, head ${head}${which}` : KINDS[patch].title;
}

/**
 * The share of the logit difference between both texts' answers that each patch restores. The map uses the run without
 * patches, so patches made by clicks do not change it.
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
      receiver: isHeard(choice.patch) ? `${choice.layer}.${choice.head}` : "",
    },
    things,
    place: (layer, first) => ({ layer, first }),
    layers: isHeard(choice.patch) ? Math.max(1, choice.layer) : layers, // the server explains layer 0
    columns,
    cell(layer, column) {
      const title = `Layer ${layer}, ${ofTokens ? `token ${columns[column]}` : `head ${column}`}`;
      const made = choice.edits.includes(edit(layer, column));
      if (!isEdit(choice.patch)) return { title, chosen: isCurrentHead(page, layer, column) };
      return { title: made ? `${title} (patched)` : title, chosen: made };
    },
    pick: (cell) => pickCell(page, cell, edit(cell.layer, cell.head)),
    help,
    read: ({ title, value }, { before, after }) =>
      `${title}: restores ${formatSigned(value)} of the difference, the logits are ${formatSigned(before + value * (after - before))} apart`,
    words: ({ answer: here, other_answer: there, before, after }) => [
      "the logit of ",
      quotedToken(there),
      " minus the logit of ",
      quotedToken(here),
      ` is ${formatSigned(before)} here, ${formatSigned(after)} in the other text`,
    ],
    file: isHeard(choice.patch) ? `patching-into-${choice.patch}` : `patching-${choice.patch.replace("_", "-")}`,
    unit: "share of the difference",
    ranked: "The largest shares",
    shown: ({ answer: here, other_answer: there }) =>
      `${patchTitle(page, choice.patch)} from the run of “${inlineText(other)}”: restored share of the difference between the logits of “${inlineText(there.text)}” and “${inlineText(here.text)}”`,
    side: { ...runOf(page), question, attention_group: `${stack}.self` },
  };
}

/** @param {number} count */
function headNames(count) {
  return Array.from({ length: count }, (_, head) => String(head));
}

/** Whether a patch of the kind is an edit; a direct path is not. @param {PatchKind} patch */
function isEdit(patch) {
  return patch === "heads" || patch === "residual";
}

/**
 * Makes or removes the patch of a cell; for a direct path, selects the head instead.
 * @param {ExplorePage} page @param {TableCell} cell @param {string} edit
 */
function pickCell(page, { layer, head }, edit) {
  if (isEdit(page.state.choice.patch)) toggleEdits(page, [edit]);
  else selectHeadOf(page, layer, head);
}
