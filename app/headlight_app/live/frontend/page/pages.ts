// The pages of a live page: Explore, and Generate for a model that writes. Each shows the choices, and reports others.

import explore from "../../../explore/frontend/main.ts";
import generate from "../../../generate/frontend/main.ts";
import type { Choice, GenerateData } from "../../../generate/frontend/types.ts";
import { pick } from "../../../ui/frontend/bridge.ts";
import type { Backend } from "../../../ui/frontend/server.ts";
import { QUANTITIES } from "../routes.ts";
import type { Chosen } from "./choices.ts";
import { filled, fitting } from "./choices.ts";
import type { LiveGenerate, LivePage } from "./types.ts";
import { decodeSampling, decodeWritten, encodeSampling, encodeWritten } from "./written.ts";

type Tell = (name: string, value: unknown) => void;

/** A page: its HTML and its style sheets, and how it is drawn. */
export interface Part {
  html: string;
  css: string;
  /** Draws it, at first and after each report; returns what ends it once it is out of sight. */
  draw(place: HTMLElement, chosen: Chosen, serial: number, tell: Tell): () => void;
  /** The choices after a report. */
  heard(chosen: Chosen, told: Record<string, unknown>): Chosen;
}

export function partsOf(page: LivePage, backend: Backend): Map<string, Part> {
  const parts = new Map([["explore", explorePart(page, backend)]]);
  if (page.generate) parts.set("generate", generatePart(page, page.generate, backend));
  return parts;
}

function explorePart({ html, css, data, rules }: LivePage, api: Backend): Part {
  const quantities = data.quantities.filter(({ name }) => QUANTITIES.some((known) => known === name));
  return {
    html,
    css,
    draw(parentElement, chosen, serial, setStateValue) {
      const given = { ...data, quantities, state: filled(chosen, data), serial, api, link_place: "hash" as const };
      return explore({ parentElement, data: [given], setStateValue });
    },
    heard(chosen, told) {
      const now = filled({ ...filled(chosen, data), ...fitting(told, rules) }, data);
      return { ...now, text: now.text === data.opening.text ? null : now.text }; // each page opens with its own
    },
  };
}

function generatePart({ data: opening, rules }: LivePage, { html, css, data }: LiveGenerate, api: Backend): Part {
  const stateOf = (chosen: Chosen): Choice => {
    const { text, layer = -1, head = -1 } = chosen;
    const isSaid = Math.max(layer, head) >= 0;
    const place = isSaid ? { layer: Math.max(layer, 0), head: Math.max(head, 0) } : data.state;
    const all = { ...data.state, ...chosen, text: text ?? data.state.text };
    const own = { ...all, layer: place.layer, head: place.head, source: "", image: "", chat: "" };
    return pick(own as Choice, data.state);
  };
  const given = (chosen: Chosen, serial: number): GenerateData => {
    const state = stateOf(chosen);
    const settings = { ...data.settings, variant: filled(chosen, opening).variant };
    const sampling = decodeSampling(chosen.sampling ?? "", data.sampling);
    const generated = decodeWritten({ ...settings, ...state }, chosen.generated ?? "");
    return { ...data, settings, state, sampling, generated, serial, api };
  };
  return {
    html,
    css,
    draw: (parentElement, chosen, serial, setStateValue) =>
      generate({ parentElement, data: [given(chosen, serial)], setStateValue }),
    heard(chosen, told) {
      const { settings, state, sampling, generated } = given(chosen, 0);
      const now = { ...state, sampling, generated, ...told };
      return {
        ...chosen,
        ...fitting(told, rules),
        sampling: encodeSampling(now.sampling, data.sampling),
        generated: encodeWritten({ ...settings, ...now }, now.generated),
      };
    },
  };
}
