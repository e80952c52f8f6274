// The current text: prompt, clickable generated tokens, and other branches.

import { createElement, inlineText, onHover, updateChildren, visibleText, whose } from "../../ui/frontend/dom/dom.ts";
import { find } from "../../ui/frontend/dom/elements.ts";
import type { GenerateElements } from "./elements.ts";
import type { Generator } from "./generator.ts";
import type { Axis, Branch, Mode, PageToken, ShownToken, StepRecord } from "./types.ts";

interface TextActions {
  point: (position: number | null) => void; // the pointer is over a token, or over none (null)
  toggleMask: (position: number) => void;
  view: (step: number | null) => void; // shows an earlier step, or the next one (null)
}

const LONGEST_BRANCH = 60; // characters

export class TextView {
  #elements;
  #generator;
  #actions;

  constructor(elements: GenerateElements, generator: Generator, actions: TextActions) {
    this.#elements = elements;
    this.#generator = generator;
    this.#actions = actions;
  }

  draw(mode: Mode) {
    const { newest, endReason, tokens, source } = this.#generator;
    const { page, sourceText } = this.#elements;
    const open = newest && !newest.done && !endReason ? newest : null;
    const parts = tokens.map((token, position) => this.#createToken(token, position, mode));
    if (mode === "continue" && !endReason) parts.push(this.#createSampled(open));
    const isLonger = parts.length > page.childElementCount;
    updateChildren(page, ...parts);
    if (isLonger && mode === "continue") page.scrollTop = page.scrollHeight; // a long text ends below what is in sight
    if (open && mode === "fill") parts[open.position]?.classList.add("asked");
    sourceText.hidden = !source;
    sourceText.replaceChildren(...(source ?? []).map((token) => createWord(token, "token-of-source")));
    this.#drawBranches(mode);
  }

  /** Shades every word by its weight. @param axis the text of the weights */
  shade(weights: ArrayLike<number>, axis: Axis) {
    const words = [...this.#elements.page.children] as HTMLElement[];
    const sources = [...this.#elements.sourceText.children] as HTMLElement[];
    for (const word of [...words, ...sources]) word.style.removeProperty("--shade");
    const keys = axis === "source" ? sources : words;
    Array.from(weights).forEach((weight, key) => {
      if (weight > 0) keys[key]?.style.setProperty("--shade", `${Math.round(Math.sqrt(weight) * 100)}%`);
    });
  }

  /** @param step whose token gets the focus of the keyboard */
  focus(step: number) {
    find(this.#elements.page, `[data-step="${step}"]`).focus({ preventScroll: true });
  }

  #createToken(token: ShownToken, position: number, mode: Mode) {
    const { step } = token;
    const maskable = mode === "fill" && step === null && !token.special;
    const word =
      step === null
        ? maskable
          ? this.#createMaskable(token, position)
          : createWord(token, "word")
        : this.#createWritten(token, step);
    word.dataset.place = String(position);
    if (token.role) {
      word.dataset.role = token.role;
      word.title = `${whose(token)}${word.title}`.trim();
    }
    onHover(word, { read: () => this.#actions.point(position), left: () => this.#actions.point(null) });
    return word;
  }

  #createMaskable(token: ShownToken, position: number) {
    const button = this.#createButton(token, "word", "Click to mask this word", () =>
      this.#actions.toggleMask(position),
    );
    button.tabIndex = position === 1 ? 0 : -1;
    return button;
  }

  #createWritten(token: ShownToken, step: number) {
    const { viewed, generated } = this.#generator;
    const title = "Go back here to see the other candidates and choose one";
    const button = this.#createButton(token, "word generated", title, () =>
      this.#actions.view(viewed === step ? null : step),
    );
    button.dataset.step = String(step);
    button.ariaPressed = String(viewed === step);
    button.tabIndex = step === (viewed ?? generated.length - 1) ? 0 : -1;
    return button;
  }

  #createButton(token: PageToken, className: string, title: string, click: () => void) {
    const button = createElement("button", className, flowingText(token.text), { title });
    button.classList.toggle("gap", token.space_before);
    button.onclick = click;
    button.onkeydown = (event) => this.#moveFocus(button, event);
    return button;
  }

  /** The button of the sampled token that is not taken yet, or is still being fetched (null). */
  #createSampled(record: StepRecord | null) {
    const text = record ? record.chosen_text : " …";
    const button = createElement("button", "word ahead", flowingText(text), { testid: "ahead" });
    button.title = "The sampled token: click to take it";
    button.ariaLabel = record ? `Take ${inlineText(text)}` : "The next token is being computed";
    button.onclick = () => this.#generator.takeSampled();
    return button;
  }

  #moveFocus(button: HTMLButtonElement, event: KeyboardEvent) {
    const words = [...this.#elements.page.querySelectorAll("button")];
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (event.key === "Escape") this.#actions.view(null);
    const next = step ? words[words.indexOf(button) + step] : undefined;
    if (!next) return;
    event.preventDefault();
    button.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  #drawBranches(mode: Mode) {
    const { branches } = this.#generator;
    this.#elements.branches.hidden = !branches.length;
    const buttons = branches.map((branch) => {
      const button = createElement("button", "pill", [
        createElement("span", "quiet", mode === "fill" ? "" : `…${leadOf(branch)}`),
        createElement("bdi", "", textOf(branch)),
      ]);
      button.title = "Continue with this text instead";
      button.onclick = () => this.#generator.switchTo(branch);
      return button;
    });
    updateChildren(this.#elements.branches, createElement("h3", "", "Other branches"), ...buttons);
  }
}

/** A token for readers: spaces stay spaces, other invisible characters become visible signs. */
function flowingText(text: string) {
  const lines = text.split("\n").map((line) => line.replace(/[^ ]+/g, visibleText));
  return lines.join("¶\n") || "∅";
}

/** The last token that a branch shares with the current line, if it is a word. */
function leadOf({ generated, from }: Branch) {
  const before = generated[from - 1];
  return before && /\p{L}/u.test(before.text) ? `${inlineText(before.text)} ` : "";
}

function textOf({ generated, from }: Branch) {
  const text = generated
    .slice(from)
    .map(({ text }) => flowingText(text))
    .join("")
    .replace(/\s+/g, " ")
    .trim();
  return text.length > LONGEST_BRANCH ? `${text.slice(0, LONGEST_BRANCH - 1)}…` : text;
}

function createWord(token: PageToken, className: string) {
  const word = createElement("span", className, flowingText(token.text));
  word.classList.toggle("gap", token.space_before);
  if (token.special) word.classList.add("special");
  return word;
}
