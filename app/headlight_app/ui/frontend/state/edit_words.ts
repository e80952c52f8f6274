// Describes edits in words. The text form of an edit is the one of the back end: PATH[INDEX]=OPERATION:NUMBER.

import { inlineText, quotedToken } from "../dom/dom.ts";
import { formatNumber } from "../dom/numbers.ts";
import type { Catalogue, ParsedEdit, Words } from "../types.ts";

/** The rows of the registries and the tokens for describing edits. */
export type EditContext = {
  catalogue: Pick<Catalogue, "hook_points" | "operations">;
  latestAnswer: { tokens: { text: string }[]; source_tokens?: { text: string }[] | null } | null;
};

const PART_NAMES = new Map([
  ["feed_forward", "feed-forward"],
  ["cross", "cross-attention"],
  ["layer_embedding", "layer embedding"],
]);
const EDIT_PATTERN = /^([a-z_0-9.*]+)(?:\[([0-9:, ]*)\])?=([a-z]+)(?::(.+))?$/;

/** A parsed edit; null if the text is not an edit. `at` is the selection along each axis: "3", "2:5", or empty. */
export function parseEdit(state: EditContext, edit: string): ParsedEdit | null {
  const match = edit.trim().match(EDIT_PATTERN);
  if (!match) return null;
  const [, path, index = "", operation, number] = match;
  const parts = path.split(".");
  const hookPoint = parts[parts.length - 1];
  const known = state.catalogue.hook_points[hookPoint];
  if (!known) return null;
  const picked = index.split(",").map((part) => part.trim());
  const at = Object.fromEntries(
    known.axes.map((axis, place) => [axis, picked[place] && picked[place] !== ":" ? picked[place] : ""]),
  );
  const layer = parts.length > 2 ? parts[1] : "";
  return {
    path,
    hookPoint,
    stack: parts.length > 1 ? parts[0] : "",
    layer,
    part: parts.length > 3 ? parts[2] : "",
    at,
    operation,
    number: Number(number),
    title: known.title,
  };
}

const PATCH_PATTERN = /^(.+)=from:\w+(?:\[([0-9:, ]*)\])?$/;

/** A patch in words: the place, the value, and the token of the other text if its position differs. */
function describePatch(state: EditContext, edit: string): Words | null {
  const match = edit.trim().match(PATCH_PATTERN);
  const read = match && parseEdit(state, `${match[1]}=set:0`);
  if (!match || !read) return null;
  const place = capitalize(describePlace(state, read));
  const token = describeToken(state, read, ", token ", read.at.pos || read.at.query);
  const title = place ? `: ${read.title.slice(0, 1).toLowerCase()}${read.title.slice(1)}` : read.title;
  return [place, ...token, `${title} of the other text${match[2] ? `, at ${match[2]}` : ""}`].filter(Boolean);
}

/** An edit in words: strings, and { token } for tokens of the sentence. */
export function describeEdit(state: EditContext, edit: string): Words {
  const read = parseEdit(state, edit);
  const patch = describePatch(state, edit);
  if (patch) return patch;
  if (!read) return [edit];
  const words = ownSentence(state, read);
  if (words) return words;
  if (isComponentOff(read))
    return [
      `${capitalize(PART_NAMES.get(read.part) ?? "attention")} of ${describePlace(state, { ...read, part: "" })} off`,
    ];
  const place = capitalize(describePlace(state, read));
  const token = describeToken(state, read, ", token ", read.at.pos || read.at.query);
  const operation = describeOperation(state, read);
  if (place && isOwnOperation(state, read)) return [place, ...token, `: ${operation}`];
  const value = `${place ? read.title.slice(0, 1).toLowerCase() + read.title.slice(1) : read.title}`;
  return place ? [place, ...token, `: ${value} ${operation}`] : [value, ...token, ` ${operation}`];
}

/** Whether an edit switches off all output of an attention or a feed-forward network. */
function isComponentOff({ hookPoint, part, at, operation, number }: ParsedEdit) {
  return (
    hookPoint === "output" &&
    part !== "" &&
    !at.pos &&
    !at.d_model &&
    number === 0 &&
    ["set", "scale"].includes(operation)
  );
}

/** The sentence that the row of the hook point has for such an edit, with its placeholders filled in. */
function ownSentence(state: EditContext, read: ParsedEdit): Words | null {
  const indices = Object.keys(read.at).filter((axis) => axis !== "head" && read.at[axis]);
  const sentence = state.catalogue.hook_points[read.hookPoint].edit_sentences.find(
    ({ text, operation, number, indices: axes }) =>
      operation === read.operation &&
      (number ?? read.number) === read.number &&
      String(axes) === String(indices) &&
      (read.number > 0 || !text.includes("{inverse}")),
  );
  if (!sentence) return null;
  const place = describePlace(state, read);
  const figures: Record<string, string> = {
    number: formatFigure(read.number),
    inverse: formatFigure(1 / read.number),
    place,
    heads: read.at.head ? place : `all heads of ${place}`,
    inside: place && place !== "every layer" ? ` in ${place}` : "",
    neurons: `${read.at.d_ff?.includes(":") ? "neurons" : "neuron"} ${describeRange(read.at.d_ff ?? "")}`,
  };
  const pieces = sentence.text.replace("× ", "×\u00a0").split(/\{(\w+)\}/);
  const words = pieces.flatMap((piece, index) => {
    if (index % 2 === 0) return piece ? [piece] : [];
    return piece in figures ? [figures[piece]] : describeToken(state, read, "", read.at[piece], piece === "key");
  });
  return words.map((word, index) => (index || typeof word !== "string" ? word : capitalize(word)));
}

function operationOf(state: EditContext, { operation }: ParsedEdit) {
  return state.catalogue.operations.find(({ name }) => name === operation);
}

/** Whether an operation exists only for this value, so that its description already names the value. */
function isOwnOperation(state: EditContext, read: ParsedEdit) {
  return operationOf(state, read)?.hook_points.includes(read.hookPoint) ?? false;
}

function describeOperation(state: EditContext, read: ParsedEdit) {
  const signed = `${read.number < 0 ? "−" : "+"}\u00a0${formatFigure(Math.abs(read.number))}`;
  const { description } = operationOf(state, read) ?? { description: read.operation };
  return description
    .replace(" {", "\u00a0{")
    .replace("{number}", formatFigure(read.number))
    .replace("{signed}", signed);
}

export function formatFigure(number: number) {
  return formatNumber(number);
}

/** "head 3 of layer 1", "layer 1, feed-forward", "every layer". */
function describePlace(state: EditContext, { stack, layer, part, at }: ParsedEdit) {
  const twin = state.latestAnswer?.source_tokens && stack === "encoder" ? "encoder " : "";
  const cross = part === "cross" ? "cross-attention " : "";
  const inner =
    part === "feed_forward" || part === "layer_embedding"
      ? `, ${PART_NAMES.get(part)}`
      : part && at.head === undefined && at.key_value_head === undefined
        ? ", attention"
        : "";
  const where =
    layer === "*" ? `every ${twin}${cross}layer${inner}` : layer === "" ? "" : `${twin}${cross}layer ${layer}${inner}`;
  const head = at.head || at.key_value_head;
  return head ? `${head.includes(":") ? "heads" : "head"} ${describeRange(head)} of ${where}` : where;
}

function describeRange(picked: string) {
  const [first, end] = picked.split(":");
  if (end === undefined) return first;
  return end === "" ? `from ${first || 0} on` : `${first || 0} to ${Number(end) - 1}`;
}

/** A token by its position and, if the text has a token there, its piece. */
function describeToken(
  state: EditContext,
  { stack, part }: ParsedEdit,
  before: string,
  picked: string,
  isKey: boolean = false,
): Words {
  if (!picked) return [];
  const source = stack === "encoder" || (part === "cross" && isKey);
  const tokens = (source && state.latestAnswer?.source_tokens) || state.latestAnswer?.tokens || [];
  const token = tokens[Number(picked)];
  return token ? [`${before}${picked} `, { token }] : [`${before}${describeRange(picked)}`];
}

function capitalize(words: string) {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

export function wordNodes(words: Words) {
  return words.flatMap((word) => (typeof word === "string" ? [word] : ["“", quotedToken(word.token), "”"]));
}

export function wordText(words: Words) {
  return words.map((word) => (typeof word === "string" ? word : `“${inlineText(word.token.text)}”`)).join("");
}
