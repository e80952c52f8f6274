// First answers as bars. Their labels come from the server's question, never from a student.

import type { AskedQuestion } from "../../course/frontend/contract.ts";
import { table } from "../../ui/frontend/dom/table.ts";
import { SHOWN } from "./answers.ts";
import type { Count } from "./contract.ts";

export type Asked = Pick<AskedQuestion, "kind" | "text" | "options" | "rows" | "columns">;
export type Bar = { label: string; count: number };

const MAX_BARS = 8;
const OTHERS = "something else";

/** One bar per option, or per frequent answer. Typed answers are one bar until the teacher shows them. */
export function countBars(question: Asked, answers: Count[], showsTyped: boolean): Bar[] {
  const options = question.kind === "choice" ? question.options : [];
  const counts: Map<string, number> = new Map(options.map((option) => [option, 0]));
  for (const { name, count } of answers) {
    const label = labelOf(question, name, showsTyped);
    counts.set(label, (counts.get(label) ?? 0) + count);
  }
  const bars = [...counts].map(([label, count]) => ({ label, count }));
  if (bars.length <= MAX_BARS || options.length) return bars;
  const sorted = bars.sort((one, other) => other.count - one.count);
  const rest = sorted.slice(MAX_BARS - 1).reduce((sum, { count }) => sum + count, 0);
  return [...sorted.slice(0, MAX_BARS - 1), { label: OTHERS, count: rest }];
}

function labelOf(question: Asked, answer: string, showsTyped: boolean) {
  if (answer === SHOWN) return "asked to be shown";
  return KINDS[question.kind](question, answer, showsTyped) || OTHERS;
}

const KINDS: Record<
  AskedQuestion["kind"],
  (question: Asked, answer: string, showsTyped: boolean) => string | undefined
> = table({
  choice: ({ options }, answer) => options.find((option) => option === answer),
  number: (_question, answer, showsTyped) => {
    const number = Number(answer.replace(",", ".").replace("−", "-"));
    if (!showsTyped) return "a number, not shown";
    return Number.isFinite(number) ? String(number) : undefined;
  },
  point: ({ rows, columns }, answer) => {
    const [row, column] = answer.split(",").map(Number);
    return rows[row] && columns[column] && `${rows[row]} → ${columns[column]}`;
  },
  order: ({ options }, answer) => {
    const names = answer.split(",").map((place) => options[Number(place)]);
    return names.every(Boolean) ? names.join(" · ") : undefined;
  },
  draw: () => "a drawing",
  design: () => "handed a design in",
  flip: () => "handed a change in",
});

/** Whether the answers are typed, and so hidden until the teacher shows them. */
export function isTyped({ kind }: Asked) {
  return kind === "number";
}
