// Controls as views: options as buttons, as toggles, as a select, as a slider or as steps, and a text to be typed.

import { fillSelect, setValue } from "../charts/charts.ts";
import { activeElement, createElement, drawChoices, updateChildren } from "../dom/dom.ts";
import { remembered } from "../dom/memory.ts";
import type { ChoiceView, InputView, Pick, Picks, View } from "./types.ts";

const PACE = 600; // milliseconds for a step
const memory = remembered((_place: HTMLElement) => ({
  timer: 0,
  chosen: 0,
  options: 0,
  toggled: null as Pick | null,
  picks: null as Picks | null,
  choose: (() => {}) as (option: number) => void,
}));

export function isControl(view: View): view is ChoiceView | InputView {
  return view.kind === "choice" || view.kind === "input";
}

/** Draws a control into a place that may show it already: then whoever uses it is not interrupted. */
export function drawControl(place: HTMLElement, view: ChoiceView | InputView, picks: Picks) {
  if (!place.hasChildNodes()) place.append(...createParts(view));
  const control = place.querySelector(".widget") as HTMLElement;
  if (view.kind === "choice" && view.title) control.dataset.testid = testIdOf(view);
  if (view.kind === "input") return drawInput(control as HTMLInputElement, view, picks);
  const choose = (option: string | number) => picks.choose(view.picks[Number(option)]);
  const chosen = chosenOption(view, picks);
  const options = view.options.map((title, option) => [String(option), title] as [string, string]);
  if (view.form === "toggles") return drawToggles(control, view, picks);
  if (view.form === "buttons") drawChoices(control, "option", options, String(chosen), choose);
  else if (view.form === "actions") drawActions(control, view, options, choose);
  else if (view.form === "select") fillSelect(control as HTMLSelectElement, options, chosen, choose);
  else if (view.form === "steps") drawSteps(control, view, picks, choose);
  else drawSlider(control as HTMLInputElement, view.options, chosen, choose);
}

/** The option whose pick is the page's choice, before the answer that has it, or else the one that the answer names. */
function chosenOption({ chosen, picks: options }: ChoiceView, picks: Picks) {
  const found = options.findIndex((pick) => picks.isChosen(pick));
  return found >= 0 ? found : Number(chosen ?? found);
}

function createParts(view: ChoiceView | InputView): HTMLElement[] {
  if (view.kind === "choice" && view.form === "actions") return [createElement("div", "widget actions")];
  if (view.kind === "choice" && view.form === "steps") return [createStepButtons(view)];
  if (view.kind === "choice" && (view.form === "buttons" || view.form === "toggles")) {
    const buttons = createElement("div", "widget choices");
    if (view.title) Object.assign(buttons, { role: "group", ariaLabel: view.title });
    return [buttons];
  }
  const control =
    view.kind === "choice" && view.form === "select"
      ? createElement("select", "widget")
      : createElement("input", "widget", [], { type: view.kind === "input" ? "text" : "range" });
  const isSlider = view.kind === "choice" && view.form === "slider";
  return [createElement("label", "", [view.title, control]), ...(isSlider ? [createElement("output")] : [])];
}

/** An action without a pick cannot be done now, but keeps the focus. */
function drawActions(
  place: HTMLElement,
  { picks }: ChoiceView,
  options: [string, string][],
  choose: (option: string) => void,
) {
  const buttons = options.map(([option, title], action) => {
    const isIdle = !Object.keys(picks[action]).length;
    const button = createElement("button", "small", title);
    if (isIdle) button.ariaDisabled = "true";
    else button.onclick = () => choose(option);
    return button;
  });
  updateChildren(place, ...buttons);
}

/** What was toggled here is shown at once, before the answer that has it. The last one that is on stays on. */
function drawToggles(place: HTMLElement, view: ChoiceView, picks: Picks) {
  const state = memory(place);
  const toggle = (option: number) => {
    const on = optionsOn(view, state.toggled, picks);
    const others = on.filter((other) => other !== option);
    const all = others.length < on.length ? others : [...on, option].sort((one, other) => one - other);
    state.toggled = joined(view, all.length ? all : on);
    picks.choose(state.toggled);
  };
  const options = view.options.map((title) => [title, title] as [string, string]);
  const on = optionsOn(view, state.toggled, picks).map((option) => view.options[option]);
  drawChoices(place, testIdOf(view), options, on, (title) => toggle(view.options.indexOf(title)));
}

/** The options of what was toggled here, as long as that is the page's choice, or else those that the answer names. */
function optionsOn({ chosen, picks: options }: ChoiceView, toggled: Pick | null, picks: Picks) {
  const isIn = (pick: Pick, whole: Pick) =>
    Object.entries(pick).every(([field, values]) =>
      [values].flat().every((value) => [whole[field]].flat().includes(value)),
    );
  const own = toggled && picks.isChosen(toggled) ? toggled : null;
  const found = options.flatMap((pick, option) => (own && isIn(pick, own) ? [option] : []));
  return found.length ? found : [chosen ?? []].flat();
}

/** The lists of several picks as one. */
function joined({ picks }: ChoiceView, options: number[]): Pick {
  const fields = Object.keys(picks[0] ?? {});
  const all = (field: string) => options.flatMap((option) => picks[option][field] as number[]);
  return Object.fromEntries(fields.map((field) => [field, all(field)]));
}

function testIdOf({ title }: ChoiceView) {
  return `choose-${title.toLowerCase().replaceAll(" ", "-")}`;
}

function drawInput(input: HTMLInputElement, { field, text, placeholder, live }: InputView, picks: Picks) {
  Object.assign(input, { placeholder, spellcheck: false, autocomplete: "off" });
  input[live ? "oninput" : "onchange"] = () => picks.choose({ [field]: input.value });
  if (activeElement(input) !== input) setValue(input, text);
}

function createStepButtons({ title }: ChoiceView) {
  const button = (text: string, name: string) =>
    createElement("button", "small", text, { ariaLabel: name, title: name });
  const parts = [button("◀", "One step back"), createElement("button", "small play"), button("▶", "One step on")];
  return createElement("div", "widget steps", [...parts, createElement("span", "quiet")], {
    role: "group",
    ariaLabel: title,
  });
}

/** Steps back and on, and all of them in turn, from the first after the last. */
function drawSteps(place: HTMLElement, view: ChoiceView, picks: Picks, choose: (option: number) => void) {
  const state = memory(place);
  const { options } = view;
  const chosen = chosenOption(view, picks);
  const [back, play, on] = place.querySelectorAll("button");
  const last = options.length - 1;
  Object.assign(state, { chosen, choose, picks, options: options.length });
  const goTo = (step: number) => {
    stop(place);
    state.chosen = Math.max(0, Math.min(step, state.options - 1)); // a second click may precede the next drawing
    state.choose(state.chosen);
  };
  back.onclick = () => goTo(state.chosen - 1);
  on.onclick = () => goTo(state.chosen + 1);
  play.onclick = () => (state.timer ? stop(place) : start(place));
  back.disabled = chosen < 1;
  on.disabled = chosen >= last;
  play.textContent = state.timer ? "Pause" : chosen < last ? "Go on" : "From the start";
  const words = place.querySelector("span");
  if (words) words.textContent = options[chosen] ?? "";
}

function start(place: HTMLElement) {
  const state = memory(place);
  const { options } = state;
  const subject = state.picks?.subject?.();
  const tick = (step: number) => {
    const isSame = state.options === options && state.picks?.subject?.() === subject;
    if (!place.isConnected || !isSame || step >= options) return stop(place);
    state.timer = window.setTimeout(() => tick(step + 1), PACE);
    state.choose(step);
  };
  tick(state.chosen < options - 1 ? state.chosen + 1 : 0);
}

function stop(place: HTMLElement) {
  const state = memory(place);
  clearTimeout(state.timer);
  state.timer = 0;
  const play = place.querySelector(".play");
  if (play) play.textContent = state.chosen < state.options - 1 ? "Go on" : "From the start";
}

function drawSlider(slider: HTMLInputElement, options: string[], chosen: number, choose: (option: number) => void) {
  const output = slider.parentElement?.nextElementSibling as HTMLElement;
  output.style.minWidth = `${Math.max(...options.map(({ length }) => length))}ch`; // the slider keeps its length
  const tell = (option: number) => {
    slider.ariaValueText = output.textContent = options[option];
  };
  Object.assign(slider, { min: "0", max: String(options.length - 1), step: "1" });
  setValue(slider, chosen);
  tell(Number(slider.value));
  slider.oninput = () => {
    tell(Number(slider.value));
    choose(Number(slider.value));
  };
}
