// Notes to read before trusting the picture, as in app/headlight_app/inference/attention_payload.py.

import type { PartDifference } from "../../../explore/frontend/contract.ts";
import { formatNumber, formatPlaces } from "../../../ui/frontend/dom/numbers.ts";
import type { Value } from "../engine/types.ts";
import { canBeNormalized, hookPointOf } from "./edits/paths.ts";
import { masksTitle } from "./masks.ts";
import { meanLoss } from "./predictions.ts";
import type { Run, Runs } from "./runs.ts";
import type { Model, ModelFacts } from "./types.ts";

const ROW_TOLERANCE = 1e-3; // of the sum of a row around 1

/** All notes as one text; none if there is nothing to say. */
export function notesOf(runs: Runs, run: Run): string[] {
  const { facts } = runs.model;
  const { tokens } = run;
  const notes = [
    ...variantNotes(runs, run),
    facts.recurrence_note,
    separatorNote(runs.model, run),
    tokens.length > facts.max_thumbnail_side
      ? `${tokens.length} tokens: each cell of a thumbnail shows the largest weight of its block.`
      : "",
    overflowNote(run, facts),
    facts.has_sinks
      ? "Each head has a sink: a row's missing weight goes to no token. Head metrics ignore it."
      : run.isChanged
        ? rowSumNote(run)
        : "",
  ].filter(Boolean);
  return notes.length ? [notes.join(" ")] : [];
}

/** The replaced parts: their titles, and the names before and after. */
export function differencesOf({ parts }: Pick<Run, "parts">, facts: ModelFacts): PartDifference[] {
  return (Object.keys(facts.parts) as (keyof typeof parts)[])
    .filter((field) => parts[field] !== facts.trained[field])
    .map((field) => {
      const { title, names } = facts.parts[field];
      const nameOf = (choice: string) =>
        Object.hasOwn(names, choice) ? names[choice] : masksTitle(choice.split("+"), facts);
      return { field, title, was: nameOf(facts.trained[field]), now: nameOf(parts[field]) };
    });
}

function variantNotes(runs: Runs, run: Run): string[] {
  const told = differenceNotes(run, runs.model.facts);
  return told.length ? [...told, lossNote(runs, run)] : [];
}

/** The replaced parts, in sentences. */
export function differenceNotes(run: Pick<Run, "parts">, facts: ModelFacts): string[] {
  const told = differencesOf(run, facts).map(({ title, was, now }) => `${title}: ${now} instead of ${was}.`);
  return told.length ? [...told, "The model was not trained this way."] : [];
}

/** The loss on this text as trained and with the changes, and why a lower one makes no better model. */
function lossNote(runs: Runs, run: Run): string {
  const { task, vocabulary_size, d_model, limits } = runs.model.facts;
  const count = run.tokens.length;
  if (!task.continues_text || count < 2 || count * vocabulary_size * d_model > limits.loss_products) return "";
  const [before, after] = [meanLoss(runs.asTrained(run)), meanLoss(run)];
  if (!(Number.isFinite(before) && Number.isFinite(after))) return "";
  const words = run.question.edits.length ? "With all changes the loss on this text" : "The loss on this text";
  const [was, now] = [formatPlaces(before, 2), formatPlaces(after, 2)];
  if (was === now) return `${words} stays at ${was} nats per token.`;
  if (after > before) return `${words} rises from ${was} to ${now} nats per token.`;
  const reason = looksAhead(run) ? "a token now sees the very token that it is to predict" : "one text says little";
  return `${words} falls from ${was} to ${now} nats per token; that makes no better model: ${reason}.`;
}

/** Whether a query may attend to a later token. */
function looksAhead(run: Run): boolean {
  return valuesAt(run, "mask").some(([, { shape, numbers }]) => {
    const [, queries, keys] = shape;
    return numbers.some((cell, at) => cell > 0 && at % keys > Math.floor(at / keys) % queries);
  });
}

/** A separator typed into a text, where it does not begin a second segment. */
function separatorNote({ tokenizer, facts }: Model, { tokens }: Run): string {
  const isInside = facts.reads_segments && tokens.slice(0, -1).some(({ id }) => id === tokenizer.endId);
  return isInside
    ? `${facts.tokenizer.end_token} in a sentence does not begin a second text: this page reads one.`
    : "";
}

/** The first of the shown values on the residual stream whose numbers mean nothing. */
function overflowNote(run: Run, { sentences }: ModelFacts): string {
  const shown = [...valuesAt(run, "embedding"), ...valuesAt(run, "final_residual")];
  const found = shown.find(([, value]) => !canBeNormalized(value));
  return found ? sentences.overflow.replace("{path}", found[0]) : "";
}

/** A note on the first attention whose rows do not sum to 1. */
function rowSumNote(run: Run): string {
  for (const [path, weights] of valuesAt(run, "weights")) {
    const total = furthestSum(weights);
    if (Math.abs(total - 1) > ROW_TOLERANCE)
      return (
        `A row of ${path.replace(/\.weights$/, "")} sums to ${formatNumber(total, 3)}, not to 1. ` +
        "Head metrics divide each row by its sum."
      );
  }
  return "";
}

/** The row sum furthest from 1, among rows that are not empty. */
function furthestSum({ shape, numbers }: Value): number {
  const width = shape.at(-1) as number;
  let furthest = 1;
  for (let start = 0; start < numbers.length; start += width) {
    const row = numbers.subarray(start, start + width);
    const sum = row.reduce((total, weight) => total + weight, 0);
    if (row.some(Boolean) && Math.abs(sum - 1) > Math.abs(furthest - 1)) furthest = sum;
  }
  return furthest;
}

function valuesAt({ trace }: Run, point: string): [string, Value][] {
  return trace.paths.filter((path) => hookPointOf(path) === point).map((path) => [path, trace.value(path)]);
}
