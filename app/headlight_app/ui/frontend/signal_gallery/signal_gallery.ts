// The images or recordings for models that read them instead of a sentence: shipped ones, and this visitor's uploads.

import { OWN_IMAGE_PREFIX } from "../contract.ts";
import { createButton, createElement } from "../dom/dom.ts";
import { find } from "../dom/elements.ts";
import type { Api } from "../server.ts";
import { failureText, uploadFile } from "../server.ts";

const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp"];
const SOUND_TYPE = "audio/wav"; // browsers use different types for WAV files

type GalleryEvents = { choose: (name: string) => void; fail: (sentence: string) => void };

/** The address of an image or a recording; only a server has them. */
export function signalUrl(api: Api, name: string) {
  return typeof api === "string" ? `${api}/image/${encodeURIComponent(name)}` : "";
}

export class SignalGallery {
  #place;
  #api;
  #events;
  #bring;
  #hears = false;
  #uploads: string[] = [];
  #player = createElement("audio", "player", [], { controls: true, ariaLabel: "The recording" });

  /** @param place the element of signal_gallery.html */
  constructor(place: HTMLElement, api: Api, events: GalleryEvents) {
    this.#place = place;
    this.#api = api;
    this.#events = events;
    const bring = find(place, ".bring input", HTMLInputElement);
    this.#bring = bring;
    bring.onchange = () => bring.files?.[0] && this.#upload(bring.files[0]);
    place.ondragover = (event) => event.preventDefault();
    place.ondrop = (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) this.#upload(file);
    };
  }

  /**
   * Offers the images or recordings for a model; none for a model of texts.
   * @param images names of shipped ones @param hears whether they are recordings
   */
  draw(images: readonly string[], hears: boolean, chosen: string) {
    this.#hears = hears;
    this.#place.hidden = !images.length;
    if (!images.length) return;
    if (chosen.startsWith(OWN_IMAGE_PREFIX) && !this.#uploads.includes(chosen)) this.#uploads.push(chosen);
    const names = [...images, ...this.#uploads];
    if (this.#place.dataset.names !== names.join()) {
      this.#place.dataset.names = names.join();
      find(this.#place, ".frames").replaceChildren(...names.map((name) => this.#frame(name)));
    }
    for (const button of this.#place.querySelectorAll(".frame"))
      button.ariaPressed = String(button.getAttribute("data-name") === chosen);
    if (hears) this.#drawPlayer(chosen);
  }

  /** Shows the player of the chosen recording, and the kinds of files that can be uploaded. */
  #drawPlayer(chosen: string) {
    this.#place.ariaLabel = "Recordings";
    this.#bring.accept = `.wav,${SOUND_TYPE}`;
    this.#bring.ariaLabel = "Your own recording";
    const label = this.#bring.parentElement as HTMLElement;
    label.title = "A WAV file, up to 8 MB. Only you can use it; the server keeps it in memory for a while.";
    if (!this.#player.isConnected) label.after(this.#player);
    const source = signalUrl(this.#api, chosen);
    if (this.#player.getAttribute("src") !== source) this.#player.src = source;
  }

  #frame(name: string) {
    const mine = name.startsWith(OWN_IMAGE_PREFIX);
    const title = mine
      ? `Your ${this.#hears ? "recording" : "image"}`
      : `${this.#hears ? "Recording" : "Image"}: ${name}`;
    const image = createElement("img", "", [], { alt: title, draggable: false });
    const shown = mine ? title : name;
    const button = createButton(
      this.#hears ? "frame sound" : "frame",
      this.#hears ? shown : [image],
      `picture-${mine ? "own" : name}`,
      () => this.#events.choose(name),
    );
    button.dataset.name = name;
    if (this.#hears) return button;
    button.title = title;
    image.onerror = () => {
      this.#uploads = this.#uploads.filter((other) => other !== name); // the server has deleted it
      button.remove();
    };
    image.src = signalUrl(this.#api, name);
    return button;
  }

  /** Uploads a picture or a recording once, as a file; it receives a name that only this visitor can use. */
  async #upload(file: File) {
    const bring = this.#bring;
    bring.disabled = true;
    try {
      if (!this.#hears && !IMAGE_TYPES.includes(file.type)) throw new Error("This is not a PNG, JPEG or WebP image.");
      const name = await uploadFile(this.#api, file, this.#hears ? SOUND_TYPE : file.type);
      this.#uploads.push(name);
      this.#events.choose(name);
    } catch (error) {
      this.#events.fail(failureText(error));
    } finally {
      bring.disabled = false;
      bring.value = "";
    }
  }
}
