// First answers as bars. Their labels come from the server's question, never from a student.

import type { AskedQuestion } from "../../course/frontend/contract.ts";
import { GIVE_UP } from "../../ui/frontend/contract.ts";
import { table } from "../../ui/frontend/dom/table.ts";
import type { Described, Judged } from "./places.ts";
import { OTHER } from "./places.ts";

export type Asked = Pick<AskedQuestion, "kind" | "text" | "options" | "rows" | "columns">;
/** `isRight` is null for answers that are not marked; `mistake` is the sentence of a known mistake. */
export type Bar = { label: string; count: number; isRight: boolean | null; mistake: string };

const MAX_BARS = 8;
const OTHERS = "something else";

/** Whether all were asked the same: learners of a lesson have their own texts and numbers. */
export function isAlike(judged: Judged[]) {
  const asked = judged.flatMap(({ question }) => question ?? []);
  const keys = asked.map(({ text, about, options, rows, columns }) => [text, about, options, rows, columns]);
  return new Set(keys.map((key) => JSON.stringify(key))).size < 2;
}

/**
 * One bar per option, or per frequent answer; answers to different questions are counted by their marks alone. Typed
 * answers are one bar until the teacher shows them. Answers of one label with different marks, such as drawings, are
 * bars of their own.
 * @param isMarked whether right answers and known mistakes are told
 */
export function countBars(judged: Judged[], showsTyped: boolean, isMarked: boolean): Bar[] {
  const alike = isAlike(judged);
  const asked = judged.find(({ question }) => question)?.question;
  const options = alike && asked?.kind === "choice" ? asked.options : [];
  const bars: Map<string, Bar> = new Map();
  for (const { name, variant, count, question } of judged) {
    const isSecret = !alike || (question && isTyped(question) && !showsTyped);
    const label =
      variant === OTHER
        ? "asked with inputs of their own"
        : name !== GIVE_UP && question && isSecret
          ? verdict(question, alike, isMarked)
          : labelOf(question, name);
    const bar = { ...NO_BAR, ...(isMarked && question ? markOf(question, label) : {}), label };
    const key = JSON.stringify(bar);
    bars.set(key, { ...bar, count: (bars.get(key)?.count ?? 0) + count });
  }
  const counted = [...bars.values()];
  const chosen = options.map((label) => counted.find((bar) => bar.label === label) ?? { ...NO_BAR, label });
  const others = counted.filter(({ label }) => !options.includes(label));
  return shortened([...chosen, ...others], options.length > 0);
}

/** The mark of a bar, and the known mistake unless it is the label; none for what is no answer to the question. */
function markOf({ given, is_right: isRight, mistake }: Described, label: string) {
  return given && isRight !== null ? { isRight, mistake: label === mistake ? "" : mistake } : {};
}

const NO_BAR: Bar = { label: "", count: 0, isRight: null, mistake: "" };

/** The most frequent bars, and one for all others. */
function shortened(bars: Bar[], isWhole: boolean) {
  if (bars.length <= MAX_BARS || isWhole) return bars;
  const sorted = bars.sort((one, other) => other.count - one.count);
  const rest = sorted.slice(MAX_BARS - 1).reduce((sum, { count }) => sum + count, 0);
  return [...sorted.slice(0, MAX_BARS - 1), { ...NO_BAR, label: OTHERS, count: rest }];
}

/** What is said of an answer without the answer itself. */
function verdict(question: Described, isAlikeForAll: boolean, isMarked: boolean) {
  if (isMarked && !question.given) return OTHERS;
  if (isMarked) return question.is_right ? "right" : question.mistake || "another answer";
  return isAlikeForAll ? "a number, not shown" : "answered";
}

export function labelOf(question: Asked | null, answer: string) {
  if (answer === GIVE_UP) return "asked to be shown";
  return (question && KINDS[question.kind](question, answer)) || OTHERS;
}

const KINDS: Record<AskedQuestion["kind"], (question: Asked, answer: string) => string | undefined> = table({
  choice: ({ options }, answer) => options.find((option) => option === answer),
  number: (_question, answer) => {
    const number = Number(answer.replace(",", ".").replace("−", "-"));
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
