// The Compare page: A is set in the sidebar, B is A with the changes made here.

import { defineComponent, pick, Reporter } from "../../ui/frontend/bridge.ts";
import { paintScale, SIGNED_COLOURS } from "../../ui/frontend/charts/colours.ts";
import { createElement, drawChoices, drawExampleButtons } from "../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../ui/frontend/dom/elements.ts";
import { PageExport } from "../../ui/frontend/export/page_export.ts";
import type { Shared } from "../../ui/frontend/export/share.ts";
import { programOf } from "../../ui/frontend/export/share.ts";
import { togglePresenter } from "../../ui/frontend/presenter.ts";
import { Questions, showProblem } from "../../ui/frontend/questions.ts";
import { isOff, switchHeads } from "../../ui/frontend/state/head_ablation.ts";
import { fitHeights, setText } from "../../ui/frontend/text_box.ts";
import { RowsPlace } from "../../ui/frontend/views/rows.ts";
import type { AttentionPair } from "./comparison.ts";
import { Comparison, fetchWeights } from "./comparison.ts";
import { describeA, drawControlsB, hasSource, sideNames } from "./controls.ts";
import { findElements } from "./elements.ts";
import { comparedSides, comparedView } from "./export.ts";
import { HeadTables } from "./head_tables.ts";
import { Heatmaps } from "./heatmaps.ts";
import { Patches } from "./patches.ts";
import { patchDifference } from "./questions.ts";
import { drawReadout } from "./readout.ts";
import { CompareState } from "./state.ts";
import { TokenStrips } from "./token_strips.ts";
import type { AttentionGroupAnswer, Cell, Choice, CompareData, Difference, HeadIndex, Preset } from "./types.ts";

type Shown = { comparison: Comparison; attention: AttentionPair; heads: HeadIndex[] }; // heads of each side

const EXACT_AFTER = 120; // milliseconds from showing a head to fetching its exact weights

class ComparePage {
  #elements;
  #catalog;
  #state;
  #asking;
  #reporter;
  #headTables;
  #heatmaps;
  #strips;
  #patches;
  #predictions;
  #export;
  #resized;
  #asked = false;
  #comparison: Comparison | null = null;
  /** The content of the maps. */
  #shown: Shown | null = null;
  #hovered: Cell | null = null;
  #problem = "";
  #exactTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(place: HTMLElement, data: CompareData) {
    this.#elements = findElements(place);
    this.#catalog = data;
    this.#state = new CompareState(data.state, data.side_b, data.settings);
    this.#asking = new Questions(data.api);
    this.#reporter = new Reporter(() => this.#state.told);
    const point = (cell: Cell | null) => this.#point(cell);
    const choose = (cell: Cell) => this.#chooseQuery(cell);
    this.#headTables = new HeadTables(this.#elements, {
      chooseHead: (side, head) => this.#change(this.#state.chooseHead(side, head)),
      chooseAttention: (attention) => this.#change(this.#state.change({ attention })),
    });
    this.#heatmaps = new Heatmaps(this.#elements, { point, choose, step: (step) => this.#stepQuery(step) });
    this.#patches = new Patches(this.#elements, (edit) => this.#change(this.#state.patched(edit, this.#donorField)));
    this.#predictions = new RowsPlace(this.#elements.predictions);
    this.#strips = new TokenStrips(this.#elements.strips, { point, choose });
    this.#export = new PageExport(place, data.api, {
      isReady: () => this.#shown !== null,
      collect: () => this.#exported(),
      share: () => this.#shared(),
    });
    findByTestId(place, "figure-size", HTMLSelectElement).value = "180"; // three maps side by side
    this.#listen();
    this.#resized = new ResizeObserver(() => {
      fitHeights([...this.#elements.texts, ...this.#elements.sources]);
      this.#paintPositions();
    });
    this.#resized.observe(this.#elements.root);
    paintScale(this.#elements.differenceScale, SIGNED_COLOURS);
  }

  update(data: CompareData, tell: (name: string, value: unknown) => void) {
    this.#reporter.connect(tell);
    const { root, texts, sources } = this.#elements;
    togglePresenter(root, data.presenter === "1", [...texts, ...sources]);
    this.#catalog = data;
    const title = (preset: Preset) => preset.title;
    drawExampleButtons(this.#elements.presets, data.presets, title, ({ text, side_b }) => {
      const choice = text === null ? { query: -1 } : { text, masked_positions: [], query: -1 };
      this.#change(this.#state.followLargest().change(choice, side_b));
    });
    if (this.#adopt(data)) {
      this.#drawQuestions();
      this.#ask();
    } else if (this.#problem) this.#showProblem(this.#problem);
    else if (this.#comparison) this.#showComparison(this.#comparison); // the theme may have changed
  }

  end() {
    this.#asking.stop();
    this.#reporter.cancel();
    clearTimeout(this.#exactTimer);
    this.#resized.disconnect();
    this.#export.end();
  }

  /** The displayed view for export, with the exact weights of the chosen heads. */
  async #exported() {
    const shown = this.#shown;
    if (!shown) throw new Error("These two models have no attention in common to export.");
    await this.#fetchExact(shown);
    const alignment = this.#state.alignment || shown.comparison.alignment;
    const words = (this.#catalog.alignments[alignment] ?? alignment).toLowerCase();
    return comparedView(shown, sideNames(this.#catalog, shown.comparison.questions), words);
  }

  #shared(): Shared {
    const { page, state } = this.#catalog.shared;
    const { side_b, ...told } = this.#state.told;
    const sides = () => (this.#shown ? comparedSides(this.#shown) : []);
    const program = () => programOf(this.#catalog.api, sides());
    return { page, chosen: { state: { ...state, ...told }, side_b }, sides, program };
  }

  /** Adopts the choices in the address. Returns whether they require a new answer. */
  #adopt({ state, side_b, settings, serial }: CompareData) {
    const news = this.#reporter.news({ ...state, ...settings, side_b }, serial);
    if (!news) return false;
    const before = this.#state;
    this.#state = new CompareState(pick(news, state), news.side_b, pick(news, settings));
    return !this.#asked || !this.#state.asksSame(before);
  }

  /**
   * The only way to change the state: stores it, requests a new answer if a model is concerned, repaints, and reports.
   */
  #change(state: CompareState) {
    const same = state.asksSame(this.#state);
    this.#state = state;
    this.#hovered = null;
    this.#drawQuestions();
    if (!same) this.#ask();
    else if (this.#comparison && !this.#problem) this.#drawHeads(this.#comparison);
    this.#reporter.changed();
  }

  #differ(patch: Partial<Difference>) {
    this.#change(this.#state.change({}, patchDifference(this.#state.difference, patch)));
  }

  #listen() {
    const { texts, sources, sameText, swap, linked } = this.#elements;
    for (const box of [...texts, ...sources]) box.readOnly = false; // text typed before the listeners are set would be lost
    texts[0].oninput = () =>
      this.#change(this.#state.change({ text: texts[0].value, masked_positions: [], query: -1 }));
    texts[1].oninput = () => this.#type({ text: texts[1].value });
    sources[0].oninput = () => this.#change(this.#state.change({ source: sources[0].value }));
    sources[1].oninput = () => this.#type({ source: sources[1].value });
    sameText.onclick = () => this.#differ({ text: undefined, source: undefined, masked_positions: undefined });
    swap.onclick = () => this.#change(this.#state.swapped());
    linked.onchange = () => this.#change(this.#state.link(linked.checked));
  }

  /** @param typed into B's boxes */
  #type(typed: Partial<Pick<Difference, "text" | "source">>) {
    this.#change(this.#state.typed(typed));
  }

  async #ask() {
    const { root } = this.#elements;
    this.#asked = true;
    root.classList.add("waiting");
    root.dataset.state = "asking";
    const { questions, request } = this.#state;
    const found = await this.#asking.ask("compare", request, (sentence) => this.#showProblem(sentence));
    if (!this.#asking.isAsking) root.classList.remove("waiting");
    if (!found) return;
    if ("problem" in found) this.#showProblem(found.problem);
    else this.#showComparison(new Comparison(found.meta, new Uint8Array(found.buffer, found.start), questions));
  }

  /** Fills the text boxes; B's text follows A's until it is edited. */
  #drawQuestions() {
    const { texts, sources, sameText, variantA, variantB } = this.#elements;
    const [a, b] = this.#state.questions;
    const { difference } = this.#state;
    [a, b].forEach(({ text, source, model }, side) => {
      setText(texts[side], text);
      setText(sources[side], source);
      (sources[side].parentElement as HTMLElement).hidden = !hasSource(this.#catalog, model);
    });
    const own = "text" in difference || "source" in difference;
    sameText.hidden = !own;
    texts[1].parentElement?.classList.toggle("same", !own);
    fitHeights([...texts, ...sources]);
    sideNames(this.#catalog, [a, b]).forEach((name, side) => {
      for (const element of this.#elements.names[side]) element.textContent = name;
    });
    describeA(variantA, this.#catalog, a);
    drawControlsB(variantB, this.#catalog, [a, b], difference, (patch) => this.#differ(patch));
  }

  #showProblem(sentence: string) {
    this.#problem = sentence;
    showProblem(this.#elements, sentence);
    this.#showState();
  }

  #showComparison(comparison: Comparison) {
    const { status, notes } = this.#elements;
    this.#comparison = comparison;
    this.#problem = "";
    showProblem(this.#elements, "");
    status.textContent = `${Math.round(comparison.milliseconds)} ms`;
    notes.replaceChildren(
      ...[0, 1].flatMap((side) =>
        comparison.notes(side).map((note) => createElement("p", "", `${"AB"[side]} – ${note}`)),
      ),
    );
    this.#followLargest(comparison);
    this.#strips.draw(comparison, this.#state.choice.query);
    this.#drawHeads(comparison);
    this.#predictions.draw(comparison.rows);
    this.#showState();
  }

  /** Selects the head that differs most until the visitor chooses one. */
  #followLargest(comparison: Comparison) {
    const attention = comparison.attention(this.#state.choice.attention);
    if (!attention || !this.#state.followsLargest) return;
    const [layer, head] = attention.most_distant;
    this.#state = this.#state.change({ layer, head });
  }

  /** Exposes the displayed question to tests and benchmarks. */
  #showState() {
    const { dataset } = this.#elements.root;
    dataset.state = this.#asking.isAsking ? "asking" : "ready";
    dataset.texts = JSON.stringify(this.#comparison?.questions.map(({ text }) => text) ?? []);
  }

  #drawHeads(comparison: Comparison) {
    this.#headTables.draw(comparison, this.#state);
    const attention = comparison.attention(this.#state.choice.attention);
    this.#shown = attention && {
      comparison,
      attention,
      heads: attention.groups.map((group, side) => this.#state.headOf(side, group)),
    };
    this.#elements.maps.hidden = !this.#shown;
    clearTimeout(this.#exactTimer);
    if (!this.#shown) return;
    this.#drawHeadTitles(this.#shown);
    const alignment = this.#state.alignment || comparison.alignment;
    const options = Object.entries(this.#catalog.alignments);
    drawChoices(this.#elements.alignment, "align", options, alignment, (chosen) => this.#differ({ alignment: chosen }));
    this.#drawMaps(this.#shown);
    this.#patches.draw(this.#shown, this.#state, this.#donorField, this.#catalog.parts);
    this.#exactTimer = setTimeout(this.#fetchExact.bind(this, this.#shown), EXACT_AFTER);
  }

  /** The text field in which the two runs of a patch differ. */
  get #donorField() {
    return hasSource(this.#catalog, this.#state.questions[0].model) ? "source" : "text";
  }

  #drawMaps({ comparison, attention, heads }: Shown) {
    this.#heatmaps.show(comparison, attention, heads);
    this.#paintPositions();
  }

  #drawHeadTitles({ attention, heads }: Shown) {
    const { headTitle, linked, mapTitles } = this.#elements;
    const [one, other] = heads;
    const same = one.layer === other.layer && one.head === other.head;
    headTitle.textContent = same ? `Layer ${one.layer} · Head ${one.head}` : "Two heads";
    linked.checked = this.#state.linked;
    heads.forEach((head, side) => {
      mapTitles[side].textContent = `${"AB"[side]}${same ? "" : ` · layer ${head.layer}, head ${head.head}`}`;
      this.#drawSwitch(side, attention.groups[side], head);
    });
  }

  /** Draws the switch of the chosen head of one side. Heads off in A are off in B too, unless B has its own changes. */
  #drawSwitch(side: number, group: AttentionGroupAnswer, head: HeadIndex) {
    const button = this.#elements.switches[side];
    const { edits } = this.#state.questions[side];
    const off = isOff(edits, group, head.layer, head.head);
    button.ariaChecked = String(!off);
    button.ariaLabel = `Head ${head.head} of layer ${head.layer} on side ${"AB"[side]}`;
    (button.lastElementChild as Element).textContent = off ? "off" : "on";
    button.onclick = () => {
      const changed = switchHeads(edits, group, [[head.layer, head.head]], !off);
      if (side) this.#change(this.#state.change({}, { ...this.#state.difference, edits: changed }));
      else this.#change(this.#state.change({ edits: changed }));
    };
  }

  async #fetchExact({ comparison, attention, heads }: Shown) {
    const fetched = attention.groups.map((group, side) =>
      comparison.fetchExact(side, group, heads[side], () =>
        fetchWeights(this.#catalog.api, comparison.questions[side], group, heads[side]),
      ),
    );
    const arrived = (await Promise.all(fetched)).some(Boolean);
    if (arrived && this.#shown?.comparison === comparison) this.#drawMaps(this.#shown);
  }

  /** Marks the cell under the pointer, or the chosen query, in all drawings. */
  #paintPositions() {
    if (!this.#shown) return;
    const { comparison, attention, heads } = this.#shown;
    const positions = this.#positions(this.#shown);
    this.#heatmaps.paint(positions);
    this.#strips.shade(comparison, attention, heads, positions);
    drawReadout(this.#elements.readout, comparison, attention, heads, positions);
  }

  #positions({ comparison, attention }: Shown) {
    if (this.#hovered) return comparison.onBothSides(attention, this.#hovered.side, this.#hovered);
    const queries = comparison.queryPositions(this.#state.choice.query);
    return attention.groups.map((group, side) => ({
      query: group.queries === "text" ? queries[side] : null,
      key: null,
    }));
  }

  #point(cell: Cell | null) {
    if (JSON.stringify(this.#hovered) === JSON.stringify(cell)) return;
    this.#hovered = cell;
    this.#paintPositions();
  }

  /** Chooses the token for predictions and frames; for a token of B, its partner in A. */
  #chooseQuery({ side, query }: Cell) {
    const comparison = this.#comparison;
    if (!comparison) return;
    const group = this.#shown?.attention.groups[side];
    const position = side === 0 ? query : comparison.partner(1, "text", query);
    if (group?.queries === "source" || position === null) return;
    const choice: Partial<Choice> = { query: position === comparison.lastPosition ? -1 : position };
    this.#change(this.#state.change(choice));
  }

  #stepQuery(step: number) {
    const comparison = this.#comparison;
    if (!comparison) return;
    const [position] = comparison.queryPositions(this.#state.choice.query);
    this.#chooseQuery({ side: 0, query: Math.min(Math.max(position + step, 0), comparison.lastPosition), key: null });
  }
}

export default defineComponent((place, data: CompareData) => new ComparePage(place, data));
