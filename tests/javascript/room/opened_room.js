// A room's component, and a server that the test plays.

import "../dom.js";
import { readFileSync } from "node:fs";
import { afterEach, mock } from "node:test";
import { defineRoom } from "../../../app/headlight_app/room/frontend/room.ts";
import { Opened, pack, settle } from "../opened.js";

/** @typedef {(body: any) => Record<string, unknown>} Act */

const HTML = readFileSync(new URL("../../../app/headlight_app/room/frontend/room.html", import.meta.url), "utf8");
const VISIT = 5000; // milliseconds between two visits
const COOKIE = "headlight_room_8501";
export const CODE = "BCDFG";
export const PAGES = [
  { name: "explore", title: "Explore", path: "/" },
  { name: "course", title: "Course", path: "/course" },
];
/** @type {import("../../../app/headlight_app/room/frontend/contract.ts").RoomPanelAnswer} */
export const EMPTY = {
  ...{
    code: CODE,
    view: { page: "", query: "" },
    link: `http://lab/room/${CODE}`,
    picture: "<svg/>",
    seconds_left: 60,
  },
  ...{ members: 0, present: 0, refused: 0, networks: [], places: [], questions: [], hand_ins: [] },
  ...{ wants_nicknames: false, nicknames: [], shown: null },
};
export const STUDENT = { role: "student", number: 1, is_shown: false, brought: 0, view: null, wants_nickname: false };

/** @type {(() => void)[]} */
const endings = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

/**
 * A page in a room; `acts` answer its questions by their routes, and may throw an error as a refusal,
 * or a TypeError as a network that fails.
 * @param {Record<string, Act>} acts
 * @param {{ describers?: import("../../../app/headlight_app/room/frontend/places.ts").Describers, isInside?: boolean }} [more]
 */
export async function openRoom(acts, { describers = new Map(), isInside = true } = {}) {
  /** @type {{ route: string, body: any }[]} */
  const asked = [];
  globalThis.fetch = /** @type {typeof fetch} */ (
    async (address, request) => {
      const route = String(address).replace(/^.*\bapi\//, "");
      const body = JSON.parse(String(request?.body));
      asked.push({ route, body });
      try {
        const { bytes = "", ...meta } = acts[route](body);
        return pack({ meta, numbers: Buffer.from(String(bytes)).toString("base64") });
      } catch (error) {
        if (error instanceof TypeError) throw error; // the network
        return pack({ meta: { error: String(error).replace("Error: ", "") }, numbers: "" });
      }
    }
  );
  history.replaceState(null, "", "/course?chapter=attention");
  // biome-ignore lint/suspicious/noDocumentCookie: as the page reads it
  document.cookie = isInside ? `${COOKIE}=${CODE}` : `${COOKIE}=; max-age=0`;
  const host = document.createElement("div");
  document.body.append(host);
  const place = host.attachShadow({ mode: "open" });
  place.innerHTML = HTML;
  const data = { api: "api", pages: PAGES, cookie: COOKIE, presenter: false, own_models: {}, invitation: null };
  const run = defineRoom(describers);
  const mounted = { parentElement: /** @type {any} */ (place), data: /** @type {[typeof data]} */ ([data]) };
  const end = run({ ...mounted, setStateValue: () => {} });
  endings.push(() => {
    host.remove();
    end();
  });
  await settle();
  const page = new Opened(place, [], data);
  return { page, asked, rerun: () => run({ ...mounted, setStateValue: () => {} }) };
}

/** Lets the time until the next visit pass. */
export async function nextVisit() {
  mock.timers.tick(VISIT);
  await settle();
}
