// Questions and their runs: a question as Python reads it, its tokens, and what the engine records with its changes.

import type { Question, Variant } from "../../../ui/frontend/contract.ts";
import { formatCount } from "../../../ui/frontend/dom/numbers.ts";
import { Refused } from "../engine/refused.ts";
import type { Trace } from "../engine/types.ts";
import type { EncodedToken } from "../tokenizer/types.ts";
import { changesOf } from "./edits/hook.ts";
import { nativeEdit, parseEdit } from "./edits/syntax.ts";
import { allowedCells, extended, masksText, parseMasks } from "./masks.ts";
import { encoded } from "./text.ts";
import type { Model, ModelFacts } from "./types.ts";

const MOST_KEPT = 4; // runs: of the text as it is, as trained, of another text, and of the one before

/** Tokens that a model wrote, by their positions: in place of masks, or after the text. */
export type Written = readonly (readonly [position: number, token: number])[];

/** A question with what the engine recorded. */
export interface Run {
  readonly question: Question;
  /** The parts of the model, its own or those in their places. */
  readonly parts: Variant;
  readonly tokens: readonly EncodedToken[];
  readonly trace: Trace;
  readonly isChanged: boolean;
}

export interface Runs {
  readonly model: Model;
  /** Throws a Refused with a sentence for a question without an answer. */
  of(question: Question, written?: Written): Run;
  /** The same input, to the model as it was trained. */
  asTrained(run: Run): Run;
}

/** The last runs are kept: several answers are about one. */
export function openRuns(model: Model): Runs {
  const kept = new Map<string, Run>();
  const { facts } = model;
  const of = (asked: Question, written: Written = []): Run => {
    const question = readable(asked, facts);
    const key = JSON.stringify([question, written]);
    const run = kept.get(key) ?? computed(question, written, model);
    kept.delete(key); // the last one is the newest
    kept.set(key, run);
    for (const old of [...kept.keys()].slice(0, -MOST_KEPT)) kept.delete(old);
    return run;
  };
  const asTrained = ({ question }: Run) =>
    of({ ...question, variant: facts.question.variant, edits: [], patch_from: "" });
  return { model, of, asTrained };
}

/** The question without inputs that the model does not read; refuses what a page without a server cannot do. */
function readable(asked: Question, facts: ModelFacts): Question {
  const given = { ...facts.question, ...asked };
  const variant = { ...facts.question.variant, ...given.variant };
  const refused = [
    [given.edits.some((edit) => edit.includes("=from:")), "takes no values from the run of another text"],
    [given.measure, "does not show what weights move"],
    [given.chat && facts.reads_chat, "reads no chats"],
    [given.text_pair && facts.reads_pair, "reads one text, not two"],
  ].find(([isAsked]) => isAsked);
  if (refused) throw new Refused(`A page without a server ${refused[1]}; open this model in Headlight for it.`);
  return {
    ...given,
    source: "",
    image: "",
    text_pair: "",
    chat: "",
    patch_from: "",
    variant: { ...variant, pooling: facts.pools ? variant.pooling : "" },
    edits: given.edits.map((edit) => nativeEdit(edit, facts)),
  };
}

function computed(question: Question, written: Written, model: Model): Run {
  const { engine, facts } = model;
  const parts = partsOf(question.variant, facts);
  const tokens = encoded(question, written, model);
  const edits = question.edits.map((edit) => parseEdit(edit, facts));
  const added = facts.task.fills_masks ? 0 : written.length;
  const masksNow = extended(parts.masks, tokens.length - added, tokens.length);
  const masks = masksNow === facts.trained.masks ? null : parseMasks(masksNow, facts);
  const isReadable = tokens.length <= facts.context; // else the engine refuses it
  if (isReadable) requireShort(tokens.length, facts);
  const cells = masks && isReadable ? allowedCells(masks, tokens.length) : null;
  const { edit, requireAllApplied } = changesOf(edits, cells, facts);
  const isAsItIs = !edits.length && !cells;
  const trace = engine.run(
    tokens.map(({ id }) => id),
    isAsItIs ? undefined : edit,
    parts.positional_encoding,
  );
  requireAllApplied();
  const isChanged = Boolean(edits.length) || Object.values(question.variant).some(Boolean);
  return { question, parts, tokens, trace, isChanged };
}

/** The parts that a variant gives the model. */
function partsOf(variant: Variant, facts: ModelFacts): Variant {
  const { trained, parts } = facts;
  const given = Object.entries(variant).filter(([, name]) => name);
  const found = { ...trained, ...Object.fromEntries(given) };
  for (const field of ["attention_function", "scale", "pooling"] as const)
    if (found[field] !== trained[field])
      throw new Refused(
        `A page without a server cannot replace this part: ${parts[field].title}. Open this model in Headlight for it.`,
      );
  return variant.masks ? { ...found, masks: masksText(parseMasks(variant.masks, facts)) } : found;
}

/** Refuses a text whose weights would take too much memory. */
function requireShort(length: number, { groups, limits }: ModelFacts) {
  const heads = groups.reduce((sum, group) => sum + group.layers * group.heads, 0);
  if (4 * heads * length ** 2 > limits.weights_bytes)
    throw new Refused(`The weights of a text of ${formatCount(length)} tokens are too many for this page. Shorten it.`);
}
