// The links to the pages of a live page, and its address, whose fragment says which page is open and what is chosen.

import { addressQuery } from "../../../ui/frontend/address.ts";
import { DEFAULT_STATE, MAX_ADDRESS_LENGTH } from "../../../ui/frontend/contract.ts";
import { createElement, listenTo } from "../../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import type { Chosen } from "./choices.ts";

const FIRST = "explore";

interface LinkEvents {
  follow(name: string): void; // another page is asked for
  back(): void; // the address has changed
}

export class Links {
  #names;
  #attention;
  #links: Map<string, HTMLAnchorElement>;
  #models = document.querySelectorAll<HTMLAnchorElement>('[data-testid="live-models"] a');

  /** @param names of the pages @param attention that is open at first, which no address needs to name */
  constructor(names: readonly string[], attention: string) {
    this.#names = names;
    this.#attention = attention;
    this.#links = new Map(names.map((name) => [name, createElement("a", "", name[0].toUpperCase() + name.slice(1))]));
    const place = findByTestId(document, "live-pages");
    place.hidden = names.length < 2;
    place.replaceChildren(...this.#links.values());
  }

  /** The fragment of the address. */
  get query() {
    return location.hash.slice(1);
  }

  /** The page that the address names. */
  get name() {
    const name = new URLSearchParams(this.query).get("page") ?? FIRST;
    return this.#names.includes(name) ? name : FIRST;
  }

  /** Marks the open page, and lets the links to all pages keep what is chosen; those to other models keep the text. */
  draw(open: string, chosen: Chosen) {
    for (const [name, link] of this.#links) {
      link.href = this.#address(name, chosen);
      link.ariaCurrent = name === open ? "page" : null;
    }
    const { text = null } = chosen;
    for (const link of this.#models) link.hash = this.#address(open, text === null ? {} : { text });
  }

  write(name: string, chosen: Chosen) {
    const address = this.#address(name, chosen);
    if (parametersOf(address) !== parametersOf(location.hash)) history.pushState(history.state, "", address);
  }

  listen({ follow, back }: LinkEvents) {
    for (const [name, link] of this.#links)
      link.onclick = (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another window
        event.preventDefault();
        if (name !== this.name) follow(name);
      };
    listenTo(window, { popstate: back });
  }

  #address(name: string, { variant, ...chosen }: Chosen) {
    const { attention = "", generated = "" } = chosen;
    const state = {
      ...DEFAULT_STATE,
      ...chosen,
      variant: { ...DEFAULT_STATE.variant, ...variant },
      attention: attention === this.#attention ? "" : attention,
      generated: generated.length > MAX_ADDRESS_LENGTH ? "" : generated,
    };
    const query = addressQuery(state) ?? addressQuery({ ...DEFAULT_STATE, variant: state.variant });
    return `#${[name === FIRST ? "" : `page=${name}`, query].filter(Boolean).join("&")}`;
  }
}

/** The parameters of a fragment, which may be written in several ways. */
function parametersOf(fragment: string) {
  const parameters = new URLSearchParams(fragment.slice(1));
  parameters.sort();
  return parameters.toString();
}
