// Parts of every component: elements, tokens as text, numbers as words, canvases.

import type { CanvasStyle, Token } from "../types.ts";
import { HORIZONTAL_STEPS } from "./keyboard.ts";
import { formatPercent } from "./numbers.ts";
import { table } from "./table.ts";

export const QUOTED = /(\u2068.*?\u2069|“[^”]*”)/s; // a text of a visitor or a token
const LISTED = 3; // tokens named in a sentence
const WHOSE = table({
  template: "A part of the chat template. ",
  system: "A system message. ",
  user: "A message of the user. ",
  assistant: "A message of the assistant. ",
});

/** The properties of an element besides its class and its content; `testid` is the name with which tests find it. */
type Properties<Tag extends keyof HTMLElementTagNameMap> = Partial<HTMLElementTagNameMap[Tag]> & { testid?: string };

/** An element with its text or its children; buttons do not submit forms. */
export function createElement<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className?: string,
  content?: string | number | (Node | string)[],
  properties?: Properties<Tag>,
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  if (element instanceof HTMLButtonElement) element.type = "button";
  if (className) element.className = className;
  if (Array.isArray(content)) element.append(...content);
  else if (content !== undefined) element.textContent = String(content);
  if (!properties) return element;
  const { testid, dataset, ...others } = properties;
  Object.assign(element.dataset, dataset, testid && { testid });
  return Object.assign(element, others);
}

export function createButton(
  className: string,
  content: string | number | (Node | string)[],
  testid: string,
  press: (event: MouseEvent) => void,
) {
  return createElement("button", className, content, { testid, onclick: press });
}

/**
 * Replaces the children; those that are the same stay untouched. Keeps the keyboard focus: the element that had it is
 * found again by its test id, or else by its index; if it is gone, the first of its kind receives the focus.
 */
export function updateChildren(parent: Element, ...children: Node[]) {
  const active = activeElement(parent);
  const focused = active && active !== parent && parent.contains(active) ? active : null;
  const similar = focused
    ? focused.dataset.testid
      ? `[data-testid="${CSS.escape(focused.dataset.testid)}"]`
      : focused.localName
    : "";
  const place = focused ? [...parent.querySelectorAll(similar)].indexOf(focused) : -1;
  const wanted = new Set(children);
  for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
  children.forEach((child, index) => {
    if (parent.childNodes[index] !== child) parent.insertBefore(child, parent.childNodes[index] ?? null);
  });
  if (!focused) return;
  if (parent.contains(focused)) return focused.focus({ preventScroll: true });
  const next = parent.querySelectorAll(similar)[place] || parent.querySelector(focused.localName);
  if (!(next instanceof HTMLElement)) return;
  if (next.tabIndex < 0) moveTabStop(parent, next);
  next.focus({ preventScroll: true });
}

/** The focused element in the document or shadow root of a node. */
export function activeElement(node: Node) {
  const root = node.getRootNode();
  const found = root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null;
  return found instanceof HTMLElement ? found : null;
}

/** Makes an element the only tab stop of its kind. */
function moveTabStop(parent: ParentNode, element: HTMLElement) {
  for (const other of parent.querySelectorAll(`${element.localName}[tabindex="0"]`)) {
    if (other instanceof HTMLElement) other.tabIndex = -1;
  }
  element.tabIndex = 0;
}

/** The event's target if it matches a selector, else its nearest ancestor that does. */
export function closest<Type extends HTMLElement = HTMLElement>(event: Event, selector: string): Type | null {
  return event.target instanceof Element ? event.target.closest(selector) : null;
}

/** A piece of text with visible white space; single spaces between two words stay as they are. */
export function visibleText(piece: string) {
  const signs = piece
    .replace(/(?<!\S) | (?!\S)/g, "·")
    .replace(/\n/g, "¶")
    .replace(/\t/g, "→");
  // Unicode has pictures of the other control characters at 0x2400 plus their code.
  return signs.replace(/[\0-\x1f]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0x2400)) || "∅";
}

/** The same for running text, without a leading space. */
export function inlineText(piece: string) {
  return visibleText(piece.replace(/^ (?=.)/, ""));
}

/** The nodes of a sentence. An option of a command, such as --no-browser, is not broken at its hyphens unless quoted. */
export function sentenceNodes(sentence: string): (Node | string)[] {
  return sentence
    .split(QUOTED)
    .flatMap((part, quoted) =>
      quoted % 2
        ? [part]
        : part
            .split(/((?<![\w-])--?[a-z][\w-]*)/)
            .map((piece, odd) => (odd % 2 ? createElement("span", "option", piece) : piece)),
    );
}

/** Whose message of a chat a token is of, as a sentence; empty if it is of no chat. */
export function whose({ role }: Pick<Token, "role">) {
  return role ? WHOSE[role] : "";
}

/** Tells what a click on a chip does, and in a chat whose message its token is of. */
export function describeChip(chip: HTMLElement, token: Token, clicks: string) {
  chip.title = `${whose(token)}${clicks}`;
  if (token.role) chip.ariaLabel = `${inlineText(token.text)} (${token.role})`;
}

/** A token as a button; its leading space is an element of its own. `first`: whether it is the tab stop. */
export function createChip(token: Pick<Token, "text" | "special" | "masked" | "role">, first: boolean) {
  const button = createElement("button", "chip");
  const piece = visibleText(token.text);
  const edge = piece.startsWith("·") && piece.length > 1 ? 1 : 0;
  if (edge) button.append(createElement("i", "space", "·"));
  button.append(createElement("bdi", "", piece.slice(edge)));
  if (token.role) button.dataset.role = token.role;
  button.classList.toggle("special", token.special);
  button.classList.toggle("masked", token.masked);
  button.tabIndex = first ? 0 : -1;
  return button;
}

/** Calls `hovered` for a chip under the pointer or with the keyboard focus; the arrow keys move between chips. */
export function listenToChip(chip: HTMLElement, hovered: Required<Hovered>) {
  onHover(chip, hovered);
  chip.onfocus = () => chip.matches(":focus-visible") && hovered.read();
  chip.onblur = hovered.left;
  chip.onkeydown = (event) => {
    if (moveChipFocus(chip, event)) event.preventDefault();
  };
}

/** Moves the focus between chips with the arrow keys; returns whether it moved. */
export function moveChipFocus(button: HTMLElement, event: KeyboardEvent) {
  const step = HORIZONTAL_STEPS[event.key];
  if (!step) return false;
  const next = step > 0 ? button.nextElementSibling : button.previousElementSibling;
  if (!(next instanceof HTMLElement) || !next.classList.contains("chip")) return false;
  moveTabStop(button.parentNode as ParentNode, next);
  next.focus();
  return true;
}

/** The heading of a row or a column of a table. */
export function createHeading(content: string | number | (Node | string)[], scope: "row" | "col") {
  return createElement("th", "", content, { scope });
}

/** A token in running text, isolated from the text direction around it. */
export function quotedToken(token: Pick<Token, "text">) {
  return createElement("bdi", "token", inlineText(token.text));
}

/** What is looked at if no share is large enough to be named: over a long text each may be small. */
export const NO_LARGE_SHARE = "no token with more than 0.5 %";

/**
 * The tokens with the largest shares, with their percentages; empty if all shares are too small.
 * @param first words before them @param least only larger shares are named
 */
export function largestShares(
  shares: ArrayLike<number>,
  tokens: Pick<Token, "text">[],
  first: string,
  least: number = 0.005,
) {
  return Array.from(shares, (share, place) => ({ share, token: tokens[place] }))
    .filter(({ share }) => share > least)
    .sort((one, other) => other.share - one.share)
    .slice(0, LISTED)
    .flatMap(({ share, token }, rank) => [rank ? ", " : first, quotedToken(token), ` ${formatPercent(share)}`]);
}

/** Rows of a catalogue as options of a select. */
export function optionsOf(rows: { name: string; title: string }[]): [string, string][] {
  return rows.map(({ name, title }) => [name, title]);
}

/** A group of buttons, the chosen one or ones pressed; `options` are pairs of a value and a title. */
export function drawChoices(
  group: HTMLElement,
  field: string,
  options: [string, string][],
  chosen: string | string[],
  choose: (value: string) => void,
) {
  const buttons = options.map(([value, title], place) => {
    const [testid, old] = [`${field}-${value}`, group.children[place]];
    const isSame = old instanceof HTMLButtonElement && old.dataset.testid === testid && old.textContent === title;
    const button = isSame ? old : createElement("button", "", title, { testid });
    button.onclick = () => choose(value);
    button.ariaPressed = String([chosen].flat().includes(value));
    return button;
  });
  updateChildren(group, ...buttons);
}

/** Buttons for examples, each with its title. */
export function drawExampleButtons<Example>(
  element: HTMLElement,
  examples: Example[],
  titleOf: (example: Example) => string,
  choose: (example: Example) => void,
) {
  const buttons = examples.map((example) =>
    createElement("button", "example", titleOf(example), { onclick: () => choose(example) }),
  );
  updateChildren(element, ...buttons);
}

/** Called when the pointer enters an element, and when it leaves. */
type Hovered = { read: () => void; left?: () => void };

/** Calls back when the pointer moves onto an element, but not when an element is redrawn under a resting pointer. */
export function onHover(element: HTMLElement, { read, left = () => {} }: Hovered) {
  let over = false;
  element.onmousemove = () => {
    if (!over) read();
    over = true;
  };
  element.onmouseleave = () => {
    over = false;
    left();
  };
}

/** Marks a button as disabled but focusable; its handler has to check that itself. */
export function setAvailable(button: HTMLElement, available: boolean) {
  button.ariaDisabled = String(!available);
}

export function context2d(canvas: HTMLCanvasElement) {
  return canvas.getContext("2d") as CanvasRenderingContext2D;
}

/** Sizes the canvas in device pixels and returns its cleared context. */
export function hidpiContext(canvas: HTMLCanvasElement, width: number, height: number) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = context2d(canvas);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** Copies the canvas `paper` to another canvas. */
export function blit(paper: HTMLCanvasElement, canvas: HTMLCanvasElement) {
  for (const side of ["width", "height"] as const) {
    if (canvas[side] !== paper[side]) canvas[side] = paper[side];
    if (canvas.style[side] !== paper.style[side]) canvas.style[side] = paper.style[side];
  }
  const context = context2d(canvas);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.drawImage(paper, 0, 0);
}

/** Listens to events by their names, until the returned function is called. @returns ends it */
export function listenTo<Heard extends Event>(
  target: EventTarget,
  listeners: Record<string, (event: Heard) => void>,
  options?: AddEventListenerOptions,
): () => void {
  const ending = new AbortController();
  for (const [name, listener] of Object.entries(listeners))
    target.addEventListener(name, listener as EventListener, { ...options, signal: ending.signal });
  return () => ending.abort();
}

/** The current colours and font, for a canvas. */
export function canvasStyle(root: HTMLElement): CanvasStyle {
  const style = getComputedStyle(root);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: style.color,
    quiet: read("--quiet"),
    line: read("--line"),
    beam: read("--beam"),
    minus: read("--minus"),
    surface: read("--surface"),
    raised: read("--raised"),
    font: style.fontFamily,
    type: Number(read("--type")) || 1,
  };
}

export function truncateText(context: CanvasRenderingContext2D, text: string, width: number) {
  return shortenText(text, width, (words) => context.measureText(words).width);
}

/** A text cut to a width. */
export function shortenText(text: string, width: number, measure: (text: string) => number) {
  if (measure(text) <= width) return text;
  const letters = [...text];
  while (letters.length > 1 && measure(`${letters.join("")}…`) > width) letters.pop();
  return `${letters.join("")}…`;
}
