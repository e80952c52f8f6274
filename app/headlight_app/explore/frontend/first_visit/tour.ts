// A guided tour for the first visit: a word attends to another, the head is turned off, the prediction changes, why, and
// what to see next. It uses the sentence on the page, with the heads that the model's card names for the first example.
// It is shown once, in a card that does not take the focus.

import { formatSigned } from "../../../ui/frontend/charts/charts.ts";
import {
  createButton,
  createElement,
  formatPercent,
  quotedToken,
  updateChildren,
} from "../../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { mostAttendedKey } from "../../../ui/frontend/heads/query_key_order.ts";
import { switchHeads } from "../../../ui/frontend/state/head_ablation.ts";
import { currentGroup } from "../../../ui/frontend/state/head_selection.ts";
import { readFloats } from "../../../ui/frontend/wire.ts";
import { countChanges } from "../edits/edit_history.ts";
import type { AttentionGroup, Candidate, ComponentAnswer, ExplorePage, Prediction, Token } from "../types.ts";

type StoryHead = { group: AttentionGroup; layer: number; head: number };

/** Heads, the token that the first one attends to, and the likeliest answer with and without them. */
type Story = {
  heads: StoryHead[];
  prediction: Prediction;
  query: Token;
  key: Token;
  /** By the heads to the answer's logit; null for an answer that is no sum. */
  added: number | null;
  answer: Candidate;
  after: number;
  /** The likeliest answer without the heads. */
  leader: Candidate;
};

type Attribution = { parts: ComponentAnswer[]; added: ArrayLike<number> };
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
 * The story of the heads that are known for the opening. For another text: of the first head without which the answer's
 * share changes clearly (WORTH_TELLING), or else the best of those tried; null if none changes it noticeably (LEAST).
 */
async function findStory(page: ExplorePage): Promise<Story | null> {
  const { question } = page.state.answer;
  const { heads, query } = knownHeads(page);
  const asked = query < 0 ? page.state.answer : (await page.server.post("trace", { question, query })).meta;
  const [prediction] = asked.predictions ?? [];
  if (!prediction || prediction.lesson) return null; // no answer is guessed
  const found = await attributionOf(page, prediction);
  if (heads.length) return tellStory(page, prediction, heads, found);
  let best = null as Story | null;
  for (const head of found ? plainHeads(page, prediction.position, found) : []) {
    const story = await tellStory(page, prediction, [head], found);
    if (!best || worth(story) > worth(best)) best = story;
    if (worth(best) >= WORTH_TELLING) break;
  }
  return best && worth(best) >= LEAST ? best : null;
}

/** The heads of the tour of the model's opening, and the position of its answer; none for another question. */
function knownHeads({ state }: ExplorePage): { heads: StoryHead[]; query: number } {
  const { opening, tour } = state.catalogue;
  const { question, attention_groups } = state.answer;
  const isOpening = question.text === opening.text && question.source === opening.source && !countChanges(state.choice);
  const heads = tour.heads.flatMap(({ attention, layer, head }) => {
    const group = attention_groups.find(({ name }) => name === attention);
    return group ? [{ group, layer, head }] : [];
  });
  return isOpening && heads.length ? { heads, query: tour.query } : { heads: [], query: -1 };
}

async function attributionOf(page: ExplorePage, prediction: Prediction): Promise<Attribution | null> {
  const { question } = page.state.answer;
  const { position: query } = prediction;
  const token = leaderOf(prediction).id;
  const { meta, buffer, start } = await page.server.post("logit_attribution", { question, query, token });
  return meta.error ? null : { parts: meta.components, added: readFloats(buffer, start) };
}

function leaderOf({ candidates }: Prediction) {
  return candidates.reduce((one, other) => (other.after > one.after ? other : one));
}

function plainHeads(page: ExplorePage, position: number, { parts, added }: Attribution): StoryHead[] {
  const { attention_groups, tokens } = page.state.answer;
  const groups = attention_groups.filter(({ pooled_shape }) => pooled_shape[0] === tokens.length);
  if (!groups.length) return [];
  const headOf = (part: ComponentAnswer) => ({
    ...part,
    group: groups.find(({ kind }) => kind === part.kind) ?? groups[0],
  });
  const isPlain = (part: ComponentAnswer) => {
    const key = mostAttendedKey(page, headOf(part).group, position, part);
    return key !== position && !keyTokenOf(page, headOf(part).group, key).special;
  };
  return headsToTry(parts, added, isPlain).map(({ part }) => headOf(part));
}

async function tellStory(
  page: ExplorePage,
  prediction: Prediction,
  heads: StoryHead[],
  found: Attribution | null,
): Promise<Story> {
  const { question, tokens } = page.state.answer;
  const { position } = prediction;
  const answer = leaderOf(prediction);
  const edits = withoutHeads(question.edits, heads);
  const { meta } = await page.server.post("trace", { question: { ...question, edits }, query: position });
  const without = meta.predictions.find((one) => one.position === position) ?? prediction;
  const after = without.candidates.find(({ id }) => id === answer.id)?.after ?? 0;
  const [{ group, ...first }] = heads;
  const key = keyTokenOf(page, group, mostAttendedKey(page, group, position, first));
  const added = found && heads.reduce((sum, head) => sum + addedBy(head, found), 0);
  return { heads, prediction, query: tokens[position], key, added, answer, after, leader: leaderOf(without) };
}

function addedBy({ group, layer, head }: StoryHead, { parts, added }: Attribution) {
  const isHead = (part: ComponentAnswer) => part.kind === group.kind && part.layer === layer && part.head === head;
  return added[parts.findIndex(isHead)] ?? 0;
}

function withoutHeads(edits: string[], heads: StoryHead[]) {
  return heads.reduce((all, { group, layer, head }) => switchHeads(all, group, [[layer, head]], true), edits);
}

/**
 * The clarity of a story: the change of the answer's share, reduced if its direction contradicts the head's
 * contribution.
 */
export function worth({ answer, after, added }: Pick<Story, "answer" | "after" | "added">) {
  const fall = answer.after - after;
  return fall * (added ?? 0) > 0 ? Math.abs(fall) : Math.abs(fall) / 10;
}

function keyTokenOf(page: ExplorePage, { keys }: AttentionGroup, key: number) {
  const { tokens, source_tokens } = page.state.answer;
  return ((keys === "source" && source_tokens) || tokens)[key];
}

function showTour(page: ExplorePage, story: Story) {
  const { edits, attention, query } = page.state.choice;
  const card = createElement("aside", "tour", [], { testid: "tour", ariaLabel: "A first look" });
  const end = () => {
    card.remove();
    try {
      localStorage.setItem(KEY, "seen");
    } catch {} // without storage, the tour appears again at the next visit
  };
  const finish = () => {
    page.change({ edits, query });
    end();
  };
  const steps = storySteps(page, story, finish, end);
  const show = (place: number) => {
    drawStep(card, steps, place, show, end);
    const { about } = steps[place];
    if (about) bringIntoSight(findByTestId(page.view.elements.root, about));
  };
  const [{ group, layer, head }] = story.heads;
  const isShown = group.name === currentGroup(page).name; // unchanged, so that Streamlit does not rerun
  const opened = { tab: "heads", attention: isShown ? attention : group.name, quantity: "weights" };
  const asked = knownHeads(page).query;
  page.change({ ...opened, layer, head, heads: [], ...(asked >= 0 && { query: asked }) });
  page.view.elements.root.append(card);
  Object.assign(memory(page), { text: page.state.answer.question.text, remove: () => card.remove() });
  show(0);
}

/** Scrolls to a part unless its top is visible above the card. */
function bringIntoSight(part: HTMLElement) {
  const { top } = part.getBoundingClientRect();
  if (top < 0 || top > LOWEST * innerHeight) part.scrollIntoView();
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

/** @param leave for another page, where the tour is not continued */
function storySteps(page: ExplorePage, story: Story, finish: () => void, leave: () => void): Step[] {
  const { heads, added, answer, after } = story;
  const fell = after < answer.after;
  const turnOff = () => page.change({ edits: withoutHeads(page.state.choice.edits, heads) });
  const why: Step[] =
    added === null ? [] : [{ words: whyWords(story, added), about: "predictions", next: "And now?", act: () => {} }];
  return [
    { words: answerWords(page, story), next: "Show me", act: () => {} },
    { words: lookWords(story), about: "head-title", next: "Turn it off", act: turnOff },
    {
      words: [
        quotedToken(answer),
        ` ${fell ? "falls" : "rises"} from ${formatPercent(answer.after)} to ${formatPercent(after)}`,
        ...leaderWords(story),
        ". Grey bars show the values before.",
      ],
      about: "predictions",
      next: why.length ? "Why?" : "And now?",
      act: () => {},
    },
    ...why,
    { words: nextWords(leave), next: "Turn it on again", act: finish },
  ];
}

/** What the model read, and its answer. */
function answerWords(page: ExplorePage, { heads, prediction, answer }: Story) {
  const { images, hears } = page.state.catalogue;
  const read = images ? (hears ? "recording" : "picture") : "text";
  const { title, preposition, token_text } = prediction;
  return [
    `The model reads the ${read} above. ${title} ${preposition}`,
    ...(token_text === null ? [] : [quotedToken({ text: token_text })]),
    ": ",
    quotedToken(answer),
    `, at ${formatPercent(answer.after)}. Which ${heads.length > 1 ? "heads are" : "head is"} behind that?`,
  ];
}

function lookWords({ heads, query, key }: Story) {
  const [first, ...others] = heads.map(({ layer, head }) => `head ${head} of layer ${layer}`);
  return [
    "In ",
    createElement("b", "", first),
    ", framed in orange, ",
    quotedToken(query),
    " looks most at ",
    ...(key === query ? ["itself"] : [quotedToken(key)]),
    `. A head copies information from what it looks at. Turn it off${others.length ? ` with ${others.join(" and ")}` : ""}, and watch the prediction.`,
  ];
}

function leaderWords({ answer, leader }: Story) {
  return leader.id === answer.id ? [] : [", and ", quotedToken(leader), ` leads at ${formatPercent(leader.after)}`];
}

function whyWords({ heads, answer, after }: Story, added: number) {
  const these = heads.length > 1 ? `These ${heads.length} heads` : "This one";
  return [
    `Each head adds to the score of every possible answer, its logit. ${these} had added ${formatSigned(added)} to `,
    quotedToken(answer),
    after < answer.after === added > 0
      ? ", and later layers had built on it."
      : " itself, but later layers turned this into the opposite.",
  ];
}

/** Where to go from here: two tasks in which attention is easy to read. */
function nextWords(leave: () => void) {
  const task = (name: string, title: string, model: string) =>
    createElement("a", "", title, { href: `tasks?${new URLSearchParams({ task: name, model })}`, onclick: leave });
  return [
    "Now type, click a head, or click any part of the picture. Next, see ",
    task("translate", "Translate", "translate"),
    ", with a line from each French word to the English that it reads, and ",
    task("describe", "Describe", "caption"),
    ", with the part of a picture lit that each word is about.",
  ];
}
