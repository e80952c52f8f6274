// Controls as views: options as buttons, as toggles, as a select, as a slider or as steps, and a text to be typed.

import { fillSelect, setValue } from "../charts/charts.js";
import { activeElement, createElement, drawChoices, updateChildren } from "../dom/dom.js";
import { remembered } from "../dom/memory.js";

/** @import { ChoiceView, InputView, Pick, Picks, View } from "./types.js" */

const PACE = 600; // milliseconds for a step
const memory = remembered((/** @type {HTMLElement} */ _place) => ({
  timer: 0,
  chosen: 0,
  options: 0,
  toggled: /** @type {Pick | null} */ (null),
  picks: /** @type {Picks | null} */ (null),
  choose: /** @type {(option: number) => void} */ (() => {}),
}));

/** @param {View} view @returns {view is ChoiceView | InputView} */
export function isControl(view) {
  return view.kind === "choice" || view.kind === "input";
}

/**
 * Draws a control into a place that may show it already: then whoever uses it is not interrupted.
 * @param {HTMLElement} place @param {ChoiceView | InputView} view @param {Picks} picks
 */
export function drawControl(place, view, picks) {
  if (!place.hasChildNodes()) place.append(...createParts(view));
  const control = /** @type {HTMLElement} */ (place.querySelector(".widget"));
  if (view.kind === "choice" && view.title) control.dataset.testid = testIdOf(view);
  if (view.kind === "input") return drawInput(/** @type {HTMLInputElement} */ (control), view, picks);
  const choose = (/** @type {string | number} */ option) => picks.choose(view.picks[Number(option)]);
  const chosen = chosenOption(view, picks);
  const options = view.options.map((title, option) => /** @type {[string, string]} */ ([String(option), title]));
  if (view.form === "toggles") return drawToggles(control, view, picks);
  if (view.form === "buttons") drawChoices(control, "option", options, String(chosen), choose);
  else if (view.form === "actions") drawActions(control, view, options, choose);
  else if (view.form === "select") fillSelect(/** @type {HTMLSelectElement} */ (control), options, chosen, choose);
  else if (view.form === "steps") drawSteps(control, view, picks, choose);
  else drawSlider(/** @type {HTMLInputElement} */ (control), view.options, chosen, choose);
}

/**
 * The option whose pick is the page's choice, before the answer that has it, or else the one that the answer names.
 * @param {ChoiceView} view @param {Picks} picks
 */
function chosenOption({ chosen, picks: options }, picks) {
  const found = options.findIndex((pick) => picks.isChosen(pick));
  return found >= 0 ? found : Number(chosen ?? found);
}

/** @param {ChoiceView | InputView} view @returns {HTMLElement[]} */
function createParts(view) {
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

/**
 * An action without a pick cannot be done now, but keeps the focus.
 * @param {HTMLElement} place @param {ChoiceView} view @param {[string, string][]} options @param {(option: string) => void} choose
 */
function drawActions(place, { picks }, options, choose) {
  const buttons = options.map(([option, title], action) => {
    const isIdle = !Object.keys(picks[action]).length;
    const button = createElement("button", "small", title);
    if (isIdle) button.ariaDisabled = "true";
    else button.onclick = () => choose(option);
    return button;
  });
  updateChildren(place, ...buttons);
}

/**
 * What was toggled here is shown at once, before the answer that has it. The last one that is on stays on.
 * @param {HTMLElement} place @param {ChoiceView} view @param {Picks} picks
 */
function drawToggles(place, view, picks) {
  const state = memory(place);
  const toggle = (/** @type {number} */ option) => {
    const on = optionsOn(view, state.toggled, picks);
    const others = on.filter((other) => other !== option);
    const all = others.length < on.length ? others : [...on, option].sort((one, other) => one - other);
    state.toggled = joined(view, all.length ? all : on);
    picks.choose(state.toggled);
  };
  const options = view.options.map((title) => /** @type {[string, string]} */ ([title, title]));
  const on = optionsOn(view, state.toggled, picks).map((option) => view.options[option]);
  drawChoices(place, testIdOf(view), options, on, (title) => toggle(view.options.indexOf(title)));
}

/**
 * The options of what was toggled here, as long as that is the page's choice, or else those that the answer names.
 * @param {ChoiceView} view @param {Pick | null} toggled @param {Picks} picks
 */
function optionsOn({ chosen, picks: options }, toggled, picks) {
  const isIn = (/** @type {Pick} */ pick, /** @type {Pick} */ whole) =>
    Object.entries(pick).every(([field, values]) =>
      [values].flat().every((value) => [whole[field]].flat().includes(value)),
    );
  const own = toggled && picks.isChosen(toggled) ? toggled : null;
  const found = options.flatMap((pick, option) => (own && isIn(pick, own) ? [option] : []));
  return found.length ? found : [chosen ?? []].flat();
}

/** The lists of several picks as one. @param {ChoiceView} view @param {number[]} options @returns {Pick} */
function joined({ picks }, options) {
  const fields = Object.keys(picks[0] ?? {});
  const all = (/** @type {string} */ field) =>
    options.flatMap((option) => /** @type {number[]} */ (picks[option][field]));
  return Object.fromEntries(fields.map((field) => [field, all(field)]));
}

/** @param {ChoiceView} view */
function testIdOf({ title }) {
  return `choose-${title.toLowerCase().replaceAll(" ", "-")}`;
}

/** @param {HTMLInputElement} input @param {InputView} view @param {Picks} picks */
function drawInput(input, { field, text, placeholder, live }, picks) {
  Object.assign(input, { placeholder, spellcheck: false, autocomplete: "off" });
  input[live ? "oninput" : "onchange"] = () => picks.choose({ [field]: input.value });
  if (activeElement(input) !== input) setValue(input, text);
}

/** @param {ChoiceView} view */
function createStepButtons({ title }) {
  const button = (/** @type {string} */ text, /** @type {string} */ name) =>
    createElement("button", "small", text, { ariaLabel: name, title: name });
  const parts = [button("◀", "One step back"), createElement("button", "small play"), button("▶", "One step on")];
  return createElement("div", "widget steps", [...parts, createElement("span", "quiet")], {
    role: "group",
    ariaLabel: title,
  });
}

/**
 * Steps back and on, and all of them in turn, from the first after the last.
 * @param {HTMLElement} place @param {ChoiceView} view @param {Picks} picks @param {(option: number) => void} choose
 */
function drawSteps(place, view, picks, choose) {
  const state = memory(place);
  const { options } = view;
  const chosen = chosenOption(view, picks);
  const [back, play, on] = place.querySelectorAll("button");
  const last = options.length - 1;
  Object.assign(state, { chosen, choose, picks, options: options.length });
  const goTo = (/** @type {number} */ step) => {
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

/** @param {HTMLElement} place */
function start(place) {
  const state = memory(place);
  const { options } = state;
  const subject = state.picks?.subject?.();
  const tick = (/** @type {number} */ step) => {
    const isSame = state.options === options && state.picks?.subject?.() === subject;
    if (!place.isConnected || !isSame || step >= options) return stop(place);
    state.timer = window.setTimeout(() => tick(step + 1), PACE);
    state.choose(step);
  };
  tick(state.chosen < options - 1 ? state.chosen + 1 : 0);
}

/** @param {HTMLElement} place */
function stop(place) {
  const state = memory(place);
  clearTimeout(state.timer);
  state.timer = 0;
  const play = place.querySelector(".play");
  if (play) play.textContent = state.chosen < state.options - 1 ? "Go on" : "From the start";
}

/** @param {HTMLInputElement} slider @param {string[]} options @param {number} chosen @param {(option: number) => void} choose */
function drawSlider(slider, options, chosen, choose) {
  const output = /** @type {HTMLElement} */ (slider.parentElement?.nextElementSibling);
  output.style.minWidth = `${Math.max(...options.map(({ length }) => length))}ch`; // the slider keeps its length
  const tell = (/** @type {number} */ option) => {
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
