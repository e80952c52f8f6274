// The tokens of a question's text, as in model/headlight/tracing/inputs.py.

import type { Question, Token } from "../../../ui/frontend/contract.ts";
import { formatCount } from "../../../ui/frontend/dom/numbers.ts";
import { Refused } from "../engine/refused.ts";
import type { EncodedToken, Tokenizer } from "../tokenizer/types.ts";
import type { Written } from "./runs.ts";
import type { Model, ModelFacts } from "./types.ts";

/** The tokens of a text, with those that a model wrote. Throws a Refused for a text that the model cannot read. */
export function encoded(question: Question, written: Written, model: Model): EncodedToken[] {
  const prompt = promptTokens(question, model);
  return written.length ? withWritten(prompt, written, model) : prompt;
}

/** The tokens, with mask tokens in the masked positions. */
function promptTokens({ text, masked_positions }: Question, { tokenizer, facts }: Model): EncodedToken[] {
  checkText(text, tokenizer, facts);
  const tokens = tokenizer.encode(text);
  if (!masked_positions.length) return tokens;
  const { maskId } = tokenizer;
  if (maskId === null) throw new Refused("This model has no mask token, so no word of the text can be masked.");
  const outside = masked_positions.find((position) => !(position in tokens));
  if (outside !== undefined)
    throw new Refused(`There is no token ${outside} to mask: the text has ${tokens.length}, counted from 0.`);
  const special = new Set(facts.tokenizer.special_ids);
  const masked = new Set(masked_positions);
  return tokens
    .map((token, place) => (masked.has(place) ? { ...token, id: maskId, text: tokenizer.tokenText(maskId) } : token))
    .map((token) => ({ ...token, special: special.has(token.id) }));
}

/** The tokens with those that a model wrote, in place of masks or at the end. */
function withWritten(tokens: readonly EncodedToken[], written: Written, { tokenizer, facts }: Model): EncodedToken[] {
  const { task, vocabulary_size: size } = facts;
  const ids = written.map(([, id]) => id);
  const special = new Set(facts.tokenizer.special_ids);
  const isMask = (position: number) => tokens[position]?.id === tokenizer.maskId;
  const outside = written.map(([position]) => position).filter((position) => task.fills_masks && !isMask(position));
  if (outside.length)
    throw new Refused(`Token ${Math.min(...outside)} is not masked, so nothing can be filled in there.`);
  const unknown = ids.find((id) => id >= size);
  if (unknown !== undefined)
    throw new Refused(`There is no token ${unknown}: the vocabulary has the ids 0 to ${size - 1}.`);
  if (task.fills_masks) {
    const filled = new Map(written);
    return tokens.map((token, position) => {
      const id = filled.get(position) ?? token.id;
      const text = filled.has(position) ? tokenizer.tokenText(id) : token.text;
      return { ...token, id, text, special: special.has(id) };
    });
  }
  const all = [...tokens.map(({ id }) => id), ...ids];
  const names = tokenizer.texts(all);
  return all.map((id, place) => {
    const text = tokens[place]?.text ?? names[place];
    return { id, text, special: special.has(id), start: 0, end: 0, spaceBefore: false }; // places of another text
  });
}

/** The tokens as the page shows them. */
export function shownTokens(tokens: readonly EncodedToken[], { maskId }: Tokenizer): Token[] {
  return tokens.map(({ text, id, special, end }) => ({ text, id, special, masked: id === maskId, end }));
}

function checkText(text: string, tokenizer: Tokenizer, facts: ModelFacts) {
  const { limits, context } = facts;
  const characters = [...text];
  if (!text) throw new Refused("The text is empty; type a sentence.");
  if (characters.length > limits.characters)
    throw new Refused(
      `The text has ${formatCount(characters.length)} characters; at most ${formatCount(limits.characters)} are read. Shorten it.`,
    );
  // Prefixes, each twice as long as the one before, show that a text is too long before all of it is read.
  let size = Math.max(limits.prefix_characters, limits.characters_per_token * context);
  for (; size < characters.length; size *= 2) {
    const counts = size - Math.max(facts.tokenizer.longest_token, limits.cut_characters);
    const [prefix, { length: end }] = [size, counts].map((many) => characters.slice(0, many).join(""));
    const count = tokenizer.encode(prefix).filter((token) => !token.special && token.end <= end).length;
    if (count > context + Math.floor(context / 4))
      throw new Refused(`The text has more than ${count} tokens; this model reads at most ${context}. Shorten it.`);
  }
}

/** The sentence number of each token; a separator in a text is the last token of its sentence. */
export function sentenceNumbers(tokens: readonly EncodedToken[], separator: number | null): number[] {
  const others = tokens.flatMap(({ id, special }, place) => (id !== separator && !special ? [place] : []));
  const [first, last] = [others[0] ?? 0, others.at(-1) ?? 0];
  let number = 0;
  return tokens.map(({ id }, place) => {
    const own = number;
    if (place > first && place < last && id === separator && tokens[place + 1].id !== separator) number += 1;
    return own;
  });
}
