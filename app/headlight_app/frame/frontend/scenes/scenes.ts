// Scenes on every page: the current view can be added to a list, and in presenter mode arrow keys step through it.

import { MAX_SCENES_BYTES } from "../../../room/frontend/contract.ts";
import type { PageRow, Scene, SceneList } from "../../../room/frontend/scene_list.ts";
import {
  addScenes,
  checkedScene,
  defaultName,
  goTo,
  moveScene,
  neighbour,
  readFile,
  removeScene,
  renameScene,
  SCENES_EVENT,
  sceneAddress,
  sceneAt,
  writeFile,
} from "../../../room/frontend/scene_list.ts";
import { encode, withVariant } from "../../../ui/frontend/address.ts";
import { defineComponent } from "../../../ui/frontend/bridge.ts";
import { saveFile } from "../../../ui/frontend/dom/clipboard.ts";
import { createElement, listenTo } from "../../../ui/frontend/dom/dom.ts";
import { find, findAll, findByTestId, listenToSheet } from "../../../ui/frontend/dom/elements.ts";
import { HORIZONTAL_STEPS } from "../../../ui/frontend/dom/keyboard.ts";
import { askRoute, failureText } from "../../../ui/frontend/server.ts";
import { isShortcut } from "../../../ui/frontend/shortcut.ts";
import { listenToStore, loadScenes, storeScenes } from "./scene_store.ts";

type ScenesData = { api: string; pages: PageRow[]; presenter: boolean };

/** Elements that use the arrow keys themselves. */
const USES_ARROWS = [
  ...["grid", "application", "slider", "tablist", "radiogroup", "listbox", "menu", "toolbar", "dialog"].map(
    (role) => `[role="${role}"]`,
  ),
  ...["dialog", "canvas", "table", ".tokens", ".page", ".modebar"],
].join();

class Scenes {
  #data;
  #elements;
  #list: SceneList;
  #endings;

  constructor(place: HTMLElement, data: ScenesData) {
    this.#data = data;
    this.#list = loadScenes(data.pages);
    this.#elements = {
      ...findAll(place, ["back", "next"], HTMLButtonElement, "scene-"),
      ...findAll(place, ["button", "save", "take"], HTMLButtonElement, "scenes-"),
      ...findAll(place, ["name", "link"], HTMLInputElement, "scene-"),
      ...findAll(place, ["list", "told"], undefined, "scene-"),
      ...findAll(place, ["offered", "status"], undefined, "scenes-"),
      none: findByTestId(place, "no-scenes"),
      sheet: findByTestId(place, "scenes-sheet", HTMLDialogElement),
      form: findByTestId(place, "scene-form", HTMLFormElement),
      file: findByTestId(place, "scenes-open", HTMLInputElement),
    };
    this.#listen();
    this.#offer().catch(() => {}); // the sheet requests it again, and shows the error
    this.#endings = [
      listenTo(document, { keydown: this.#pressed, [SCENES_EVENT]: () => this.#open() }),
      listenToStore(() => {
        this.#list = loadScenes(this.#data.pages);
        this.#draw();
      }),
    ];
  }

  update(data: ScenesData) {
    this.#data = data;
    this.#draw();
  }

  end() {
    for (const end of this.#endings) end();
  }

  #listen() {
    const { button, back, next, save, sheet, form, file, link } = this.#elements;
    button.onclick = () => this.#open();
    back.onclick = () => this.#step(-1);
    next.onclick = () => this.#step(1);
    save.onclick = () => saveFile("headlight-scenes.json", "application/json", writeFile(this.#list));
    listenToSheet(sheet);
    form.onsubmit = (event) => {
      event.preventDefault();
      this.#try(() => this.#addPresent());
    };
    file.onchange = () => this.#try(() => this.#openFiles());
    link.onkeydown = (event) => {
      if (event.key === "Enter") this.#try(() => this.#addLink());
    };
  }

  #open() {
    const { sheet, name } = this.#elements;
    this.#say("");
    const present = sceneAt(location, this.#data.pages);
    name.value = "";
    name.placeholder = present?.name ?? "";
    if (!sheet.open) sheet.showModal();
    this.#offer().catch((error) => this.#say(failureText(error)));
  }

  /** Offer the server's scenes (only to browsers on its machine) that the list lacks. */
  async #offer() {
    const { take, offered } = this.#elements;
    const { name, text } = (await askRoute(this.#data.api, "offered_scenes", {})).meta;
    const list = text ? addScenes(this.#list, await this.#scenesOf(text, name)) : this.#list;
    const count = list.scenes.length - this.#list.scenes.length;
    offered.hidden = !count;
    this.#draw();
    take.textContent = `Add ${count} ${count === 1 ? "scene" : "scenes"} of ${name}, which this server was started with`;
    take.onclick = () => {
      offered.hidden = true;
      this.#edit(list);
    };
  }

  #say(sentence: string) {
    this.#elements.status.textContent = sentence;
  }

  /** Run `act`; show its message, or the error's sentence. */
  async #try(act: () => string | Promise<string>) {
    try {
      this.#say(await act());
    } catch (error) {
      this.#say(failureText(error));
    }
  }

  #change(list: SceneList) {
    this.#list = list;
    this.#draw();
    storeScenes(list);
  }

  #addPresent() {
    const { name } = this.#elements;
    const scene = sceneAt(location, this.#data.pages, name.value);
    if (!scene) throw new Error("This address is not a page of Headlight.");
    const before = this.#list.scenes.length;
    const list = addScenes(this.#list, [scene]);
    name.value = "";
    this.#change({ ...list, at: list.scenes.length > before ? list.scenes.length - 1 : list.at });
    return list.scenes.length > before
      ? `“${scene.name}” is scene ${list.scenes.length}.`
      : "This scene is in the list already.";
  }

  #addLink() {
    const { link } = this.#elements;
    const scene = URL.canParse(link.value, location.href)
      ? sceneAt(new URL(link.value, location.href), this.#data.pages)
      : null;
    if (!scene || !link.value.trim()) throw new Error("This is not a link to a page of Headlight.");
    this.#change(addScenes(this.#list, [scene]));
    link.value = "";
    return `“${scene.name}” is added.`;
  }

  async #openFiles() {
    const { file } = this.#elements;
    const files = [...(file.files ?? [])];
    file.value = "";
    let list = this.#list;
    for (const each of files) {
      if (each.size > MAX_SCENES_BYTES) throw new Error(`${each.name} is too large for scenes or a state.`);
      list = addScenes(list, await this.#scenesOf(await each.text(), each.name));
    }
    const added = list.scenes.length - this.#list.scenes.length;
    this.#change(list);
    return added === 1 ? "1 scene is added." : `${added} scenes are added.`;
  }

  /** @param text of a file @param file its name */
  async #scenesOf(text: string, file: string): Promise<Scene[]> {
    const { api, pages } = this.#data;
    const found = readFile(text, pages);
    if ("scenes" in found) return found.scenes;
    const state = withVariant({ ...found.state, presenter: "", embedded: "" });
    const { meta } = await askRoute(api, "link", { state });
    const query = new URLSearchParams(meta.query);
    const kept = meta.omitted.filter((name) => name !== "image"); // the visitor's own picture
    for (const name of kept) query.set(name, encode(state[name]));
    const page = pages.find(({ name }) => name === found.page) ?? pages[0];
    const name = /^headlight-state/.test(file) ? defaultName(page, query) : file.replace(/\.json$/i, "");
    return [checkedScene({ name, page: page.name, query: query.toString() })];
  }

  #step(step: number) {
    const place = neighbour(this.#list, step);
    if (place !== null) this.#show(place);
    else this.#tell(step > 0 ? "This is the last scene. Home goes to the first." : "This is the first scene.");
  }

  /** Show a sentence for a while; repeats it even if it is unchanged. */
  #tell(sentence: string) {
    const line = createElement("span", "", sentence);
    this.#elements.told.replaceChildren(line);
  }

  #show(place: number) {
    const { pages, presenter } = this.#data;
    const address = sceneAddress(this.#list.scenes[place], pages, presenter);
    this.#edit({ ...this.#list, at: place });
    this.#elements.sheet.close();
    if (presenter) this.#tell(`${place + 1} / ${this.#list.scenes.length}  ${this.#list.scenes[place].name}`);
    goTo(address);
  }

  #pressed = (event: KeyboardEvent) => {
    const step = event.key === "Home" ? -this.#list.at : HORIZONTAL_STEPS[event.key];
    if (step === undefined || !this.#data.presenter || !this.#list.scenes.length || !isShortcut(event, event.key))
      return;
    if (event.composedPath().some((part) => part instanceof Element && part.matches(USES_ARROWS))) return;
    event.preventDefault();
    this.#step(step);
  };

  #draw() {
    const { button, back, next, none, save, offered } = this.#elements;
    const { scenes, at } = this.#list;
    const { presenter } = this.#data;
    const isShow = presenter && scenes.length > 0;
    const isBar = isShow || (presenter && !offered.hidden);
    button.hidden = !isBar;
    button.textContent = isShow ? `${at < 0 ? "–" : at + 1} / ${scenes.length}` : "Scenes";
    button.title = isShow && at >= 0 ? scenes[at].name : "Views to go through in class";
    back.hidden = next.hidden = !isShow;
    back.disabled = neighbour(this.#list, -1) === null;
    next.disabled = neighbour(this.#list, 1) === null;
    none.hidden = scenes.length > 0;
    save.disabled = !scenes.length;
    document.documentElement.style.setProperty("--scenes-width", isBar ? "150px" : "0px");
    this.#drawRows();
  }

  #drawRows() {
    const { scenes, at } = this.#list;
    this.#elements.list.replaceChildren(...scenes.map((scene, place) => this.#createRow(scene, place, place === at)));
  }

  #createRow({ name, page }: Scene, place: number, isShown: boolean) {
    const go = createElement("button", "go", String(place + 1), { title: `Show “${name}”` });
    go.ariaLabel = `Show scene ${place + 1}: ${name}`;
    if (isShown) go.ariaCurrent = "true";
    go.onclick = () => this.#show(place);
    const named = { type: "text", value: name, ariaLabel: `Name of scene ${place + 1}` };
    const box = createElement("input", "", [], { ...named, maxLength: 120 });
    box.onchange = () => this.#edit(renameScene(this.#list, place, box.value));
    const title = this.#data.pages.find((one) => one.name === page)?.title ?? page;
    return createElement("li", "", [
      go,
      box,
      createElement("span", "page", title),
      this.#createTool("↑", `Scene ${place + 1} up`, place > 0, () => moveScene(this.#list, place, -1)),
      this.#createTool("↓", `Scene ${place + 1} down`, place + 1 < this.#list.scenes.length, () =>
        moveScene(this.#list, place, 1),
      ),
      this.#createTool("×", `Remove scene ${place + 1}`, true, () => removeScene(this.#list, place)),
    ]);
  }

  #createTool(sign: string, words: string, can: boolean, change: () => SceneList) {
    const onclick = () => {
      this.#edit(change());
      find(this.#elements.sheet, `[title="${words}"], [data-testid="scenes-close"]`).focus();
    };
    return createElement("button", "tool", sign, { disabled: !can, title: words, ariaLabel: words, onclick });
  }

  #edit(list: SceneList) {
    this.#try(() => {
      this.#change(list);
      return "";
    });
  }
}

export default defineComponent((place, data: ScenesData) => new Scenes(place, data));
