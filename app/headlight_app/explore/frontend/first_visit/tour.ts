// A guided tour for the first visit: a word attends to another, the head is turned off, the prediction changes, why, and
// what to see next. It uses the sentence on the page, with the heads that the model's card names for the first example.
// It is shown once, in a card that does not take the focus.

import { leaderOf } from "../../../ui/frontend/charts/answer_numbers.ts";
import { createButton, createElement, quotedToken, updateChildren } from "../../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { formatPercent, formatSigned } from "../../../ui/frontend/dom/numbers.ts";
import { bringIntoSight } from "../../../ui/frontend/dom/scrolling.ts";
import { mostAttendedKey } from "../../../ui/frontend/heads/query_key_order.ts";
import { isOff, switchHeads } from "../../../ui/frontend/state/head_ablation.ts";
import { currentGroup } from "../../../ui/frontend/state/head_selection.ts";
import { readFloats } from "../../../ui/frontend/wire.ts";
import { countChanges } from "../edits/edit_history.ts";
import type {
  AttentionGroup,
  Candidate,
  Choice,
  ComponentAnswer,
  ExplorePage,
  FirstTaskRow,
  Prediction,
  Token,
} from "../types.ts";

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
const SMALL = 0.5; // of a logit: too little to explain a clear change of a share
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
  if (presenter || embedded || "task_views" in page.state.catalogue || !page.server.answers("logit_attribution"))
    return;
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

async function findStory(page: ExplorePage) {
  return (await cardStory(page)) ?? (await searchedStory(page));
}

/** The story of the heads that the model's card names; null for another input than its first example. */
async function cardStory(page: ExplorePage): Promise<Story | null> {
  const heads = cardHeads(page);
  if (!heads.length) return null;
  const { query } = page.state.catalogue.tour;
  const { answer } = page.state;
  const asked = query < 0 ? answer : (await page.server.post("trace", { question: answer.question, query })).meta;
  const [prediction] = asked.predictions ?? [];
  if (!prediction || prediction.lesson) return null;
  const story = await tellStory(page, prediction, heads, await attributionOf(page, prediction));
  return worth(story) >= LEAST ? story : null;
}

function cardHeads({ state }: ExplorePage): StoryHead[] {
  const [{ text, source }] = state.catalogue.examples;
  const { question, attention_groups } = state.answer;
  const isExample = question.text === text && question.source === source && !question.image;
  if (!isExample || countChanges(state.choice)) return [];
  return state.catalogue.tour.heads.flatMap(({ attention, layer, head }) => {
    const group = attention_groups.find(({ name }) => name === attention);
    return group ? [{ group, layer, head }] : [];
  });
}

/**
 * The story of the first head without which the answer's share changes clearly (WORTH_TELLING), or else the best of
 * those tried; null if none changes it noticeably (LEAST), and if no answer is guessed.
 */
async function searchedStory(page: ExplorePage): Promise<Story | null> {
  const [prediction] = page.state.answer.predictions;
  if (!prediction || prediction.lesson) return null;
  const found = await attributionOf(page, prediction);
  let best = null as Story | null;
  for (const head of found ? plainHeads(page, prediction.position, found) : []) {
    const story = await tellStory(page, prediction, [head], found);
    if (!best || worth(story) > worth(best)) best = story;
    if (worth(best) >= WORTH_TELLING) break;
  }
  return best && worth(best) >= LEAST ? best : null;
}

async function attributionOf(page: ExplorePage, prediction: Prediction): Promise<Attribution | null> {
  const { question } = page.state.answer;
  const { position: query } = prediction;
  const token = leaderOf(prediction).id;
  const { meta, buffer, start } = await page.server.post("logit_attribution", { question, query, token });
  return meta.error ? null : { parts: meta.components, added: readFloats(buffer, start) };
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
  const edits = switched(question.edits, heads, true);
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

function switched(edits: string[], heads: StoryHead[], off: boolean) {
  return heads.reduce((all, { group, layer, head }) => switchHeads(all, group, [[layer, head]], off), edits);
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
  const before = page.state.choice;
  const card = createElement("aside", "tour", [], { testid: "tour", ariaLabel: "A first look" });
  const end = () => {
    const patch = undone(page, story, before);
    if (Object.keys(patch).length) page.change(patch);
    card.remove();
    try {
      localStorage.setItem(KEY, "seen");
    } catch {} // without storage, the tour appears again at the next visit
  };
  const steps = storySteps(page, story, end);
  const show = (place: number) => {
    drawStep(card, steps, place, show, end);
    const { about } = steps[place];
    if (about) bringIntoSight(findByTestId(page.view.elements.root, about), LOWEST);
  };
  const [{ group, layer, head }] = story.heads;
  const { position } = story.prediction;
  const isShown = group.name === currentGroup(page).name; // unchanged, so that Streamlit does not rerun
  const opened = { tab: "heads", attention: isShown ? before.attention : group.name, quantity: "weights" };
  const isAsked = page.state.answer.predictions.some((one) => one.position === position);
  page.change({ ...opened, layer, head, heads: [], ...(!isAsked && { query: position }) });
  page.view.elements.root.append(card);
  Object.assign(memory(page), { text: page.state.answer.question.text, remove: () => card.remove() });
  show(0);
}

/** The heads on again and the query as before the tour, but not what the visitor has changed meanwhile. */
function undone({ state }: ExplorePage, { heads, prediction }: Story, before: Choice): Partial<Choice> {
  const { edits, query } = state.choice;
  const turnedOff = heads.filter(({ group, layer, head }) => !isOff(before.edits, group, layer, head));
  const on = switched(edits, turnedOff, false);
  return {
    ...(String(on) !== String(edits) && { edits: on }),
    ...(query === prediction.position && query !== before.query && { query: before.query }),
  };
}

function drawStep(card: HTMLElement, steps: Step[], place: number, show: (place: number) => void, end: () => void) {
  const { words, next, act } = steps[place];
  const unbroken = words.map((word) => (typeof word === "string" ? word.replace(/(\d) %/g, "$1\u00a0%") : word));
  const sentence = createElement("p", "", unbroken, { role: "status" });
  const onward = createButton("onward", next, "tour-next", () => {
    act();
    if (place + 1 < steps.length) show(place + 1);
  });
  const skip = createButton("skip", "Skip", "tour-skip", end);
  const count = createElement("span", "quiet", `${place + 1} of ${steps.length}`);
  const foot = createElement("footer", "", [count, skip, onward]);
  updateChildren(card, createElement("h2", "", "A first look"), sentence, foot);
}

/** @param end of the tour, with all as before */
function storySteps(page: ExplorePage, story: Story, end: () => void): Step[] {
  const { heads, added, answer, after } = story;
  const fell = after < answer.after;
  const turnOff = () => page.change({ edits: switched(page.state.choice.edits, heads, true) });
  const why: Step[] =
    added === null
      ? []
      : [{ words: whyWords(page, story, added), about: "predictions", next: "And now?", act: () => {} }];
  return [
    { words: answerWords(page, story), next: "Show me", act: () => {} },
    { words: lookWords(page, story), about: "head-title", next: "Turn it off", act: turnOff },
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
    { words: nextWords(page, end), next: "Turn it on again", act: end },
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

function lookWords(page: ExplorePage, { heads, query, key }: Story) {
  const [first, ...others] = heads.map(({ layer, head }) => `head ${head} of layer ${layer}`);
  const isPlain = key !== query && !key.special;
  return [
    "In ",
    createElement("b", "", first),
    ", framed in orange, ",
    quotedToken(query),
    " looks most at ",
    ...(key === query ? ["itself"] : [isOfPatches(page, heads[0]) ? "the patch " : "", quotedToken(key)]),
    isPlain ? ". A head copies information from what it looks at. " : ". ",
    `Turn it off${others.length ? ` together with ${others.join(" and ")}` : ""}, and watch the prediction.`,
  ];
}

function isOfPatches({ state }: ExplorePage, { group }: StoryHead) {
  return group.keys === state.answer.patches?.side;
}

function leaderWords({ answer, leader }: Story) {
  return leader.id === answer.id ? [] : [", and ", quotedToken(leader), ` leads at ${formatPercent(leader.after)}`];
}

/** What the heads had added themselves; and, as far as the model has later parts, what these did with it. */
function whyWords({ state }: ExplorePage, { heads, answer, after }: Story, added: number) {
  const [these, its, it] =
    heads.length > 1 ? [`These ${heads.length} heads`, "Their", "they write"] : ["This one", "Its", "it writes"];
  const hasLaterLayers = heads.some(({ group, layer }) => layer + 1 < group.layers);
  const hasLaterParts = hasLaterLayers || state.catalogue.has_feed_forward;
  const explains = Math.abs(added) >= SMALL && after < answer.after === added > 0;
  const effect = `. ${its} effect goes through later parts, which read what ${it}.`;
  return [
    `Each head adds to the score of every possible answer, its logit. ${these} had added ${formatSigned(added)} to `,
    quotedToken(answer),
    explains && hasLaterLayers ? ", and later layers had built on it." : !explains && hasLaterParts ? effect : ".",
  ];
}

/** Where to go from here: tasks in which attention is easy to read. */
function nextWords(page: ExplorePage, leave: () => void) {
  const tasks = page.state.catalogue.first_tasks;
  return [
    "Now type, click a head, or click any part of the picture.",
    ...tasks.flatMap((task, place) => [
      place ? ", and " : " Next, see ",
      taskLink(page, task, leave),
      `, ${task.shows}`,
    ]),
    tasks.length ? "." : "",
  ];
}

/** A link to a task with its own model; the device and other settings stay. */
function taskLink(page: ExplorePage, { name, title, model }: FirstTaskRow, leave: () => void) {
  const address = () => {
    const settings = [...new URLSearchParams(location.search)].filter(
      ([of]) => of in page.state.catalogue.link_settings,
    );
    return `tasks?${new URLSearchParams({ task: name, ...Object.fromEntries(settings), model })}`;
  };
  const link = createElement("a", "", title, { href: address() });
  link.onclick = () => {
    leave();
    page.reporter.flush(); // the address that Back returns to has all choices
    link.href = address();
  };
  return link;
}
