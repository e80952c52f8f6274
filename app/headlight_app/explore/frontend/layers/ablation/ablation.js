// Ablate all: each head off in turn, requested layer by layer until all are done or the visitor stops it.

import { formatSigned } from "../../../../ui/frontend/charts/charts.js";
import { formatPercent, inlineText, quotedToken } from "../../../../ui/frontend/dom/dom.js";
import { currentGroup } from "../../../../ui/frontend/state/head_selection.js";
import { runOf } from "../../export/shown_run.js";
import { headWords } from "../cell_table.js";
import { answerPosition, selectHeadOf } from "../layer_panel.js";
import { stepwiseMapTab } from "./stepwise_map.js";

/** @import { ExplorePage } from "../../types.js" */
/** @import { StepwiseMap } from "./stepwise_map.js" */

export default stepwiseMapTab(ablationMap);

/**
 * The change of an answer's log-probability without each head, in bits.
 * @param {ExplorePage} page @returns {StepwiseMap<"head_ablation">}
 */
function ablationMap(page) {
  const { answer, choice } = page.state;
  const { name, title, stack, kind, layers, heads } = currentGroup(page);
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
    help: "Blue: the answer is less likely without the head. Orange: more likely. Click a head to choose it.",
    read: ({ title, value }, { before }) =>
      `${title} off: ${formatSigned(value)} bits, from ${formatPercent(2 ** before)} to ${formatPercent(2 ** (before + value))}`,
    words: (meta) => ["with all of them ", quotedToken(meta), ` has ${formatPercent(2 ** meta.before)}`],
    file: "head-ablation",
    unit: "bits",
    ranked: "The largest changes",
    shown: ({ text, before }) =>
      `each ${title.toLowerCase()} head switched off alone: change of the log-probability of “${inlineText(text)}” (${formatPercent(2 ** before)} with all heads), in bits`,
    side: { ...runOf(page), attention_group: name },
  };
}
