// The address says what was chosen, soon after it was chosen and without Streamlit, so that a reload loses nothing.

const PAUSE = 300; // milliseconds without a change
const VARIANT_PARTS = ["masks", "positional_encoding", "attention_function", "scale", "pooling"];

/** @typedef {Record<string, unknown>} State everything that was chosen, by the names that a link has for it */

/**
 * What to write: `settings` are those choices of the state that Streamlit alone changes.
 * @typedef {{ state: State, settings: State, defaults: State, longest: number }} Linked see `addressQuery`
 */

/** Writes what was chosen into the address. */
export class AddressBar {
  #state;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {() => Linked} state what to write now */
  constructor(state) {
    this.#state = state;
  }

  /** Something was chosen: the address follows in a moment. */
  changed() {
    this.cancel();
    this.#timer = setTimeout(() => this.write(), PAUSE);
  }

  /** Writes it at once, unless Streamlit has written other settings: its state is the newer one, and on its way here. */
  write() {
    this.cancel();
    const { state, settings, defaults, longest } = this.#state();
    const written = Object.fromEntries(new URLSearchParams(location.search));
    const query = addressQuery({ ...state, ...settings }, defaults, longest);
    if (query === null || query === addressQuery(written, {}, longest)) return;
    const [known, usual] = [parameters(settings), parameters(defaults)];
    if (Object.entries(known).some(([name, value]) => value !== (written[name] ?? usual[name]))) return;
    history.pushState(history.state, "", query ? `${location.pathname}?${query}` : location.pathname);
  }

  cancel() {
    clearTimeout(this.#timer);
  }
}

/**
 * A state as the parameters of a link: what differs from the defaults. Null for texts that are too long for an address.
 * @param {State} state @param {State} defaults @param {number} longest characters of all texts together
 */
export function addressQuery(state, defaults, longest) {
  const texts = ["text", "source", "other_text"].map((name) => String(state[name] ?? ""));
  const length = texts.reduce((sum, text) => sum + [...text].length, 0);
  if (length > longest || texts.some((text) => !text.isWellFormed())) return null;
  const usual = parameters(defaults);
  const chosen = Object.entries(parameters(state)).filter(([name, value]) => value !== usual[name]);
  const query = new URLSearchParams(chosen);
  query.sort();
  return query.toString();
}

/** One parameter for each choice that was made; a variant's parts are one each. @param {State} state @returns {Record<string, string>} */
function parameters({ variant, ...state }) {
  const all = { ...state, ...(variant ?? {}) };
  const made = Object.entries(all).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(made.map(([name, value]) => [name, encode(value)]));
}

/**
 * A file of an earlier version has the parts of a variant beside everything else.
 * @param {State} state
 */
export function withVariant(state) {
  if ("variant" in state) return state;
  const parts = VARIANT_PARTS.filter((name) => name in state);
  return { ...state, variant: Object.fromEntries(parts.map((name) => [name, state[name]])) };
}

/**
 * This page's address with another query, to be shared.
 * @param {string} here @param {string} query @param {string} origin where others find the page; empty for where it is
 */
export function linkAddress(here, query, origin) {
  const link = new URL(new URL(here).pathname, origin || here);
  link.search = query;
  return link.href;
}

/** A choice as a parameter of an address. @param {unknown} value */
export function encode(value) {
  return Array.isArray(value) ? value.join(";") : String(value ?? "");
}
