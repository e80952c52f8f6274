// Writes choices into the address soon after they were made, without Streamlit, so that a reload loses nothing.

import { AS_TRAINED, DEFAULT_STATE, MAX_ADDRESS_LENGTH, STATE_TEXTS } from "./contract.ts";

const PAUSE = 300; // milliseconds without a change

export type State = Record<string, unknown>; // all choices, by their names in a link

/** What to write: `settings` are the choices that only Streamlit changes. See `addressQuery`. */
type Linked = { state: State; settings: State };

/** Where a link has its parameters: in the query, which a server reads, or in the fragment. */
export type LinkPlace = "search" | "hash";

/** Writes the choices into the address. */
export class AddressBar {
  #state;
  #place;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param state what to write now */
  constructor(state: () => Linked, place: LinkPlace = "search") {
    this.#state = state;
    this.#place = place;
  }

  /** Call after a choice: the address follows in a moment. */
  changed() {
    this.cancel();
    this.#timer = setTimeout(() => this.write(), PAUSE);
  }

  /** Writes it at once, unless Streamlit has written other settings: then its newer state is about to arrive. */
  write() {
    this.cancel();
    const { state, settings } = this.#state();
    const written = Object.fromEntries(new URLSearchParams(location[this.#place].slice(1)));
    const query = addressQuery({ ...state, ...settings });
    if (query === null || query === addressQuery(written, {})) return;
    const usual = parameters({ ...DEFAULT_STATE });
    if (Object.entries(parameters(settings)).some(([name, value]) => value !== (written[name] ?? usual[name]))) return;
    // A page in a notebook has the address of a blob, which allows no change but of its fragment.
    const [here, sign] = this.#place === "hash" ? [location.href.split("#")[0], "#"] : [location.pathname, "?"];
    history.pushState(history.state, "", query ? `${here}${sign}${query}` : here);
  }

  cancel() {
    clearTimeout(this.#timer);
  }
}

/** The parameters of a link: the choices that differ from the defaults. Null if the texts are too long for an address. */
export function addressQuery(state: State, defaults: State = { ...DEFAULT_STATE }) {
  const texts = STATE_TEXTS.map((name) => String(state[name] ?? ""));
  const length = texts.reduce((sum, text) => sum + [...text].length, 0);
  if (length > MAX_ADDRESS_LENGTH || texts.some((text) => !text.isWellFormed())) return null;
  const usual = parameters(defaults);
  const chosen = Object.entries(parameters(state)).filter(([name, value]) => value !== usual[name]);
  const query = new URLSearchParams(chosen);
  query.sort();
  return query.toString();
}

/** One parameter for each choice and each part of a variant. */
function parameters({ variant, ...state }: State): Record<string, string> {
  const all = { ...state, ...(variant ?? {}) };
  const made = Object.entries(all).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(made.map(([name, value]) => [name, encode(value)]));
}

/** Files of earlier versions contain the parts of a variant at the top level. */
export function withVariant(state: State) {
  if ("variant" in state) return state;
  const parts = Object.keys(AS_TRAINED).filter((name) => name in state);
  return { ...state, variant: Object.fromEntries(parts.map((name) => [name, state[name]])) };
}

/**
 * This page's address with another query, for sharing.
 * @param site at which others reach its folder; empty: as `here`
 */
export function linkAddress(here: string, query: string, site: string) {
  const page = new URL(here).pathname.split("/").at(-1) || ".";
  const link = new URL(page, site ? `${site}/` : here);
  link.search = query;
  return link.href;
}

/** A choice as the value of a query parameter. */
export function encode(value: unknown) {
  return Array.isArray(value) ? value.join(";") : String(value ?? "");
}
