// Parts of every component: elements, tokens as text, numbers as words, canvases.

import { HORIZONTAL_STEPS } from "./keyboard.js";
import { table } from "./table.js";

/** @import { CanvasStyle, Token } from "../types.js" */

const LISTED = 3; // tokens named in a sentence
const WHOSE = table({
  template: "A part of the chat template. ",
  system: "A system message. ",
  user: "A message of the user. ",
  assistant: "A message of the assistant. ",
});

/**
 * The properties of an element besides its class and its content; `testid` is the name with which tests find it.
 * @template {keyof HTMLElementTagNameMap} Tag @typedef {Partial<HTMLElementTagNameMap[Tag]> & { testid?: string }} Properties
 */

/**
 * An element with its text or its children; buttons do not submit forms.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {string} [className] @param {string | number | (Node | string)[]} [content]
 * @param {Properties<Tag>} [properties] @returns {HTMLElementTagNameMap[Tag]}
 */
export function createElement(tag, className, content, properties) {
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

/** @param {string} className @param {string | number | (Node | string)[]} content @param {string} testid @param {(event: MouseEvent) => void} press */
export function createButton(className, content, testid, press) {
  return createElement("button", className, content, { testid, onclick: press });
}

/**
 * Replaces the children; those that are the same stay untouched. Keeps the keyboard focus: the element that
 * had it is found again by its test id, or else by its index; if it is gone, the first of its kind receives the focus.
 * @param {Element} parent @param {...Node} children
 */
export function updateChildren(parent, ...children) {
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

/** The focused element in the document or shadow root of a node. @param {Node} node */
export function activeElement(node) {
  const root = node.getRootNode();
  const found = root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null;
  return found instanceof HTMLElement ? found : null;
}

/** Makes an element the only tab stop of its kind. @param {ParentNode} parent @param {HTMLElement} element */
function moveTabStop(parent, element) {
  for (const other of parent.querySelectorAll(`${element.localName}[tabindex="0"]`)) {
    if (other instanceof HTMLElement) other.tabIndex = -1;
  }
  element.tabIndex = 0;
}

/**
 * The event's target if it matches a selector, else its nearest ancestor that does.
 * @template {HTMLElement} [Type=HTMLElement] @param {Event} event @param {string} selector @returns {Type | null}
 */
export function closest(event, selector) {
  return event.target instanceof Element ? event.target.closest(selector) : null;
}

/**
 * A piece of text with visible white space; single spaces between two words stay as they are. @param {string} piece
 */
export function visibleText(piece) {
  const signs = piece
    .replace(/(?<!\S) | (?!\S)/g, "·")
    .replace(/\n/g, "¶")
    .replace(/\t/g, "→");
  // Unicode has pictures of the other control characters at 0x2400 plus their code.
  return signs.replace(/[\0-\x1f]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0x2400)) || "∅";
}

/** The same for running text, without a leading space. @param {string} piece */
export function inlineText(piece) {
  return visibleText(piece.replace(/^ (?=.)/, ""));
}

/** Whose message of a chat a token is of, as a sentence; empty if it is of no chat. @param {Pick<Token, "role">} token */
export function whose({ role }) {
  return role ? WHOSE[role] : "";
}

/**
 * Tells what a click on a chip does, and in a chat whose message its token is of.
 * @param {HTMLElement} chip @param {Token} token @param {string} clicks
 */
export function describeChip(chip, token, clicks) {
  chip.title = `${whose(token)}${clicks}`;
  if (token.role) chip.ariaLabel = `${inlineText(token.text)} (${token.role})`;
}

/**
 * A token as a button; its leading space is an element of its own. `first`: whether it is the tab stop.
 * @param {Pick<Token, "text" | "special" | "masked" | "role">} token @param {boolean} first
 */
export function createChip(token, first) {
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

/**
 * Calls `hovered` for a chip under the pointer or with the keyboard focus; the arrow keys move between chips.
 * @param {HTMLElement} chip @param {Required<Hovered>} hovered
 */
export function listenToChip(chip, hovered) {
  onHover(chip, hovered);
  chip.onfocus = () => chip.matches(":focus-visible") && hovered.read();
  chip.onblur = hovered.left;
  chip.onkeydown = (event) => {
    if (moveChipFocus(chip, event)) event.preventDefault();
  };
}

/**
 * Moves the focus between chips with the arrow keys; returns whether it moved.
 * @param {HTMLElement} button @param {KeyboardEvent} event
 */
export function moveChipFocus(button, event) {
  const step = HORIZONTAL_STEPS[event.key];
  if (!step) return false;
  const next = step > 0 ? button.nextElementSibling : button.previousElementSibling;
  if (!(next instanceof HTMLElement) || !next.classList.contains("chip")) return false;
  moveTabStop(/** @type {ParentNode} */ (button.parentNode), next);
  next.focus();
  return true;
}

/**
 * The heading of a row or a column of a table.
 * @param {string | number | (Node | string)[]} content @param {"row" | "col"} scope
 */
export function createHeading(content, scope) {
  return createElement("th", "", content, { scope });
}

/** A token in running text, isolated from the text direction around it. @param {Pick<Token, "text">} token */
export function quotedToken(token) {
  return createElement("bdi", "token", inlineText(token.text));
}

/** What is looked at if no share is large enough to be named: over a long text each may be small. */
export const NO_LARGE_SHARE = "no token with more than 0.5 %";

/**
 * The tokens with the largest shares, with their percentages; empty if all shares are too small.
 * @param {ArrayLike<number>} shares @param {Pick<Token, "text">[]} tokens @param {string} first words before them
 * @param {number} [least] only larger shares are named
 */
export function largestShares(shares, tokens, first, least = 0.005) {
  return Array.from(shares, (share, place) => ({ share, token: tokens[place] }))
    .filter(({ share }) => share > least)
    .sort((one, other) => other.share - one.share)
    .slice(0, LISTED)
    .flatMap(({ share, token }, rank) => [rank ? ", " : first, quotedToken(token), ` ${formatPercent(share)}`]);
}

/** A share as a percentage; one along a direction can be negative. @param {number} share */
export function formatPercent(share) {
  if (!Number.isFinite(share)) return "–";
  const value = Math.abs(share * 100);
  if (value === 0) return "0 %";
  if (value < 0.05) return share < 0 ? ">−0.1 %" : "<0.1 %";
  return `${share < 0 ? "−" : ""}${value.toFixed(1)} %`;
}

/** Rows of a catalogue as options of a select. @param {{ name: string, title: string }[]} rows @returns {[string, string][]} */
export function optionsOf(rows) {
  return rows.map(({ name, title }) => [name, title]);
}

/**
 * A group of buttons, the chosen one or ones pressed; `options` are pairs of a value and a title.
 * @param {HTMLElement} group @param {string} field @param {[string, string][]} options @param {string | string[]} chosen
 * @param {(value: string) => void} choose
 */
export function drawChoices(group, field, options, chosen, choose) {
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

/**
 * Buttons for examples, each with its title.
 * @template Example @param {HTMLElement} element @param {Example[]} examples @param {(example: Example) => string} titleOf
 * @param {(example: Example) => void} choose
 */
export function drawExampleButtons(element, examples, titleOf, choose) {
  const buttons = examples.map((example) =>
    createElement("button", "example", titleOf(example), { onclick: () => choose(example) }),
  );
  updateChildren(element, ...buttons);
}

/** Called when the pointer enters an element, and when it leaves. @typedef {{ read: () => void, left?: () => void }} Hovered */

/**
 * Calls back when the pointer moves onto an element, but not when an element is redrawn under a resting pointer.
 * @param {HTMLElement} element @param {Hovered} hovered
 */
export function onHover(element, { read, left = () => {} }) {
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

/**
 * Marks a button as disabled but focusable; its handler has to check that itself.
 * @param {HTMLElement} button @param {boolean} available
 */
export function setAvailable(button, available) {
  button.ariaDisabled = String(!available);
}

/** @param {HTMLCanvasElement} canvas */
export function context2d(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}

/**
 * Sizes the canvas in device pixels and returns its cleared context.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height
 */
export function hidpiContext(canvas, width, height) {
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

/** Copies the canvas `paper` to another canvas. @param {HTMLCanvasElement} paper @param {HTMLCanvasElement} canvas */
export function blit(paper, canvas) {
  for (const side of /** @type {const} */ (["width", "height"])) {
    if (canvas[side] !== paper[side]) canvas[side] = paper[side];
    if (canvas.style[side] !== paper.style[side]) canvas.style[side] = paper.style[side];
  }
  const context = context2d(canvas);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.drawImage(paper, 0, 0);
}

/**
 * Listens to events by their names, until the returned function is called.
 * @template {Event} Heard @param {EventTarget} target @param {Record<string, (event: Heard) => void>} listeners
 * @param {AddEventListenerOptions} [options] @returns {() => void} ends it
 */
export function listenTo(target, listeners, options) {
  const ending = new AbortController();
  for (const [name, listener] of Object.entries(listeners))
    target.addEventListener(name, /** @type {EventListener} */ (listener), { ...options, signal: ending.signal });
  return () => ending.abort();
}

/** The current colours and font, for a canvas. @param {HTMLElement} root @returns {CanvasStyle} */
export function canvasStyle(root) {
  const style = getComputedStyle(root);
  /** @param {string} name */
  const read = (name) => style.getPropertyValue(name).trim();
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

/** @param {CanvasRenderingContext2D} context @param {string} text @param {number} width */
export function truncateText(context, text, width) {
  return shortenText(text, width, (words) => context.measureText(words).width);
}

/** A text cut to a width. @param {string} text @param {number} width @param {(text: string) => number} measure */
export function shortenText(text, width, measure) {
  if (measure(text) <= width) return text;
  const letters = [...text];
  while (letters.length > 1 && measure(`${letters.join("")}…`) > width) letters.pop();
  return `${letters.join("")}…`;
}
