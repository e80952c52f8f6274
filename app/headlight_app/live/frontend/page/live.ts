// A live page: Explore in a file, with a worker in place of the server and this module in place of Streamlit.

import explore from "../../../explore/frontend/main.ts";
import type { ToldChoice } from "../../../explore/frontend/types.ts";
import { listenTo } from "../../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import { FAMILY } from "../../../ui/frontend/fonts/mathematics.ts";
import type { Backend } from "../../../ui/frontend/server.ts";
import { fromBase64, inflate } from "../../../ui/frontend/wire.ts";
import { QUANTITIES, ROUTES } from "../routes.ts";
import { filled, fitting, readLink } from "./choices.ts";
import type { LivePage, OpenModel } from "./types.ts";
import { WorkerBackend } from "./worker_backend.ts";

const [MODE, SIMPLE] = ["headlight-mode", "headlight-simple"]; // as in explore/frontend/first_visit/mode.ts
const DARK = "(prefers-color-scheme: dark)";

/** Opens the page; the last script of the file calls it. */
export async function openFile() {
  document.documentElement.dataset.opened = ""; // the file is whole
  const status = findByTestId(document, "live-status");
  try {
    await open();
    status.textContent = "";
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    status.textContent = `This browser cannot show the page (${reason}). Update it, or open the file in another one.`;
  }
}

async function open() {
  const page: LivePage = JSON.parse(textOf("page"));
  document.fonts.add(new FontFace(FAMILY, fromBase64(textOf("font"))));
  const code = await inflate(textOf("worker"));
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const model: OpenModel = { model: textOf("model"), weights: textOf("weights") };
  const backend = new WorkerBackend(new Worker(address), ROUTES, model);
  openLive(findByTestId(document, "live"), page, backend);
  await backend.settled;
}

/** The text of a part of the file; it is needed once. */
function textOf(name: string) {
  const part = findByTestId(document, `part-${name}`);
  const text = part.textContent ?? "";
  part.remove();
  return text;
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
