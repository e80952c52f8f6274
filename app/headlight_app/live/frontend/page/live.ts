// A live page: Explore and Generate in a file, with a worker in place of the server and this module in place of Streamlit.

import { createElement } from "../../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import { FAMILY } from "../../../ui/frontend/fonts/mathematics.ts";
import type { Backend } from "../../../ui/frontend/server.ts";
import { failureText } from "../../../ui/frontend/server.ts";
import { fromBase64, inflate } from "../../../ui/frontend/wire.ts";
import { ROUTES } from "../routes.ts";
import { readLink } from "./choices.ts";
import { Links } from "./links.ts";
import type { Part } from "./pages.ts";
import { partsOf } from "./pages.ts";
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
    status.textContent = `This browser cannot show the page: ${failureText(error)} A newer one can.`;
  }
}

async function open() {
  const page: LivePage = JSON.parse(textOf("page"));
  document.fonts.add(new FontFace(FAMILY, fromBase64(textOf("font"))));
  const code = await inflate(textOf("worker"));
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const model: OpenModel = { model: textOf("model"), weights: textOf("weights") };
  openLive(findByTestId(document, "live"), page, new WorkerBackend(new Worker(address), ROUTES, model));
}

/** The text of a part of the file; it is needed once. */
function textOf(name: string) {
  const part = findByTestId(document, `part-${name}`);
  const text = part.textContent ?? "";
  part.remove();
  return text;
}

/** Shows the pages, one at a time, in a shadow root, and returns choices to them as data, as a run of the app would. */
export function openLive(host: HTMLElement, page: LivePage, backend: Backend) {
  document.documentElement.classList.toggle(SIMPLE, storedMode() !== "full");
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
