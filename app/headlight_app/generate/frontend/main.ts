// The Generate page: a prompt, sampling settings, and a text that grows token by token.

import { defineComponent, pick, Reporter } from "../../ui/frontend/bridge.ts";
import { paintScale } from "../../ui/frontend/charts/colours.ts";
import { announce } from "../../ui/frontend/dom/announce.ts";
import { createElement, drawExampleButtons, listenTo, setAvailable, visibleText } from "../../ui/frontend/dom/dom.ts";
import { drawLanguages, inLanguage } from "../../ui/frontend/dom/languages.ts";
import { PageExport } from "../../ui/frontend/export/page_export.ts";
import type { Shared } from "../../ui/frontend/export/share.ts";
import { programOf } from "../../ui/frontend/export/share.ts";
import { listenToTurning } from "../../ui/frontend/leaving.ts";
import { togglePresenter } from "../../ui/frontend/presenter.ts";
import { showProblem } from "../../ui/frontend/questions.ts";
import type { Api } from "../../ui/frontend/server.ts";
import { backendOf, failureText, hideUnanswered } from "../../ui/frontend/server.ts";
import { SignalGallery } from "../../ui/frontend/signal_gallery/signal_gallery.ts";
import { drawChat, fitHeights, setText } from "../../ui/frontend/text_box.ts";
import { RowsPlace } from "../../ui/frontend/views/rows.ts";
import { attentionRow, groupOf } from "./attention_rows.ts";
import { CopyingView } from "./copying.ts";
import { findElements } from "./elements.ts";
import { generatedSide, generatedView } from "./export.ts";
import { Generator } from "./generator.ts";
import { NextToken } from "./next_token.ts";
import { drawSampling, listenToSampling } from "./sampling_controls.ts";
import { GenerateServer } from "./server.ts";
import { StepAttention } from "./step_attention.ts";
import { describeRate, drawStepTimes } from "./step_times.ts";
import { TextView } from "./text.ts";
import type { Choice, ExampleAnswer, GenerateData, GeneratedToken, GenerateState, Sampling } from "./types.ts";

/** The fields of the question to the model. */
const ASKED: ("text" | "source" | "image" | "chat" | "masked_positions" | "edits" | "patch_from")[] = [
  "text",
  "source",
  "image",
  "chat",
  "masked_positions",
  "edits",
  "patch_from",
];

class GeneratePage {
  #elements;
  #state: GenerateState;
  #generator;
  #reporter;
  #text;
  #next;
  #cache;
  #attention;
  #copying;
  #gallery;
  #export;
  #shared;
  #resized;
  #endings;
  #data;
  #started = false;
  /** Tokens of a translator's languages. */
  #languages: string[] = [];
  /** Whether an answer has told of a cache: without a server there is none. */
  #hasCache = false;
  /** Whether the model has a chat template, and the caption of a prompt that is no chat. */
  #prompted = { readsChat: false, caption: "" };
  /** Names of the images or recordings that the model can read. */
  #signals = { images: [] as string[], hears: false };
  /** The token under the pointer. */
  #hovered: number | null = null;

  constructor(place: HTMLElement, data: GenerateData) {
    this.#data = data;
    this.#elements = findElements(place);
    this.#state = {
      mode: data.mode,
      settings: data.settings,
      choice: data.state,
      sampling: data.sampling,
      useCache: true,
    };
    this.#reporter = new Reporter(() => this.#report());
    const server = new GenerateServer(data.api, (sentence) => this.#showProblem(sentence));
    this.#generator = new Generator(server, () => this.#state, {
      changed: () => this.#draw(),
      answered: () => this.#showAnswer(),
      failed: (error) => this.#showProblem(failureText(error)),
      moved: () => this.#reporter.serial++,
      taken: (texts) => this.#announce(texts),
      settled: () => this.#reporter.schedule(),
      waiting: (waiting) => this.#elements.root.classList.toggle("waiting", waiting),
    });
    this.#next = new NextToken(this.#elements, this.#generator);
    this.#cache = new RowsPlace(this.#elements.cacheRows);
    const point = (position: number | null) => this.#point(position);
    const view = (step: number | null) => this.#view(step);
    this.#text = new TextView(this.#elements, this.#generator, {
      point,
      view,
      toggleMask: (position) => this.#toggleMask(position),
    });
    this.#attention = new StepAttention(this.#elements, this.#generator, {
      point,
      view,
      change: (patch) => this.#change(patch),
    });
    this.#copying = new CopyingView(this.#elements, this.#generator, {
      api: data.api,
      redraw: () => this.#copying.draw(this.#state),
      choose: (layer, head) => this.#change({ layer, head, blend: "head" }),
      prompt: (prompt) => {
        this.#elements.text.value = prompt;
        this.#type({ text: prompt, masked_positions: [] });
      },
    });
    this.#gallery = new SignalGallery(this.#elements.gallery, data.api, {
      choose: (image) => this.#change({ image }),
      fail: (sentence) => this.#showProblem(sentence),
    });
    this.#shared = data.shared;
    this.#export = new PageExport(place, data.api, {
      isReady: () => this.#generator.hasPrompt,
      collect: () => generatedView(this.#generator, this.#state, this.#copying.shown),
      share: () => this.#share(data.api),
    });
    hideUnanswered(place, backendOf(data.api), [[".export", ["link", "export_origin"]]]);
    this.#listen();
    this.#resized = new ResizeObserver(() => {
      fitHeights([this.#elements.text, this.#elements.source]);
      this.#draw();
    });
    this.#resized.observe(this.#elements.root);
    this.#endings = [
      listenTo(window, { popstate: () => this.#goBack() }),
      listenToTurning(place, this.#reporter), // a text that plays is not reported, so no link waits for it
    ];
    paintScale(this.#elements.scale);
  }

  update(data: GenerateData, tell?: (name: string, value: unknown) => void) {
    const { root, sourceBox, text, source } = this.#elements;
    this.#data = data;
    if (tell) this.#reporter.connect(tell);
    this.#shared = data.shared;
    togglePresenter(root, data.presenter === "1", [text, source]);
    sourceBox.hidden = !data.has_source;
    const prompt = data.has_source ? "Target: how it begins (or empty)" : "Prompt";
    this.#prompted = { readsChat: data.reads_chat, caption: data.mode === "fill" ? "Text with masks" : prompt };
    this.#languages = data.languages;
    const sameModel = JSON.stringify(this.#state.settings) === JSON.stringify(data.settings);
    this.#state = { ...this.#state, mode: data.mode, settings: data.settings };
    const generated = this.#adopt(data);
    this.#drawChat();
    this.#drawExamples(data.examples);
    this.#signals = { images: data.images, hears: data.hears };
    this.#drawGallery();
    if (generated || !sameModel) this.#generator.start(generated ?? this.#generator.generated);
    else this.#draw(); // the theme may have changed
  }

  /** Choices that are not reported yet would undo the way back. */
  #goBack() {
    if (!this.#reporter.isPending) return;
    this.#reporter.discard();
    this.update(this.#data);
  }

  end() {
    for (const end of this.#endings) end();
    this.#generator.dispose();
    this.#copying.end();
    this.#reporter.cancel();
    this.#resized.disconnect();
    this.#export.end();
  }

  /** Adopts the choices in the address. Returns its generated tokens, or null if no new request is needed. */
  #adopt({ state, sampling, generated, serial }: GenerateData): GeneratedToken[] | null {
    const { text, source } = this.#elements;
    const news = this.#reporter.news({ ...state, sampling, generated }, serial);
    if (!news) return null;
    const choice = pick(news, state);
    const before = this.#state.choice;
    const asked = !this.#started || ASKED.some((name) => JSON.stringify(choice[name]) !== JSON.stringify(before[name]));
    const regenerated = JSON.stringify(news.generated) !== JSON.stringify(this.#generatedIds());
    const resampled = JSON.stringify(news.sampling) !== JSON.stringify(this.#state.sampling);
    this.#started = true;
    this.#state = { ...this.#state, choice, sampling: news.sampling };
    setText(text, choice.text);
    setText(source, choice.source);
    fitHeights([text, source]);
    this.#drawLanguages();
    return asked || regenerated || resampled
      ? news.generated.map(([position, id]) => ({ position, id, text: "…" }))
      : null;
  }

  /** Changes a choice: restarts generation if the model is concerned, else redraws. */
  #change(patch: Partial<Choice>) {
    this.#state = { ...this.#state, choice: { ...this.#state.choice, ...patch } };
    this.#drawGallery();
    this.#drawChat();
    if (ASKED.some((name) => name in patch)) {
      this.#generator.forgetBranches();
      this.#generator.start();
    } else this.#draw();
    this.#reporter.changed();
  }

  #changeSampling(patch: Partial<Sampling>) {
    this.#state = { ...this.#state, sampling: { ...this.#state.sampling, ...patch } };
    drawSampling(this.#elements, this.#state.sampling);
    this.#reporter.changed();
    this.#generator.resample();
  }

  #report() {
    if (this.#generator.playing) return null;
    return { ...this.#state.choice, sampling: this.#state.sampling, generated: this.#generatedIds() };
  }

  #generatedIds() {
    return this.#generator.generated.map(({ position, id }) => [position, id] as [number, number]);
  }

  #share(api: Api): Shared {
    const { page, state } = this.#shared;
    const { choice, settings, sampling } = this.#state;
    const generated = this.#generatedIds();
    const sides = () => [generatedSide(this.#generator, this.#state)];
    const program = () => programOf(api, sides(), { sampling, generated });
    return { page, chosen: { state: { ...state, ...choice, ...settings }, sampling, generated }, sides, program };
  }

  #listen() {
    const { text, source, chat, step, play, back, restart, newest, speed, useCache } = this.#elements;
    const generator = this.#generator;
    text.readOnly = source.readOnly = false; // text typed before the listeners are set would be lost
    text.oninput = () => this.#type({ text: text.value, masked_positions: [] });
    source.oninput = () => this.#type({ source: source.value });
    chat.onclick = () => {
      this.#type({ chat: this.#state.choice.chat ? "" : "1", masked_positions: [] });
      text.focus();
    };
    for (const name of ["text", "source"] as const) {
      const [select, box] = [this.#elements.languages[name], this.#elements[name]];
      select.onchange = () => {
        box.value = inLanguage(box.value, this.#languages, select.value);
        this.#type({ [name]: box.value, masked_positions: [] });
      };
    }
    step.onclick = () => {
      generator.stop();
      generator.takeSampled();
    };
    play.onclick = () => (generator.playing ? generator.stop() : generator.play());
    back.onclick = () => generator.backTo(generator.generated.length - 1);
    restart.onclick = () => generator.backTo(0);
    newest.onclick = () => this.#view(null);
    speed.onchange = () => {
      generator.speed = Number(speed.value);
    };
    useCache.onclick = () => {
      this.#state = { ...this.#state, useCache: !this.#state.useCache };
      this.#draw();
    };
    listenToSampling(
      this.#elements,
      () => this.#state.sampling,
      (patch) => this.#changeSampling(patch),
    );
  }

  #type(typed: Partial<Choice>) {
    fitHeights([this.#elements.text, this.#elements.source]);
    this.#drawLanguages();
    this.#change(typed);
  }

  #drawChat() {
    drawChat(this.#elements, this.#prompted.readsChat, this.#state.choice.chat === "1", this.#prompted.caption);
  }

  #drawLanguages() {
    const { languages, text, source } = this.#elements;
    drawLanguages(languages.text, this.#languages, text.value);
    drawLanguages(languages.source, this.#languages, source.value);
  }

  #toggleMask(position: number) {
    const { masked_positions: masked } = this.#state.choice;
    const others = masked.filter((other) => other !== position);
    this.#change({
      masked_positions: others.length < masked.length ? others : [...others, position].sort((a, b) => a - b),
    });
  }

  /** Shows an earlier step, or the next one (null). */
  async #view(step: number | null) {
    const shown = await this.#generator.view(step);
    if (shown && step !== null) this.#text.focus(step);
  }

  /** @param position of the token that the pointer is over */
  #point(position: number | null) {
    if (this.#hovered === position) return;
    this.#hovered = position;
    this.#attention.paint(this.#state, position);
    this.#shadeText();
  }

  #drawGallery() {
    const { images, hears } = this.#signals;
    this.#gallery.draw(images, hears, this.#state.choice.image || images[0] || "");
  }

  #drawExamples(examples: ExampleAnswer[]) {
    const { text, source } = this.#elements;
    const title = (example: ExampleAnswer) => example.text || example.source;
    drawExampleButtons(this.#elements.examples, examples.filter(title), title, (example) => {
      text.value = example.text;
      source.value = example.source;
      this.#type({ text: example.text, source: example.source, masked_positions: [] });
    });
  }

  /** Announces the taken words, and why no more can be taken. */
  #announce(texts: string[]) {
    const words = texts.map((text) => visibleText(text.trim())).join(" ");
    announce(this.#elements.root, [`Taken: ${words}.`, this.#generator.endReason].join(" ").trim());
  }

  #showProblem(sentence: string) {
    showProblem(this.#elements, sentence);
    this.#showState();
  }

  #showAnswer() {
    showProblem(this.#elements, "");
    this.#draw();
  }

  #draw() {
    const generator = this.#generator;
    if (!generator.hasPrompt) return;
    this.#clampHead();
    this.#drawTransport();
    const { newest } = generator;
    this.#elements.notes.replaceChildren(...(newest?.notes ?? []).map((note) => createElement("p", "", note)));
    this.#elements.hint.textContent = this.#hint();
    drawSampling(this.#elements, this.#state.sampling);
    this.#text.draw(this.#state.mode);
    this.#next.draw(this.#state.mode);
    this.#attention.draw(this.#state, this.#hovered);
    this.#copying.draw(this.#state);
    this.#shadeText();
    this.#drawCosts();
    this.#showState();
  }

  /** Another model may have fewer layers and heads. */
  #clampHead() {
    const { record } = this.#generator;
    if (!record || record.done || !record.attention_groups.length) return;
    const { choice } = this.#state;
    const group = groupOf(record, choice.attention);
    const [layer, head] = [Math.min(choice.layer, group.layers - 1), Math.min(choice.head, group.heads - 1)];
    this.#state = { ...this.#state, choice: { ...choice, layer, head } };
  }

  #drawTransport() {
    const { step, play, back, restart, status, rate } = this.#elements;
    const { newest, playing, generated, endReason } = this.#generator;
    setAvailable(step, !endReason);
    setAvailable(play, !endReason || playing);
    play.textContent = playing ? "Pause" : "Play";
    play.ariaPressed = String(playing);
    for (const button of [back, restart]) setAvailable(button, generated.length > 0);
    if (newest && !newest.done)
      status.textContent = `${newest.length} of ${newest.context} tokens · ${Math.round(newest.milliseconds)} ms`;
    rate.textContent = describeRate(this.#generator);
  }

  #hint() {
    if (this.#generator.viewed !== null)
      return "Click a candidate to take it instead: the text continues from here, and the old one stays among the branches.";
    if (this.#generator.generated.length) return "Click a generated word to go back there and choose another.";
    return this.#state.mode === "fill"
      ? "The mask with the most certain candidate is filled first."
      : "Underlined words were generated by the model.";
  }

  /** Shades every word by the attention of the current step. */
  #shadeText() {
    const { record } = this.#generator;
    if (!record || record.done || !record.attention_groups.length) return this.#text.shade([], "text");
    const group = groupOf(record, this.#state.choice.attention);
    this.#text.shade(attentionRow(record, group, this.#state.choice), group.keys);
  }

  #drawCosts() {
    const { newest } = this.#generator;
    const { useCache: button } = this.#elements;
    const isStep = newest !== null && !newest.done && newest.cache_rows.length > 0;
    this.#hasCache ||= isStep;
    this.#elements.cache.hidden = !newest || !this.#hasCache;
    if (!isStep) return;
    button.hidden = !newest.caches;
    button.ariaChecked = String(this.#state.useCache);
    (button.lastElementChild as Element).textContent = this.#state.useCache ? "kept" : "discarded after each step";
    this.#cache.draw(newest.cache_rows);
    drawStepTimes(this.#elements, this.#generator);
  }

  /** Exposes the length of the text, and whether its answer has arrived, to tests and benchmarks. */
  #showState() {
    const { dataset } = this.#elements.root;
    dataset.prompt = this.#state.choice.text;
    dataset.generated = String(this.#generator.generated.length);
    dataset.known = String(this.#generator.newest !== null);
    dataset.playing = String(this.#generator.playing);
  }
}

export default defineComponent((place, data: GenerateData) => new GeneratePage(place, data));
