// The Positions page: the charts of a positional encoding, their choices, and the menu Export.

import { defineComponent } from "../../ui/frontend/bridge.js";
import { HEAD_COLOURS } from "../../ui/frontend/charts/colours.js";
import { beginSheet, lookOf } from "../../ui/frontend/charts/figure_text.js";
import { figureSheet } from "../../ui/frontend/charts/svg.js";
import { canvasStyle, createButton, createElement, updateChildren } from "../../ui/frontend/dom/dom.js";
import { find, findByTestId } from "../../ui/frontend/dom/elements.js";
import { table } from "../../ui/frontend/dom/table.js";
import { PageExport } from "../../ui/frontend/export/page_export.js";
import { programOf } from "../../ui/frontend/export/share.js";
import { togglePresenter } from "../../ui/frontend/presenter.js";
import { askRoute, failureText } from "../../ui/frontend/server.js";
import { readFloats } from "../../ui/frontend/wire.js";
import { chartsOf, firstChoice, lossChart } from "./charts.js";
import { positionSides, positionsView } from "./export.js";

/** @import { Chart, Chosen, Look, NumberArray, PositionsData, Profile } from "./types.js" */
/** @import { Shared } from "../../ui/frontend/export/share.js" */

/** @type {Readonly<Record<keyof Chosen, string>>} */
const CONTROL_NAMES = table({ channels: "Channels", pairs: "Pairs", head: "Head", position: "Position" });

/** @typedef {ReturnType<typeof createPanel>} Panel */

class PositionsPage {
  #root;
  #charts;
  #data;
  #export;
  #resized;
  #asked = "";
  /** @type {Profile} */
  #profile = {};
  #chosen = firstChoice({});
  /** @type {Panel[]} */
  #panels = [];

  /** @param {HTMLElement} place @param {PositionsData} data */
  constructor(place, data) {
    this.#root = find(place, ".positions");
    this.#charts = findByTestId(place, "charts");
    this.#data = data;
    this.#export = new PageExport(place, data.api, {
      isReady: () => this.#root.dataset.drawn === this.#asked,
      collect: () => positionsView(this.#profile, this.#chosen, this.#data),
      share: () => this.#share(),
    });
    this.#resized = new ResizeObserver(() => this.#draw());
    this.#resized.observe(this.#root);
  }

  /** @param {PositionsData} data */
  update(data) {
    this.#data = data;
    togglePresenter(this.#root, data.presenter === "1", []);
    const asked = JSON.stringify(data.request);
    if (asked === this.#asked)
      this.#draw(); // the theme may have changed
    else this.#ask(asked);
  }

  end() {
    this.#resized.disconnect();
    this.#export.end();
  }

  /** @param {string} asked */
  async #ask(asked) {
    this.#asked = asked;
    try {
      const profile = await fetchProfile(this.#data);
      if (asked !== this.#asked) return;
      this.#profile = profile;
      this.#chosen = firstChoice(profile);
      this.#panels = [];
      this.#root.dataset.drawn = asked;
      this.#draw();
      this.#export.menu.relist();
    } catch (error) {
      if (asked === this.#asked) this.#charts.replaceChildren(createElement("p", "problem", failureText(error)));
    }
  }

  #draw() {
    if (this.#root.dataset.drawn !== this.#asked || !this.#root.clientWidth) return;
    const charts = [...chartsOf(this.#profile, this.#chosen), ...this.#data.losses.map(lossChart)];
    if (!this.#panels.length) {
      this.#panels = charts.map(createPanel);
      this.#charts.replaceChildren(...this.#panels.map(({ panel }) => panel));
    }
    const look = { ...lookOf(canvasStyle(this.#root)), beam: HEAD_COLOURS[0] }; // distinct from the other curves
    charts.forEach((chart, place) => {
      this.#drawChart(this.#panels[place], chart, look);
    });
  }

  /** @param {Panel} panel @param {Chart} chart @param {Look} look */
  #drawChart({ title, choices, stage, reading, caption }, chart, look) {
    title.textContent = chart.title;
    caption.textContent = chart.caption ?? "";
    choices.hidden = !chart.control;
    if (chart.control) this.#drawControl(choices, chart.control);
    const figure = beginSheet(stage.clientWidth, chart.title, look);
    figure.height = Math.ceil(chart.draw(figure, { x: 0, y: 0, width: figure.width })) + 2;
    const sheet = figureSheet(figure);
    sheet.onmousemove = (event) => {
      reading.textContent = chart.read(figure, sheet, event);
    };
    stage.replaceChildren(sheet);
  }

  /** @param {HTMLElement} box @param {NonNullable<Chart["control"]>} control */
  #drawControl(box, { kind, options }) {
    box.ariaLabel = CONTROL_NAMES[kind];
    if (kind !== "position") updateChildren(box, ...options.map((option) => this.#createChoice(kind, option)));
    else if (!box.firstChild) box.append(this.#createSlider(options.length)); // replacing it would interrupt dragging
  }

  /** @param {number} count of positions */
  #createSlider(count) {
    const range = { type: "range", min: "0", max: String(count - 1), value: String(this.#chosen.position) };
    const named = { testid: "choose-position", ariaLabel: CONTROL_NAMES.position };
    const slider = createElement("input", "", [], { ...range, ...named });
    slider.oninput = () => this.#choose({ position: Number(slider.value) });
    return slider;
  }

  /** @param {"channels" | "pairs" | "head"} kind @param {number} option */
  #createChoice(kind, option) {
    const chosen = this.#chosen[kind];
    const isChosen = Array.isArray(chosen) ? chosen.includes(option) : chosen === option;
    const button = createButton("", option, `choose-${kind}-${option}`, () => {
      if (!Array.isArray(chosen)) return this.#choose({ [kind]: option });
      const others = chosen.filter((one) => one !== option);
      this.#choose({ [kind]: isChosen ? others : [...others, option].sort((one, other) => one - other) });
    });
    button.ariaPressed = String(isChosen);
    return button;
  }

  /** @param {Partial<Chosen>} patch */
  #choose(patch) {
    this.#chosen = { ...this.#chosen, ...patch };
    this.#draw();
  }

  /** @returns {Shared} */
  #share() {
    const { api, request, shared } = this.#data;
    const sides = () => positionSides(this.#data);
    const { length, stack, layer } = request;
    const program = () => programOf(api, sides(), { length, stack, layer });
    return { page: shared.page, chosen: { state: shared.state }, sides, program };
  }
}

function createPanel() {
  const [title, choices] = [createElement("h3"), createElement("div", "choices", [], { role: "group" })];
  const stage = createElement("div", "sheet");
  const [reading, caption] = [createElement("p", "reading"), createElement("p", "quiet")];
  const panel = createElement("section", "panel chart", [title, choices, stage, reading, caption]);
  return { panel, title, choices, stage, reading, caption };
}

/** @param {PositionsData} data @returns {Promise<Profile>} */
async function fetchProfile({ api, request }) {
  const { meta, start, buffer } = await askRoute(api, "position_profile", request);
  const numbers = readFloats(buffer, start);
  let first = 0;
  return Object.fromEntries(
    Object.entries(meta.shapes)
      .map(([name, shape]) => {
        const count = shape.reduce((product, size) => product * size, 1);
        first += count;
        return /** @type {[string, NumberArray]} */ ([name, { shape, values: numbers.subarray(first - count, first) }]);
      })
      .filter(([name]) => !meta.missing || name.startsWith("bucket")), // for an untrained table, only its layout
  );
}

export default defineComponent((place, /** @type {PositionsData} */ data) => new PositionsPage(place, data));
