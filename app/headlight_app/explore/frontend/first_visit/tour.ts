// A guided tour for the first visit: a word attends to another, the head is turned off, the prediction changes, and
// why. It uses the sentence on the page. It is shown once, in a card that does not take the focus.

import { createButton, createElement, quotedToken, updateChildren } from "../../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { formatPercent, formatSigned } from "../../../ui/frontend/dom/numbers.ts";
import { bringIntoSight } from "../../../ui/frontend/dom/scrolling.ts";
import { mostAttendedKey } from "../../../ui/frontend/heads/query_key_order.ts";
import { switchHeads } from "../../../ui/frontend/state/head_ablation.ts";
import { currentGroup } from "../../../ui/frontend/state/head_selection.ts";
import { readFloats } from "../../../ui/frontend/wire.ts";
import type { AttentionGroup, Candidate, ComponentAnswer, ExplorePage, Token } from "../types.ts";

/** A head, the token it attends to, and the likeliest answer with and without it. */
type Story = {
  group: AttentionGroup;
  layer: number;
  head: number;
  query: Token;
  key: Token;
  added: number;
  answer: Candidate;
  after: number;
};
/**
 * The text of a step, and the part of the page that it scrolls to; the first one scrolls nowhere, since nobody has
 * asked for it.
 */
type Step = { words: (string | Node)[]; about?: "head-title" | "predictions"; next: string; act: () => void };

const KEY = "headlight-tour";
const [TRIES, WORTH_TELLING, LEAST] = [6, 0.02, 0.001]; // heads to try, and thresholds for the change of a share
const LOWEST = 0.5; // of the window's height: the card covers parts that begin lower

const memory = remembered((_: ExplorePage) => ({ offered: false, text: "", remove: () => {} }));

/**
 * Called at each answer. The first answer starts the tour if the visitor has not seen it and did not follow a link, or
 * requests it. An answer to another sentence ends it, because its text would be wrong.
 */
export async function offerTour(page: ExplorePage) {
  const tour = memory(page);
  if (tour.offered) {
    if (tour.text !== page.state.answer.question.text) tour.remove();
    return;
  }
  tour.offered = true;
  const asked = new URLSearchParams(location.search).get("tour") === "1";
  const { presenter, embedded } = page.state.choice;
  if (presenter || embedded || "task_views" in page.state.catalogue) return;
  if (!asked && (location.search !== "" || wasSeen())) return;
  const { answer } = page.state;
  const story = await findStory(page).catch(() => null); // no story without the server
  if (story && answer === page.state.latestAnswer) showTour(page, story);
}

function wasSeen() {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return true; // without storage, the tour would appear at every visit
  }
}

/** The heads that add most to an answer; those that attend to another typed token come first. */
export function headsToTry(
  parts: ComponentAnswer[],
  added: ArrayLike<number>,
  isPlain: (part: ComponentAnswer) => boolean,
) {
  return parts
    .map((part, row) => ({ part, added: added[row] }))
    .filter(({ part }) => part.head >= 0)
    .sort((one, other) => Math.abs(other.added) - Math.abs(one.added))
    .slice(0, 2 * TRIES)
    .sort((one, other) => Number(isPlain(other.part)) - Number(isPlain(one.part)))
    .slice(0, TRIES);
}

/**
 * The first head without which the answer's share changes clearly (WORTH_TELLING), or else the best of those tried;
 * null if none changes it noticeably (LEAST).
 */
async function findStory(page: ExplorePage): Promise<Story | null> {
  const { predictions, question, attention_groups, tokens } = page.state.answer;
  const [prediction] = predictions;
  const groups = attention_groups.filter(({ pooled_shape }) => pooled_shape[0] === tokens.length);
  if (!prediction || prediction.lesson || !groups.length) return null; // no next word is guessed
  const [answer] = [...prediction.candidates].sort((one, other) => other.after - one.after);
  const { position } = prediction;
  const found = await page.server.post("logit_attribution", { question, query: position, token: answer.id });
  if (found.meta.error) return null;
  const groupOf = (part: ComponentAnswer) => groups.find(({ kind }) => kind === part.kind) ?? groups[0];
  const keyOf = (part: ComponentAnswer) => mostAttendedKey(page, groupOf(part), position, part);
  const isPlain = (part: ComponentAnswer) => keyOf(part) !== position && !keyTokenOf(page, part, keyOf(part)).special;
  let best = null as Story | null;
  for (const { part, added } of headsToTry(found.meta.components, readFloats(found.buffer, found.start), isPlain)) {
    const group = groupOf(part);
    const edits = switchHeads(question.edits, group, [[part.layer, part.head]], true);
    const without = await page.server.post("trace", { question: { ...question, edits }, query: position });
    const after = without.meta.predictions?.[0]?.candidates.find(({ id }) => id === answer.id)?.after ?? 0;
    const key = keyTokenOf(page, part, keyOf(part));
    const story = { group, layer: part.layer, head: part.head, query: tokens[position], key, added, answer, after };
    if (!best || worth(story) > worth(best)) best = story;
    if (worth(best) >= WORTH_TELLING) break;
  }
  return best && worth(best) >= LEAST ? best : null;
}

/**
 * The clarity of a story: the change of the answer's share, reduced if its direction contradicts the head's
 * contribution.
 */
export function worth({ answer, after, added }: Pick<Story, "answer" | "after" | "added">) {
  const fall = answer.after - after;
  return fall * added > 0 ? Math.abs(fall) : Math.abs(fall) / 10;
}

function keyTokenOf(page: ExplorePage, { kind }: ComponentAnswer, key: number) {
  const { tokens, source_tokens } = page.state.answer;
  return ((kind === "cross" && source_tokens) || tokens)[key];
}

function showTour(page: ExplorePage, story: Story) {
  const { edits, attention } = page.state.choice;
  const card = createElement("aside", "tour", [], { testid: "tour", ariaLabel: "A first look" });
  const end = () => {
    card.remove();
    try {
      localStorage.setItem(KEY, "seen");
    } catch {} // without storage, the tour appears again at the next visit
  };
  const steps = storySteps(page, story, () => {
    page.change({ edits });
    end();
  });
  const show = (place: number) => {
    drawStep(card, steps, place, show, end);
    const { about } = steps[place];
    if (about) bringIntoSight(findByTestId(page.view.elements.root, about), LOWEST);
  };
  const { group, layer, head } = story;
  const isShown = group.name === currentGroup(page).name; // unchanged, so that Streamlit does not rerun
  const opened = { tab: "heads", attention: isShown ? attention : group.name, quantity: "weights" };
  page.change({ ...opened, layer, head, heads: [] });
  page.view.elements.root.append(card);
  Object.assign(memory(page), { text: page.state.answer.question.text, remove: () => card.remove() });
  show(0);
}

function drawStep(card: HTMLElement, steps: Step[], place: number, show: (place: number) => void, end: () => void) {
  const { words, next, act } = steps[place];
  const sentence = createElement("p", "", words, { role: "status" });
  const onward = createButton("onward", next, "tour-next", () => {
    act();
    if (place + 1 < steps.length) show(place + 1);
  });
  const skip = createButton("skip", "Skip", "tour-skip", end);
  const count = createElement("span", "quiet", `${place + 1} of ${steps.length}`);
  const foot = createElement("footer", "", [count, skip, onward]);
  updateChildren(card, createElement("h2", "", "A first look"), sentence, foot);
}

function storySteps(
  page: ExplorePage,
  { group, layer, head, query, key, added, answer, after }: Story,
  finish: () => void,
): Step[] {
  const name = `head ${head} of layer ${layer}`;
  const fell = after < answer.after;
  return [
    {
      words: [
        "The model reads the sentence above and guesses the next word: ",
        quotedToken(answer),
        ` at ${formatPercent(answer.after)}. Which words does it look at?`,
      ],
      next: "Show me",
      act: () => {},
    },
    {
      words: [
        "In ",
        createElement("b", "", name),
        ", framed in orange, ",
        quotedToken(query),
        " looks most at ",
        quotedToken(key),
        ": the brightest square of its row.",
      ],
      about: "head-title",
      next: "And without it?",
      act: () => {},
    },
    {
      words: ["A head copies information from the words it looks at. Turn this head off, and watch the prediction."],
      about: "head-title",
      next: "Turn it off",
      act: () => page.change({ edits: switchHeads(page.state.choice.edits, group, [[layer, head]], true) }),
    },
    {
      words: [
        "The guess ",
        quotedToken(answer),
        ` ${fell ? "fell" : "rose"} from ${formatPercent(answer.after)} to ${formatPercent(after)}. Grey bars show the values before.`,
      ],
      about: "predictions",
      next: "Why?",
      act: () => {},
    },
    {
      words: [
        `Each head adds to the score of every possible word, its logit. This one had added ${formatSigned(added)} to `,
        quotedToken(answer),
        fell === added > 0
          ? ", and later layers had built on it."
          : " itself, but later layers turned this into the opposite.",
        " Now type, click a head, or click any part of the picture.",
      ],
      about: "predictions",
      next: "Turn it on again",
      act: finish,
    },
  ];
}
