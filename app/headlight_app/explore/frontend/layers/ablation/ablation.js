// Ablate all: each head off in turn, requested layer by layer until all are done or the visitor stops it.

import { answerNumber, areScores } from "../../../../ui/frontend/charts/answer_numbers.js";
import { formatSigned } from "../../../../ui/frontend/charts/charts.js";
import { inlineText, quotedToken } from "../../../../ui/frontend/dom/dom.js";
import { currentGroup } from "../../../../ui/frontend/state/head_selection.js";
import { runOf } from "../../export/shown_run.js";
import { headWords } from "../cell_table.js";
import { answerPosition, selectHeadOf } from "../layer_panel.js";
import { stepwiseMapTab } from "./stepwise_map.js";

/** @import { ExplorePage, HeadAblationAnswer } from "../../types.js" */
/** @import { StepwiseMap } from "./stepwise_map.js" */

export default stepwiseMapTab(ablationMap);

/**
 * The change of an answer's log-probability without each head, in bits, or of its score.
 * @param {ExplorePage} page @returns {StepwiseMap<"head_ablation">}
 */
function ablationMap(page) {
  const { answer, choice } = page.state;
  const { name, title, stack, kind, layers, heads } = currentGroup(page);
  const scores = areScores(answer.predictions[0] ?? {});
  const asked = { question: answer.question, query: answerPosition(page), token: choice.target_token };
  return {
    name: "ablation",
    button: "ablate",
    start: "Switch off each head in turn",
    route: "head_ablation",
    asked: { ...asked, attention: `${stack}.0.${kind}` },
    things: "heads",
    place: (layer, first) => ({ attention: `${stack}.${layer}.${kind}`, first }),
    layers,
    columns: Array.from({ length: heads }, (_, head) => String(head)),
    cell: headWords(page),
    pick: ({ layer, head }) => selectHeadOf(page, layer, head),
    help: `Blue: the answer is ${scores ? "lower" : "less likely"} without the head. Orange: ${scores ? "higher" : "more likely"}. Click a head to choose it.`,
    read: ({ title, value }, meta) =>
      `${title} off: ${formatSigned(value)}${areScores(meta) ? "" : " bits"}, from ${valueText(meta, 0)} to ${valueText(meta, value)}`,
    words: (meta) => ["with all of them ", quotedToken(meta), ` has ${valueText(meta, 0)}`],
    file: "head-ablation",
    unit: scores ? "score" : "bits",
    ranked: "The largest changes",
    shown: (meta) =>
      `each ${title.toLowerCase()} head switched off alone: change of the ${areScores(meta) ? "score" : "log-probability"} of “${inlineText(meta.text)}” (${valueText(meta, 0)} with all heads)${areScores(meta) ? "" : ", in bits"}`,
    side: { ...runOf(page), attention_group: name },
  };
}

/** A score or a probability after a change. @param {HeadAblationAnswer} meta @param {number} change */
function valueText(meta, change) {
  const after = meta.before + change;
  return answerNumber(meta, areScores(meta) ? after : 2 ** after);
}
