// Ways to share a page: a link, a frame for another page, a file of its state, and a program.

import { linkAddress, withVariant } from "../address.ts";
import { OWN_IMAGE_PREFIX } from "../contract.ts";
import { saveFile } from "../dom/clipboard.ts";
import { findByTestId } from "../dom/elements.ts";
import type { Api } from "../server.ts";
import { askRoute } from "../server.ts";
import type { ExportProgramRequest, LinkRequest, SharedPage, ShownSide, State } from "../types.ts";
import { linkNotes } from "./link_notes.ts";
import type { ExportMenu } from "./menu.ts";

export const STATE_FORMAT = "headlight";
const MAX_STATE_SIZE = 4 << 20; // bytes of a state file
const LONGEST_DRAWN = 300; // characters of an address at the foot of a figure

const TOO_LONG = "the address is in the metadata of this file";

/** The parts of a page that can be shared. */
export interface Shared {
  page: SharedPage;
  chosen: LinkRequest; // all choices
  sides: () => ShownSide[]; // the runs that it shows
  program: () => Promise<string>; // in Python
  open?: (state: Partial<State>) => Promise<void>; // takes over the state of a file
}

export class Share {
  #api;
  #menu;
  #collect;

  constructor(place: ParentNode, api: Api, menu: ExportMenu, collect: () => Shared) {
    this.#api = api;
    this.#menu = menu;
    this.#collect = collect;
    menu.listen({
      link: () => this.#copyLink(),
      embed: () => this.#copyEmbed(),
      state: () => this.#saveState(),
      python: async () => menu.copy(await collect().program(), "The Python program is copied."),
    });
    const input = findByTestId(place, "open-state", HTMLInputElement);
    input.onchange = () => menu.run(input, () => this.#openState(input));
  }

  /** A link, without the visitor's own pictures, and notes about what it omits. */
  async link(more: Partial<State> = {}) {
    const { page, chosen } = this.#collect();
    const { own_model: ownModel, room_address: room } = page;
    const pictures = (["image", "other_text"] as const).filter((name) =>
      chosen.state[name]?.startsWith(OWN_IMAGE_PREFIX),
    );
    const withoutPictures = Object.fromEntries(pictures.map((name) => [name, ""]));
    const state = { ...chosen.state, ...withoutPictures, presenter: "", embedded: "", ...more };
    const { meta } = await askRoute(this.#api, "link", { ...chosen, state });
    const link = linkAddress(location.href, meta.query, room);
    const notes = linkNotes(link, { omitted: meta.omitted, ownModel, hasOwnPicture: pictures.length > 0 });
    return { link, notes, state: meta.state };
  }

  /** The address for a figure: in full for its file, and for its foot only if it is short enough to be typed. */
  async address() {
    const { link } = await this.link();
    const drawn = decodeURI(link.replaceAll("%25", "%2525")); // letters of any script instead of percent codes
    return { link, drawn: drawn.length <= LONGEST_DRAWN ? drawn : TOO_LONG };
  }

  async #copyLink() {
    const { link, notes } = await this.link();
    await this.#menu.copy(link, `The link is copied. ${notes || "Everybody who opens it sees the same."}`);
  }

  async #copyEmbed() {
    const { link, notes } = await this.link({ embedded: "1" });
    const source = link.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
    const frame = `<iframe src="${source}" title="Headlight" width="100%" height="760" style="border: 0" sandbox="allow-scripts allow-same-origin"></iframe>`;
    await this.#menu.copy(frame, `The frame for another page is copied. ${notes}`);
  }

  async #saveState() {
    const { chosen, page, sides } = this.#collect();
    const { meta } = await askRoute(this.#api, "link", { ...chosen, state: { ...chosen.state, embedded: "" } });
    const asked = { sides: sides().map(describeSide), shown: `the state of the page ${page.path}` };
    const origin = await askRoute(this.#api, "export_origin", asked).catch(() => null); // refused states are saved too
    const provenance = origin?.meta.provenance ?? null;
    const file = { [STATE_FORMAT]: 1, page: page.path, provenance, state: meta.state };
    saveFile("headlight-state.json", "application/json", JSON.stringify(file, null, 1));
    this.#menu.say("The state is saved with the whole text. Open it here again at any time.");
  }

  async #openState(input: HTMLInputElement) {
    const file = input.files?.[0];
    input.value = "";
    if (!file) return;
    if (file.size > MAX_STATE_SIZE) throw new Error("This file is too large for a saved state.");
    const state = parseState(await file.text());
    if (!state) throw new Error("This file contains no state of Headlight. Save one here first.");
    const open = this.#collect().open ?? ((found: Partial<State>) => this.#visit(found));
    await open(withVariant(state));
    this.#menu.close();
  }

  /** Goes to the address of a state. */
  async #visit(state: Partial<State>) {
    const { meta } = await askRoute(this.#api, "link", { state });
    if (meta.omitted.length)
      throw new Error("The text of this state is too long for an address. Open the file on the page Explore.");
    location.search = meta.query;
  }
}

function parseState(text: string) {
  try {
    const read = JSON.parse(text);
    return read?.[STATE_FORMAT] && typeof read.state === "object" ? read.state : null;
  } catch {
    return null;
  }
}

/** The Python program that computes the numbers of a page. */
export async function programOf(api: Api, sides: ShownSide[], details?: Omit<ExportProgramRequest, "sides">) {
  return (await askRoute(api, "export_program", { sides: sides.map(describeSide), ...details })).meta.python;
}

/** A run in the form of a request. */
export function describeSide({ question, attention_group = "", heads = [] }: ShownSide) {
  return { question, attention_group, heads };
}
