// What a change of the model has changed in the picture of a head, in words: computed from the weights before and after.

import { inlineText } from "../../../ui/frontend/dom/dom.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { formatPlaces } from "../../../ui/frontend/dom/numbers.ts";
import { parseEdit } from "../../../ui/frontend/state/edit_words.ts";
import { currentGroup } from "../../../ui/frontend/state/head_selection.ts";
import { decodeWeight } from "../../../ui/frontend/weight_code.ts";
import type { AttentionGroup, ExploreAnswer, ExplorePage } from "../types.ts";

/** The weights of a head, row by row; NaN where the mask forbids the cell. */
export type Pattern = { queries: string[]; keys: string[]; weights: Float32Array; isSelf: boolean };

const TOLD = 0.1; // least change of a weight that is told
const [STRONG, FAINT] = [0.3, 0.1]; // shares of the attention, from which a stripe is seen and below which it is not
const ROUNDING = 0.008; // of two weights in byte codes
const FEW = 3; // tokens that are named one by one
const LEAST_CELLS = 3; // of a stripe that is compared: fewer are single weights

/** Stripes of a picture, of tokens at themselves, the one before, the next and the first: from which query, which key. */
const STRIPES: [words: string, from: number, key: (query: number) => number][] = [
  ["the diagonal", 1, (query) => query],
  ["the stripe beside the diagonal", 1, (query) => query - 1],
  ["the stripe above the diagonal", 0, (query) => query + 1],
  ["the column of the first token", 2, () => 0],
];

/** The last comparison, and what it compared. */
const memory = remembered((_: ExplorePage) => ({ compared: [] as unknown[], words: "" }));

/**
 * The answer to compare with: the one before the last change of the model; null if the text is another one.
 * @param goesOn whether the change is a part of the last one, such as a slider that is still being moved
 */
export function answerBefore(
  last: ExploreAnswer | null,
  now: ExploreAnswer,
  before: ExploreAnswer | null,
  goesOn: boolean,
) {
  const input = ({ question }: ExploreAnswer) => {
    const { model, text, source, text_pair, chat, image, measure } = question;
    return JSON.stringify([model, text, source, text_pair, chat, image, measure]);
  };
  const parts = ({ question: { variant, edits } }: ExploreAnswer) => JSON.stringify([variant, edits]);
  const others = ({ question: { masked_positions, patch_from } }: ExploreAnswer) =>
    JSON.stringify([masked_positions, patch_from]);
  if (!last || input(last) !== input(now)) return null;
  if (others(last) !== others(now)) return last;
  if (parts(last) === parts(now)) return before;
  return (goesOn && before) || last;
}

/** What the last change of the model has changed in the chosen head; "" if that cannot be told. */
export function changeInWords(page: ExplorePage) {
  const { answerBefore: before, latestAnswer: now, choice } = page.state;
  if (!before || !now) return "";
  const known = memory(page);
  const compared = [before, now, currentGroup(page)?.name, choice.layer, choice.head];
  if (compared.every((each, place) => each === known.compared[place])) return known.words;
  const after = patternOf(page, now);
  const old = after && patternOf(page, before);
  if (!old || old.weights.length !== after.weights.length) return "";
  const words = describeChange(old, after, `Layer ${choice.layer} · Head ${choice.head}`);
  Object.assign(known, { compared, words });
  return words;
}

/** The chosen head in an answer; null if the answer does not have each of its weights, from 0 to 1. */
function patternOf(page: ExplorePage, answer: ExploreAnswer): Pattern | null {
  const { layer, head } = page.state.choice;
  const name = currentGroup(page)?.name;
  const group = answer.attention_groups.find((each) => each.name === name);
  if (!group || group.pending || group.shows || layer >= group.layers || head >= group.heads) return null;
  const { rows, columns, pooled_shape, kind } = group;
  if (pooled_shape[0] !== rows || pooled_shape[1] !== columns) return null;
  if (answer.question.edits.some((edit) => setsWeights(page, edit, group))) return null;
  const texts = (side: string) =>
    ((side === "source" && answer.source_tokens) || answer.tokens).map(({ text }) => text);
  const from = group.offset + (layer * group.heads + head) * rows * columns;
  const weights = Float32Array.from(answer.bytes.subarray(from, from + rows * columns), decodeWeight);
  const [queries, keys] = [texts(group.queries).slice(0, rows), texts(group.keys).slice(0, columns)];
  return { queries, keys, weights, isSelf: kind === "self" };
}

/** Whether an edit gives the chosen head other weights than 0, which may be below 0 or above 1. */
function setsWeights(page: ExplorePage, edit: string, { stack, kind }: Pick<AttentionGroup, "stack" | "kind">) {
  const { layer, head } = page.state.choice;
  const read = parseEdit(page.state, edit);
  if (read?.hookPoint !== "weights" || read.stack !== stack || read.part !== kind) return false;
  if (read.layer !== "*" && Number(read.layer) !== layer) return false;
  const [first, end] = (read.at.head || ":").split(":");
  const isOfHead = end === undefined ? Number(first) === head : head >= Number(first) && (!end || head < Number(end));
  return isOfHead && !(read.operation === "set" && read.number === 0);
}

/** @param head its name */
export function describeChange(before: Pattern, after: Pattern, head: string) {
  return [changedSight(before, after), changedWeights(before, after, head)].filter(Boolean).join(" ");
}

function changedWeights(before: Pattern, after: Pattern, head: string) {
  const [wasOff, isOff] = [before, after].map(({ weights }) => weights.every((weight) => !weight));
  if (isOff || wasOff) return isOff === wasOff ? "" : `${head} is ${isOff ? "off: it looks at nothing" : "on again"}.`;
  const stripe = after.isSelf ? changedStripe(before, after) : null;
  return `${head}: ${stripe ?? changedCell(before, after)}`;
}

/** Which tokens see others than before; "" if none. */
function changedSight(before: Pattern, after: Pattern) {
  const sees = ({ weights, keys }: Pattern, query: number, key: number) =>
    !Number.isNaN(weights[query * keys.length + key]);
  const differing = (one: Pattern, other: Pattern, query: number) =>
    one.keys.flatMap((_, key) => (sees(one, query, key) && !sees(other, query, key) ? [key] : []));
  const rows = before.queries.map((_, query) => ({
    query,
    opened: differing(after, before, query),
    closed: differing(before, after, query),
  }));
  const changed = rows.filter(({ opened, closed }) => opened.length || closed.length);
  if (!changed.length) return "";
  const later = (query: number) => before.keys.map((_, key) => key).slice(query + 1);
  const isAll = (name: "opened" | "closed") =>
    rows.every(
      (row) => String(row[name]) === String(later(row.query)) && row.opened.length * row.closed.length === 0,
    ) && changed.every((row) => row[name].length);
  if (after.isSelf && isAll("opened")) return "Every token now sees the tokens after it.";
  if (after.isSelf && isAll("closed")) return "No token sees the tokens after it any more.";
  const size = ({ opened, closed }: (typeof rows)[number]) => Math.max(opened.length, closed.length);
  const most = changed.reduce((one, other) => (size(other) > size(one) ? other : one));
  const verb = most.opened.length >= most.closed.length ? "now sees" : "no longer sees";
  const list = verb === "now sees" ? most.opened : most.closed;
  const others = changed.length - 1;
  const rest = others ? ` ${others} more ${others === 1 ? "token sees" : "tokens see"} others than before.` : "";
  return `${quoted(before.queries, most.query)} ${verb} ${listed(before, list, most.query)}.${rest}`;
}

/** Keys in words, as a query sees them. */
function listed({ keys, isSelf }: Pattern, list: number[], query: number) {
  const tokens = list.length === 1 ? "token" : `${list.length} tokens`;
  if (isSelf && list.length > 1 && list[0] === query + 1 && list.length === keys.length - query - 1)
    return `the ${tokens} after it`;
  if (isSelf && list.length > 1 && list[0] === 0 && list.length === query && list.at(-1) === query - 1)
    return `the ${tokens} before it`;
  if (list.length > FEW) return tokens;
  const names = list.map((key) => (isSelf && key === query ? "itself" : quoted(keys, key)));
  return names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** A token in words; one of several that look the same with its position. */
function quoted(tokens: string[], place: number) {
  const names = tokens.map(inlineText);
  const isOne = names.filter((name) => name === names[place]).length === 1;
  return `“${names[place]}”${isOne ? "" : ` (${place})`}`;
}

/** The stripe that has changed most; null if none has changed much. */
function changedStripe(before: Pattern, after: Pattern) {
  const stripes = STRIPES.map(([words, from, key]) => ({
    words,
    was: share(before, from, key),
    now: share(after, from, key),
  }));
  const most = stripes.reduce((one, other) =>
    Math.abs(other.now - other.was) > Math.abs(one.now - one.was) ? other : one,
  );
  const { words, was, now } = most;
  if (!(Math.abs(now - was) >= TOLD)) return null;
  const grows = now > was;
  const verb =
    Math.max(was, now) >= STRONG && Math.min(was, now) < FAINT
      ? grows
        ? "is new"
        : "is gone"
      : grows
        ? "is stronger"
        : "is weaker";
  return `${words} ${verb}, ${percent(was)} of the attention before, ${percent(now)} now.`;
}

/** The mean weight in a stripe; 0, so that it never changes, if it is too short. */
function share({ weights, queries, keys }: Pattern, from: number, keyOf: (query: number) => number) {
  const cells = queries.flatMap((_, query) => {
    const key = keyOf(query);
    return query >= from && key >= 0 && key < keys.length ? [weights[query * keys.length + key] || 0] : [];
  });
  return cells.length < LEAST_CELLS ? 0 : cells.reduce((sum, weight) => sum + weight, 0) / cells.length;
}

/** The weight that has changed most; that of a cell which the mask forbids is 0. */
function changedCell(before: Pattern, after: Pattern) {
  let [most, place] = [0, 0];
  after.weights.forEach((now, cell) => {
    const change = Math.abs((now || 0) - (before.weights[cell] || 0));
    if (change > most) [most, place] = [change, cell];
  });
  if (most < TOLD)
    return `no weight changes by more than ${formatPlaces(Math.ceil(100 * (most + ROUNDING)) / 100, 2)}.`;
  const { queries, keys } = after;
  const query = Math.floor(place / keys.length);
  const [was, now] = [before.weights[place], after.weights[place]].map((weight) => percent(weight || 0));
  return `${quoted(queries, query)} gives ${quoted(keys, place % keys.length)} ${now} of its attention, before ${was}.`;
}

function percent(share: number) {
  return `${formatPlaces(100 * share, 0)} %`;
}
