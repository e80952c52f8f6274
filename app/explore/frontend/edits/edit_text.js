// Edits in words. An edit's text form is the model's own: PATH[INDEX]=OPERATION:NUMBER.

import { inlineText, quotedToken } from "../../../../model/rendering/static/ui/dom.js";

const EDIT_PATTERN = /^([a-z_0-9.*]+)(?:\[([0-9:, ]*)\])?=([a-z]+)(?::(.+))?$/;

/** An edit taken apart; null for a text that is none. `at` names what is picked along each axis: "3", "2:5", or nothing. */
function parseEdit(self, edit) {
  const match = edit.trim().match(EDIT_PATTERN);
  if (!match) return null;
  const [, path, index = "", operation, number] = match;
  const parts = path.split(".");
  const site = parts.at(-1);
  const known = self.sites[site];
  if (!known) return null;
  const picked = index.split(",").map((part) => part.trim());
  const at = Object.fromEntries(known.axes.map((axis, place) => [axis, picked[place] && picked[place] !== ":" ? picked[place] : ""]));
  const layer = parts.length > 2 ? parts[1] : "";
  return { path, site, stack: parts.length > 1 ? parts[0] : "", layer, part: parts.length > 3 ? parts[2] : "", at, operation, number: Number(number), title: known.title };
}

/** An edit as text and tokens: strings, and { token } for pieces of the sentence. */
export function describeEdit(self, edit) {
  const read = parseEdit(self, edit);
  if (!read) return [edit];
  const words = DESCRIPTIONS[read.site]?.(self, read);
  if (words) return words;
  if (isComponentOff(read)) return [`${capitalize(read.part === "feedforward" ? "feed-forward" : read.part === "cross" ? "cross-attention" : "attention")} of ${describePlace(self, { ...read, part: "" })} off`];
  const place = capitalize(describePlace(self, read));
  const token = describeToken(self, read, ", token ", read.at.pos || read.at.query);
  const value = `${place ? read.title.slice(0, 1).toLowerCase() + read.title.slice(1) : read.title}`;
  return place ? [place, ...token, `: ${value} ${describeOperation(read)}`] : [value, ...token, ` ${describeOperation(read)}`];
}

/** Nothing at all of what an attention or a feed-forward writes. */
function isComponentOff({ site, part, at, operation, number }) {
  return site === "output" && part && !at.pos && !at.width && number === 0 && ["set", "scale"].includes(operation);
}

const DESCRIPTIONS = {
  weights(self, read) {
    const { query, key } = read.at;
    if (query || key) {
      if (read.operation !== "set" || !query || !key) return null;
      return [...describeToken(self, read, "Token ", query), ...describeToken(self, read, " gives token ", key, true), ` the weight ${formatFigure(read.number)}${describeInside(self, read)}`];
    }
    if (read.operation === "uniform") return [`${capitalize(describePlace(self, read))}: every allowed token alike`];
    if (read.operation !== "set" || read.number !== 0) return null;
    return [`${read.at.head ? "" : "All heads of "}${read.at.head ? capitalize(describePlace(self, read)) : describePlace(self, read)} off`];
  },

  mask(self, read) {
    if (read.operation !== "set") return null;
    const sees = read.number ? "can see" : "cannot see";
    const { query, key } = read.at;
    const who = query ? describeToken(self, read, "Token ", query) : [read.number ? "Every token" : "No token"];
    const whom = key ? describeToken(self, read, " token ", key, true) : [" any token"];
    return [...who, ` ${query || read.number ? sees : "can see"}`, ...whom, describeInside(self, read)];
  },

  scores(self, read) {
    const whole = !read.at.query && !read.at.key && read.operation === "scale" && read.number > 0;
    return whole ? [`${capitalize(describePlace(self, read))}: softmax temperature ×\u00a0${formatFigure(1 / read.number)}`] : null;
  },

  scale(self, read) {
    const place = capitalize(describePlace(self, read));
    if (read.operation === "set" && read.number === 1) return [`${place}: scores without the scale 1/√d`];
    return [`${place}: scale of the scores ${describeOperation(read)}`];
  },

  at(self, read) {
    const [before, stack] = read.at.pos ? [describeToken(self, read, "Token ", read.at.pos), ""] : [["All tokens"], ""];
    const told = { set: "at position", add: "moved by", scale: "at its position ×" }[read.operation];
    return told ? [...before, ` ${read.operation === "add" ? "is" : "stands"} ${told} ${formatFigure(read.number)}${stack}`] : null;
  },
};

function describeOperation({ operation, number }) {
  return { set: `set to\u00a0${formatFigure(number)}`, scale: `×\u00a0${formatFigure(number)}`, add: `${number < 0 ? "−" : "+"}\u00a0${formatFigure(Math.abs(number))}`, mean: "averaged", uniform: "evenly spread" }[operation] || operation;
}

export function formatFigure(number) {
  return String(Number(number.toPrecision(4))).replace("-", "−");
}

/** "head 3 of layer 1", "layer 1, feed-forward", "every layer". */
function describePlace(self, { stack, layer, part, at }) {
  const twin = self.answer?.sourceTokens && stack === "encoder" ? "encoder " : "";
  const cross = part === "cross" ? "cross-attention " : "";
  const inner = part === "feedforward" ? ", feed-forward" : part && at.head === undefined && at.key_value_head === undefined ? ", attention" : "";
  const where = layer === "*" ? `every ${twin}${cross}layer${inner}` : layer === "" ? "" : `${twin}${cross}layer ${layer}${inner}`;
  const head = at.head || at.key_value_head;
  return head ? `${head.includes(":") ? "heads" : "head"} ${describeRange(head)} of ${where}` : where;
}

function describeInside(self, read) {
  const place = describePlace(self, read);
  return place && place !== "every layer" ? ` in ${place}` : "";
}

function describeRange(picked) {
  const [first, end] = picked.split(":");
  if (end === undefined) return first;
  return end === "" ? `from ${first || 0} on` : `${first || 0} to ${end - 1}`;
}

/** A token by its number and, where the text has one there, its piece. */
function describeToken(self, { stack, part }, before, picked, isKey = false) {
  if (!picked) return [];
  const source = stack === "encoder" || (part === "cross" && isKey);
  const tokens = (source && self.answer?.sourceTokens) || self.answer?.tokens || [];
  const token = tokens[Number(picked)];
  return token ? [`${before}${picked} `, { token }] : [`${before}${describeRange(picked)}`];
}

function capitalize(words) {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

export function wordNodes(words) {
  return words.flatMap((word) => (word.token ? ["“", ...quotedToken(word.token), "”"] : [word]));
}

export function wordText(words) {
  return words.map((word) => (word.token ? `“${inlineText(word.token.piece)}”` : word)).join("");
}
