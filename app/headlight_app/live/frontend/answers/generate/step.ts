// One step of Generate, as in app/headlight_app/generate/answers/step.py: how its token was sampled, and the attention
// behind it. Without a server nothing is cached: each step reads the whole text.

import type { GenerateAnswer, GenerateRequest, StepAnswer, TextToken } from "../../../../generate/frontend/contract.ts";
import type { AttentionGroupAnswer, Question, Sampling } from "../../../../ui/frontend/contract.ts";
import { Refused } from "../../engine/refused.ts";
import type { EncodedToken } from "../../tokenizer/types.ts";
import { headOf } from "../codes.ts";
import { bytesOf } from "../head_view.ts";
import { differenceNotes } from "../notes.ts";
import { valuesOf } from "../predictions.ts";
import type { Run, Runs, Written } from "../runs.ts";
import { encoded, shownTokens } from "../text.ts";
import { joined, pathOf } from "../trace.ts";
import type { GroupFacts, Model, Reply } from "../types.ts";
import { nextTokenRows } from "./next_token.ts";
import { followed } from "./rules.ts";
import { sampled } from "./sampling.ts";

/** The step after those in `generated`; only the text if all masks are filled. */
export function answerGenerate(runs: Runs, request: GenerateRequest): Reply<GenerateAnswer> {
  const start = performance.now();
  const { model } = runs;
  const { question, generated = [] } = request;
  const sampling = { ...factsOf(model).sampling, ...request.sampling };
  requireText(question, model);
  const read = encoded({ ...model.facts.question, ...question }, generated, model);
  const tokens = { text: textTokens(read, model), source: null };
  const fills = model.facts.task.fills_masks;
  const open = fills ? masksLeft(read, generated, model) : [read.length - 1];
  if (!open.length) return { meta: { step: null, tokens }, numbers: new Uint8Array() };
  const run = runs.of(question, generated);
  const query = surest(run, open);
  const position = fills ? query : read.length;
  const notes = notesOf(runs, question, generated);
  const { step, numbers } = stepOf({ run, query, position, generated, sampling }, model);
  const answer = { ...step, notes, milliseconds: performance.now() - start };
  return { meta: { step: answer, tokens: request.with_tokens ? tokens : null }, numbers };
}

interface Step {
  readonly run: Run;
  /** The position whose logits predict the token, and where the token goes. */
  readonly query: number;
  readonly position: number;
  readonly generated: Written;
  readonly sampling: Sampling;
}

function stepOf({ run, query, position, generated, sampling }: Step, model: Model) {
  const { tokenizer, facts } = model;
  const generation = factsOf(model);
  const logits = run.trace.logits(query);
  if (!logits.every(Number.isFinite)) throw new Refused(facts.sentences.not_finite);
  const ids = run.tokens.map(({ id }) => id);
  const fills = facts.task.fills_masks;
  const allowed = followed(generation.rules, logits, ids, ids.length - generated.length);
  const sample = sampled(allowed, generated.length, sampling);
  const after = fills ? null : run.tokens[query].text;
  const next = { position, after, logits, sample, isGreedy: !sampling.temperature };
  const { groups, numbers } = queryRows(run, query, facts.groups);
  const step: Omit<StepAnswer, "notes" | "milliseconds"> = {
    position,
    chosen: sample.chosen,
    chosen_text: tokenizer.tokenText(sample.chosen),
    rows: nextTokenRows(next, tokenizer, generation) as unknown as StepAnswer["rows"], // views are JSON for the server
    cache_rows: [],
    caches: false,
    attention_groups: groups,
    tokens_read: ids.length,
    length: ids.length,
    context: facts.context,
    end_tokens: generation.end_tokens,
  };
  return { step, numbers };
}

function factsOf({ facts }: Model) {
  if (!facts.generation) throw new Refused("This model writes no text.");
  return facts.generation;
}

function requireText({ masked_positions }: Question, { facts }: Model) {
  if (!facts.task.fills_masks && masked_positions?.length)
    throw new Refused("A model that continues texts has no mask token. Show the masked tokens again.");
}

/** The masks that are not filled; the model may have filled one with a mask. */
function masksLeft(tokens: readonly EncodedToken[], written: Written, { tokenizer }: Model): number[] {
  const filled = new Set(written.map(([position]) => position));
  return tokens.flatMap(({ id }, position) => (id === tokenizer.maskId && !filled.has(position) ? [position] : []));
}

/** The position whose most probable token has the highest probability (Chang et al. 2022, section 3.2). */
function surest({ trace }: Run, positions: readonly number[]): number {
  if (positions.length === 1) return positions[0];
  const sure = positions.map((position) =>
    valuesOf(trace.logits(position), "single-label").reduce((a, b) => Math.max(a, b)),
  );
  return positions[sure.indexOf(Math.max(...sure))];
}

/** The row of a query, for every head. */
function queryRows({ trace, tokens }: Run, query: number, groups: readonly GroupFacts[]) {
  const columns = tokens.length;
  const [answers, rows]: [AttentionGroupAnswer[], Uint8Array[]] = [[], []];
  let offset = 0;
  for (const group of groups) {
    answers.push({ ...group, ...NOT_SHOWN, rows: 1, columns, pooled_shape: [1, columns], offset });
    for (let layer = 0; layer < group.layers; layer++) {
      const weights = trace.value(`${pathOf(group, layer)}.weights`);
      for (let head = 0; head < group.heads; head++)
        rows.push(bytesOf(headOf(weights, head).numbers.subarray(query * columns, (query + 1) * columns)));
    }
    offset += group.layers * group.heads * columns;
  }
  return { groups: answers, numbers: joined(rows) };
}

/** What Generate does not show of an attention. */
const NOT_SHOWN = {
  ablations: {},
  metrics: null,
  has_segments: false,
  pending: false,
  faded: [],
  faded_offset: 0,
  shows: "",
};

/** Notes to read before trusting the text. */
function notesOf(runs: Runs, question: Question, generated: Written): string[] {
  const { facts } = runs.model;
  const { question: asked, parts } = runs.of(question);
  const edits = asked.edits.join(", ");
  const extendsMask = generated.length && facts.task.continues_text && parts.masks.includes("custom:");
  return [
    differenceNotes({ parts }, facts).join(" "),
    edits && `Edits made on Explore apply: ${edits}.`,
    extendsMask ? "Your mask applies within the prompt. A new token sees all earlier tokens; they do not see it." : "",
  ].filter(Boolean);
}

/** The tokens that the model has read; of a text with masks, a special one that was typed counts as one, too. */
function textTokens(tokens: readonly EncodedToken[], { tokenizer, facts }: Model): TextToken[] {
  const special = new Set(facts.tokenizer.special_ids);
  return shownTokens(tokens, tokenizer).map((token, place) => ({
    ...token,
    special: facts.task.fills_masks ? special.has(token.id) : token.special,
    space_before: tokens[place].spaceBefore,
  }));
}
