// Parts of every component: elements, tokens as text, numbers as words, sheets to draw on.

import { HORIZONTAL_STEPS } from "./keyboard.js";

/** @import { CanvasStyle, Token } from "../types.js" */

const LISTED = 3; // tokens that words name

/**
 * What an element is given besides its class and its content; `testid` is the name by which tests find it.
 * @template {keyof HTMLElementTagNameMap} Tag @typedef {Partial<HTMLElementTagNameMap[Tag]> & { testid?: string }} Properties
 */

/**
 * An element with its text or its children; buttons are of the type that submits no form.
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
 * Puts new children in the place of the old; those that lead and are the same stay untouched. A repaint takes nothing out
 * of a person's hands: what had the focus of the keyboard has it again, found by its test name or else by its place; the
 * first of its kind has it where it is gone.
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
  let kept = 0;
  while (kept < children.length && parent.childNodes[kept] === children[kept]) kept++;
  while (parent.childNodes.length > kept) parent.lastChild?.remove();
  parent.append(...children.slice(kept));
  if (!focused) return;
  if (parent.contains(focused)) return focused.focus({ preventScroll: true });
  const next = parent.querySelectorAll(similar)[place] || parent.querySelector(focused.localName);
  if (!(next instanceof HTMLElement)) return;
  if (next.tabIndex < 0) moveTabStop(parent, next);
  next.focus({ preventScroll: true });
}

/** The element of the same document or shadow root that has the focus of the keyboard. @param {Node} node */
export function activeElement(node) {
  const root = node.getRootNode();
  const found = root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null;
  return found instanceof HTMLElement ? found : null;
}

/** The tab key lands on one element of its kind. @param {ParentNode} parent @param {HTMLElement} element */
function moveTabStop(parent, element) {
  for (const other of parent.querySelectorAll(`${element.localName}[tabindex="0"]`)) {
    if (other instanceof HTMLElement) other.tabIndex = -1;
  }
  element.tabIndex = 0;
}

/**
 * The nearest element around an event's target that fits a selector.
 * @template {HTMLElement} [Type=HTMLElement] @param {Event} event @param {string} selector @returns {Type | null}
 */
export function closest(event, selector) {
  return event.target instanceof Element ? event.target.closest(selector) : null;
}

/**
 * A piece of text with its white space made visible, as the reader should see it; one space between two words can be
 * seen as it is. @param {string} piece
 */
export function visibleText(piece) {
  const signs = piece
    .replace(/(?<!\S) | (?!\S)/g, "·")
    .replace(/\n/g, "⏎")
    .replace(/\t/g, "→");
  // Other control characters have pictures of their own, 0x2400 further on.
  return signs.replace(/[\0-\x1f]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0x2400)) || "∅";
}

/** The same for running text: a leading space is left out. @param {string} piece */
export function inlineText(piece) {
  return visibleText(piece.replace(/^ (?=.)/, ""));
}

/**
 * A token as a button; the space it carries in front stands apart. `first` says whether the tab key lands on it.
 * @param {Pick<Token, "text" | "special" | "masked">} token @param {boolean} first
 */
export function createChip(token, first) {
  const button = createElement("button", "chip");
  const piece = visibleText(token.text);
  const edge = piece.startsWith("·") && piece.length > 1 ? 1 : 0;
  if (edge) button.append(createElement("i", "space", "·"));
  button.append(createElement("bdi", "", piece.slice(edge)));
  button.classList.toggle("special", token.special);
  button.classList.toggle("masked", token.masked);
  button.tabIndex = first ? 0 : -1;
  return button;
}

/**
 * Reads a chip that the pointer or the keyboard is on; the arrow keys go from chip to chip.
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
 * The arrow keys go from chip to chip: whether the key meant one that is there.
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

/** A token in running text, kept apart from the direction of the words around it. @param {Pick<Token, "text">} token */
export function quotedToken(token) {
  return createElement("bdi", "token", inlineText(token.text));
}

/**
 * The tokens with the largest shares, and how large they are, in words; nothing where no share is worth a word.
 * @param {ArrayLike<number>} shares @param {Pick<Token, "text">[]} tokens @param {string} first before the first of them
 * @param {number} [least] a share above it is worth a word
 */
export function largestShares(shares, tokens, first, least = 0.005) {
  return Array.from(shares, (share, place) => ({ share, token: tokens[place] }))
    .filter(({ share }) => share > least)
    .sort((one, other) => other.share - one.share)
    .slice(0, LISTED)
    .flatMap(({ share, token }, rank) => [rank ? ", " : first, quotedToken(token), ` ${formatPercent(share)}`]);
}

/** @param {number} share */
export function formatPercent(share) {
  if (!Number.isFinite(share)) return "–";
  const value = share * 100;
  if (value === 0) return "0 %";
  return value < 0.05 ? "<0.1 %" : `${value.toFixed(1)} %`;
}

/** Rows of a catalogue as what is chosen from. @param {{ name: string, title: string }[]} rows @returns {[string, string][]} */
export function optionsOf(rows) {
  return rows.map(({ name, title }) => [name, title]);
}

/**
 * Buttons of which one is pressed; `options` are pairs of a value and a title.
 * @param {HTMLElement} group @param {string} field @param {[string, string][]} options @param {string} chosen
 * @param {(value: string) => void} choose
 */
export function drawChoices(group, field, options, chosen, choose) {
  const buttons = options.map(([value, title], place) => {
    const [testid, old] = [`${field}-${value}`, group.children[place]];
    const isSame = old instanceof HTMLButtonElement && old.dataset.testid === testid && old.textContent === title;
    const button = isSame ? old : createElement("button", "", title, { testid });
    button.onclick = () => choose(value);
    button.ariaPressed = String(chosen === value);
    return button;
  });
  updateChildren(group, ...buttons);
}

/**
 * Buttons with things worth trying, each with its title.
 * @template Example @param {HTMLElement} element @param {Example[]} examples @param {(example: Example) => string} titleOf
 * @param {(example: Example) => void} choose
 */
export function drawExampleButtons(element, examples, titleOf, choose) {
  const buttons = examples.map((example) =>
    createElement("button", "example", titleOf(example), { onclick: () => choose(example) }),
  );
  updateChildren(element, ...buttons);
}

/** What is done while the pointer is on an element, and once it has left. @typedef {{ read: () => void, left?: () => void }} Hovered */

/**
 * Calls back for the element that the pointer moves onto. Elements redrawn under a resting pointer do not count.
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
 * A button that does nothing for now and keeps the focus of the keyboard: what it calls has to see that itself.
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
 * Sizes the canvas for the screen's own pixels and hands out its context, cleared.
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

/** Shows on one canvas what another holds. @param {HTMLCanvasElement} paper @param {HTMLCanvasElement} canvas */
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
 * Listens to events by their names, until it is ended.
 * @template {Event} Heard @param {EventTarget} target @param {Record<string, (event: Heard) => void>} listeners
 * @param {AddEventListenerOptions} [options] @returns {() => void} ends it
 */
export function listenTo(target, listeners, options) {
  const ending = new AbortController();
  for (const [name, listener] of Object.entries(listeners))
    target.addEventListener(name, /** @type {EventListener} */ (listener), { ...options, signal: ending.signal });
  return () => ending.abort();
}

/** The colours and the font in force, for a canvas. @param {HTMLElement} root @returns {CanvasStyle} */
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

/** As much of a text as is not wider than that. @param {string} text @param {number} width @param {(text: string) => number} measure */
export function shortenText(text, width, measure) {
  if (measure(text) <= width) return text;
  const letters = [...text];
  while (letters.length > 1 && measure(`${letters.join("")}…`) > width) letters.pop();
  return `${letters.join("")}…`;
}
