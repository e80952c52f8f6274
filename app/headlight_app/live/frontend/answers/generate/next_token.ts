// The next token as views, as in app/headlight_app/generate/answers/next_token.py: its candidates before and after the
// sampling settings, and the random number among them.

import { inlineText, visibleText } from "../../../../ui/frontend/dom/dom.ts";
import { formatPlaces } from "../../../../ui/frontend/dom/numbers.ts";
import type { View, ViewRow } from "../../../../ui/frontend/views/types.ts";
import type { Tokenizer } from "../../tokenizer/types.ts";
import { valuesOf } from "../predictions.ts";
import type { GenerationFacts } from "../types.ts";
import { fallingOrder, type Sample } from "./sampling.ts";

/** A step: its position, the name of the token before it (null for a mask), its logits, and how one was sampled. */
interface NextToken {
  readonly position: number;
  readonly after: string | null;
  readonly logits: Float32Array;
  readonly sample: Sample;
  readonly isGreedy: boolean;
}

/** What the model predicts at the step's position, and how a token was sampled from that. */
export function nextTokenRows(next: NextToken, tokenizer: Tokenizer, facts: GenerationFacts): ViewRow[] {
  const shares = valuesOf(next.logits, "single-label");
  const order = fallingOrder(next.logits);
  const after = next.after === null ? "" : `After ${quoted(next.after)}. `;
  const entropy = formatPlaces(entropyInBits(shares), 2);
  const text = `${after}Entropy ${entropy} bits: 0 is certain, each further bit doubles the choice.`;
  const row = (view: View | null, words: string): ViewRow => ({ ...facts.row, views: view ? [view] : [], text: words });
  return [
    row(candidates(next, shares, order, tokenizer, facts), text),
    next.isGreedy ? row(null, facts.greedy) : row(randomNumber(next.sample, order, tokenizer, facts), ""),
  ];
}

function candidates(
  { position, sample }: NextToken,
  shares: Float32Array,
  order: Int32Array,
  tokenizer: Tokenizer,
  { candidates: count, series, bars }: GenerationFacts,
): View {
  const likeliest = [...order.subarray(0, count)];
  const shown = likeliest.includes(sample.chosen) ? likeliest : [...likeliest, sample.chosen];
  const texts = shown.map(tokenizer.tokenText);
  const [before, after] = [shares, sample.probabilities].map((numbers) => shown.map((token) => numbers[token]));
  const numbered = texts.map((text, place) => `${place} ${text}`);
  const values = before.map((share, place) => [share, after[place]]);
  return {
    ...bars,
    title: `Candidates at position ${position}`,
    labels: texts.map(visibleText),
    series: { [series[0]]: before, [series[1]]: after },
    texts: after.map((share) => (share ? "" : "filtered out")),
    picks: shown.map((token, place) => ({ token, token_text: texts[place] })),
    marked: shown.indexOf(sample.chosen),
    tables: { Candidates: { axes: { token: numbered, probability: [...series] }, values } },
  };
}

/** The shares side by side, largest first, and the random number among them. */
function randomNumber(
  { probabilities, order: ranked, random, chosen }: Sample,
  order: Int32Array,
  tokenizer: Tokenizer,
  { candidates: count, strips }: GenerationFacts,
): View {
  const likeliest = [...ranked.subarray(0, count)].filter((token) => probabilities[token]);
  const kept = probabilities.reduce((sum, share) => sum + Number(share > 0), 0);
  const left = kept === order.length ? `all ${kept}` : `${kept} of ${order.length}`;
  const rank = order.indexOf(chosen) + 1;
  return {
    ...strips,
    title: `Random number ${formatPlaces(random, 3)}: ${quoted(tokenizer.tokenText(chosen))} (rank ${rank})`,
    parts: [likeliest.map((token): [number, number] => [probabilities[token], token === chosen ? 0 : -1])],
    at: random,
    note: `The sampling settings leave ${left} tokens.`,
  };
}

/** A token in quotation marks, isolated from the direction of the text around it. */
function quoted(token: string): string {
  return `\u2068“${inlineText(token.replace(/[\u2066-\u2069]/g, ""))}”\u2069`;
}

function entropyInBits(shares: Float32Array): number {
  return -Float64Array.from(shares).reduce((sum, share) => sum + (share > 0 ? share * Math.log2(share) : 0), 0);
}
