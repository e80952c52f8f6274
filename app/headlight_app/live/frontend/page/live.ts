// A live page: Explore and Generate in a file, with a worker in place of the server and this module in place of Streamlit.

import { createElement } from "../../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import { FAMILY } from "../../../ui/frontend/fonts/mathematics.ts";
import type { Backend } from "../../../ui/frontend/server.ts";
import { inflate } from "../../../ui/frontend/wire.ts";
import { ROUTES } from "../routes.ts";
import { readLink } from "./choices.ts";
import { Links } from "./links.ts";
import type { Part } from "./pages.ts";
import { partsOf } from "./pages.ts";
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

/** Shows the pages, one at a time, in a shadow root, and returns choices to them as data, as a run of the app would. */
export function openLive(host: HTMLElement, page: LivePage, backend: Backend) {
  document.documentElement.classList.toggle(SIMPLE, storedMode() !== "full");
  if (!location.hash && page.link) history.replaceState(history.state, "", `#${page.link}`);
  const parts = partsOf(page, backend);
  const links = new Links([...parts.keys()], page.data.default_attention);
  const now = { name: links.name, chosen: readLink(links.query, page.rules), serial: 0 };
  let [shown, end] = ["", () => {}];
  let root: ShadowRoot | null = null;
  const run = () => {
    const part = parts.get(now.name) as Part;
    const leave = end;
    if (shown !== now.name) root = mounted(host, part);
    shown = now.name;
    end = part.draw(root as unknown as HTMLElement, now.chosen, now.serial, hear);
    leave();
    links.draw(now.name, now.chosen);
  };
  const hear = (_: string, told: unknown) => {
    const { serial, ...choices } = told as Record<string, unknown> & { serial: number };
    now.serial = serial;
    now.chosen = (parts.get(now.name) as Part).heard(now.chosen, choices);
    if (now.name !== "explore") links.write(now.name, now.chosen); // Explore writes its own address
    setTimeout(run); // as an answer of Streamlit, once what reports it has ended
  };
  run();
  links.listen({
    follow(name) {
      now.name = name;
      links.write(name, now.chosen);
      run();
      scrollTo(0, 0);
    },
    back() {
      Object.assign(now, { name: links.name, chosen: readLink(links.query, page.rules) });
      run();
    },
  });
  matchMedia(DARK).addEventListener("change", run); // drawings have other colours
}

/** The place of a page, which replaces the one before. */
function mounted(host: HTMLElement, { html, css }: Part): ShadowRoot {
  const place = createElement("div");
  const root = place.attachShadow({ mode: "open" });
  root.innerHTML = `<style>${css}</style>${html}`;
  host.replaceChildren(place);
  return root;
}

function storedMode() {
  try {
    return localStorage.getItem(MODE);
  } catch {
    return null;
  }
}
