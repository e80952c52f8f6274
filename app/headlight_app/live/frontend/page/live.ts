// A live page: Explore with a worker in place of the server and this module in place of Streamlit.

import explore from "../../../explore/frontend/main.ts";
import type { ToldChoice } from "../../../explore/frontend/types.ts";
import { listenTo } from "../../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import { FAMILY } from "../../../ui/frontend/fonts/mathematics.ts";
import type { Backend } from "../../../ui/frontend/server.ts";
import { inflate } from "../../../ui/frontend/wire.ts";
import { QUANTITIES, ROUTES } from "../routes.ts";
import { filled, fitting, readLink } from "./choices.ts";
import { MissingPart, packedPart } from "./parts.ts";
import type { LivePage, OpenModel } from "./types.ts";
import { WorkerBackend } from "./worker_backend.ts";

const [MODE, SIMPLE] = ["headlight-mode", "headlight-simple"]; // as in explore/frontend/first_visit/mode.ts
const DARK = "(prefers-color-scheme: dark)";

/** Opens the page; its last script calls it. */
export async function openPage() {
  document.documentElement.dataset.opened = ""; // the document is whole
  const status = findByTestId(document, "live-status");
  try {
    await open();
    status.textContent = "";
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    status.textContent =
      error instanceof MissingPart
        ? reason
        : `This browser cannot show the page (${reason}). Update it, or open the page in another one.`;
  }
}

async function open() {
  const [page, font, code] = await Promise.all(["page", "font", "worker"].map(inflatedPart));
  document.fonts.add(new FontFace(FAMILY, font));
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const model = readModel();
  const known: LivePage = JSON.parse(new TextDecoder().decode(page));
  const backend = new WorkerBackend(new Worker(address), ROUTES, model);
  openLive(findByTestId(document, "live"), known, backend);
  await backend.settled; // Explore says why there is no model
}

async function inflatedPart(name: string) {
  return inflate(await packedPart(name));
}

async function readModel(): Promise<OpenModel> {
  const [model, weights] = await Promise.all([packedPart("model"), packedPart("weights")]);
  return { model, weights };
}

/** Mounts Explore in a shadow root, and returns choices to it as data, as a run of the app would. */
export function openLive(host: HTMLElement, { html, css, data, rules }: LivePage, backend: Backend) {
  document.documentElement.classList.toggle(SIMPLE, storedMode() !== "full");
  const root = host.attachShadow({ mode: "open" });
  root.innerHTML = `<style>${css}</style>${html}`;
  const quantities = data.quantities.filter(({ name }) => QUANTITIES.some((known) => known === name));
  const linked = () => filled(readLink(location.hash.slice(1), rules), data);
  const now = { state: linked(), serial: 0 };
  const run = () => {
    const given = { ...data, quantities, ...now, api: backend, link_place: "hash" as const };
    explore({ parentElement: root as unknown as HTMLElement, data: [given], setStateValue: hear });
  };
  const hear = (_: string, told: unknown) => {
    const { serial, ...chosen } = told as Partial<ToldChoice> & { serial: number };
    now.serial = serial;
    now.state = filled({ ...now.state, ...fitting(chosen, rules) }, data);
    setTimeout(run); // as an answer of Streamlit, once what reports it has ended
  };
  run();
  listenTo(window, {
    popstate: () => {
      now.state = linked();
      run();
    },
  });
  matchMedia(DARK).addEventListener("change", run); // drawings have other colours
}

function storedMode() {
  try {
    return localStorage.getItem(MODE);
  } catch {
    return null;
  }
}
