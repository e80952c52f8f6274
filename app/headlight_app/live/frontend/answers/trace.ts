// All heads as byte codes, tokens, predictions and notes: the answer after each letter.

import type { TraceAnswer, TraceRequest } from "../../../explore/frontend/contract.ts";
import type { AttentionGroupAnswer } from "../../../ui/frontend/contract.ts";
import { codesOf, headOf, type Matrix, pooledSide } from "./codes.ts";
import { type Intervention, matches, parseEdit } from "./edits/syntax.ts";
import { headMetrics } from "./metrics.ts";
import { differencesOf, notesOf } from "./notes.ts";
import { predictions } from "./predictions.ts";
import type { Run, Runs } from "./runs.ts";
import { sentenceNumbers, shownTokens } from "./text.ts";
import type { GroupFacts, Model, ModelFacts, Reply } from "./types.ts";

type Head = [layer: number, head: number];

export function answerTrace(runs: Runs, request: TraceRequest): Reply<TraceAnswer> {
  const start = performance.now();
  const { query = -1 } = request;
  const { facts, tokenizer } = runs.model;
  const run = runs.of(request.question);
  const { groups, codes } = groupAnswers(runs, run);
  const found = predictions(runs, run, query);
  const meta: TraceAnswer = {
    tokens: shownTokens(run.tokens, tokenizer),
    source_tokens: null,
    maskable: tokenizer.maskId !== null && facts.task.fills_masks,
    context: facts.context,
    patches: null,
    sound: null,
    attention_groups: groups,
    predictions: found,
    changed: run.isChanged,
    differences: differencesOf(run, facts),
    no_prediction_reason: found.length ? "" : facts.task.no_prediction || facts.sentences.not_finite,
    notes: notesOf(runs, run),
    question: run.question,
    query,
    milliseconds: performance.now() - start,
    made_text: "",
  };
  return { meta, numbers: joined(codes) };
}

/** The groups, and the codes of their heads; those of faded heads, as trained, follow. */
function groupAnswers(runs: Runs, run: Run): { groups: AttentionGroupAnswer[]; codes: Uint8Array[] } {
  const { facts } = runs.model;
  const codes: Uint8Array[] = [];
  const offset = () => codes.reduce((sum, each) => sum + each.length, 0);
  const groups = facts.groups.map((group) => {
    const answer = groupAnswer(group, run, runs.model, offset());
    for (let layer = 0; layer < group.layers; layer++) codes.push(...layerCodes(group, run, layer, facts));
    return answer;
  });
  const faded = groups.map((answer, place) => {
    const heads = ordered(Object.values(answer.ablations).flat() as Head[]);
    const from = offset();
    if (!heads.length) return answer;
    const trained = runs.asTrained(run);
    for (const [layer, head] of heads) codes.push(headCodes(facts.groups[place], trained, layer, head, facts));
    return { ...answer, faded: heads, faded_offset: from };
  });
  return { groups: faded, codes };
}

function groupAnswer(group: GroupFacts, run: Run, model: Model, offset: number): AttentionGroupAnswer {
  const { facts, tokenizer } = model;
  const { length } = run.tokens;
  const side = pooledSide(length, facts.max_thumbnail_side);
  const edits = run.question.edits.map((edit): [string, Head[]] => [edit, ablated(parseEdit(edit, facts), group)]);
  const isCheap = group.layers * group.heads * length ** 2 <= facts.limits.metric_cells;
  return {
    ...group,
    rows: length,
    columns: length,
    pooled_shape: [side, side],
    offset,
    ablations: Object.fromEntries(edits),
    metrics: isCheap ? groupMetrics(group, run, facts) : null,
    has_segments: Math.max(...sentenceNumbers(run.tokens, tokenizer.endId)) > 0,
    pending: false,
    faded: [],
    faded_offset: 0,
    shows: "",
  };
}

/** Every metric of every head of a group, layer by layer. */
export function groupMetrics(group: GroupFacts, { tokens, trace }: Run, facts: ModelFacts) {
  const heads: (Matrix & { mask: Matrix })[] = [];
  for (let layer = 0; layer < group.layers; layer++)
    for (let head = 0; head < group.heads; head++)
      heads.push({
        ...headOf(trace.value(`${pathOf(group, layer)}.weights`), head),
        mask: headOf(trace.value(`${pathOf(group, layer)}.mask`), head),
      });
  return headMetrics(facts.metrics, heads, tokens);
}

/** The path of a layer's attention, such as `decoder.3.self`. */
export function pathOf({ stack, kind }: GroupFacts, layer: number): string {
  return `${stack}.${layer}.${kind}`;
}

/** The codes of the heads of a layer. */
function layerCodes(group: GroupFacts, run: Run, layer: number, facts: ModelFacts): Uint8Array[] {
  return Array.from({ length: group.heads }, (_, head) => headCodes(group, run, layer, head, facts));
}

function headCodes(group: GroupFacts, { trace }: Run, layer: number, head: number, facts: ModelFacts): Uint8Array {
  const [weights, mask] = ["weights", "mask"].map((point) =>
    headOf(trace.value(`${pathOf(group, layer)}.${point}`), head),
  );
  return codesOf(weights, mask, facts.max_thumbnail_side);
}

/** The heads that an edit switches off, by setting all their weights to zero. */
function ablated(edit: Intervention, group: GroupFacts): Head[] {
  const [[first, end] = [0, null], ...others] = edit.index;
  const isWhole = others.every(([from, to]) => from === 0 && to === null);
  if (!["set", "scale"].includes(edit.operation) || edit.number !== 0 || !isWhole) return [];
  const found: Head[] = [];
  for (let layer = 0; layer < group.layers; layer++)
    if (matches(edit, `${pathOf(group, layer)}.weights`))
      for (let head = first; head < Math.min(end ?? group.heads, group.heads); head++) found.push([layer, head]);
  return found;
}

/** Heads in their order, each once. */
function ordered(heads: readonly Head[]): Head[] {
  const unique = new Map(heads.map((head) => [head.join("."), head]));
  return [...unique.values()].sort(([layer, head], [other, another]) => layer - other || head - another);
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let start = 0;
  for (const part of parts) {
    all.set(part, start);
    start += part.length;
  }
  return all;
}
