// The address follows the choices, without Streamlit.

import assert from "node:assert/strict";
import { test } from "node:test";
import { AddressBar, addressQuery, linkAddress } from "../../../app/headlight_app/ui/frontend/address.ts";
import { AS_TRAINED, MAX_ADDRESS_LENGTH } from "../../../app/headlight_app/ui/frontend/contract.ts";

/**
 * An address bar in a simulated browser, and the addresses written.
 * @param {import("node:test").TestContext} context
 */
function bar(context) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {string[]} */
  const written = [];
  const place = { pathname: "/explore", search: "" };
  const pushState = (/** @type {unknown} */ _state, /** @type {string} */ _title, /** @type {string} */ address) => {
    written.push(address);
    place.search = address.slice(place.pathname.length);
  };
  for (const [name, value] of Object.entries({ location: place, history: { state: null, pushState } }))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  const state = { text: "the cat" };
  const settings = { model: "" };
  const made = new AddressBar(() => ({ state, settings }));
  return { state, settings, place, written, made };
}

test("a link contains the differences from the defaults", () => {
  const state = { model: "a", text: "x & y", layer: 2, edits: ["p=set:0", "q=scale:2"], pinned: [] };
  const query = addressQuery(state);
  assert.deepEqual(Object.fromEntries(new URLSearchParams(query ?? "")), {
    model: "a",
    text: "x & y",
    layer: "2",
    edits: "p=set:0;q=scale:2",
  });
  assert.equal(addressQuery({ model: "", text: null, layer: -1, pinned: [] }), "");
});

test("each part of a variant is a separate parameter", () => {
  assert.equal(addressQuery({ variant: { ...AS_TRAINED, scale: "off" } }), "scale=off");
  assert.equal(addressQuery({ variant: AS_TRAINED }), "");
});

test("a text that is too long or cannot be encoded has no link", () => {
  assert.equal(addressQuery({ text: "x".repeat(MAX_ADDRESS_LENGTH + 1) }), null);
  assert.equal(addressQuery({ text: "\ud800" }), null);
});

test("several quick changes write one address", (context) => {
  const { state, written, made } = bar(context);
  made.changed();
  context.mock.timers.tick(200);
  state.text = "the dog";
  made.changed();
  context.mock.timers.tick(400);
  assert.deepEqual(written, ["/explore?text=the+dog"]);
});

test("an unchanged address is not written again", (context) => {
  const { written, made } = bar(context);
  made.write();
  made.changed();
  made.write();
  context.mock.timers.tick(400);
  assert.deepEqual(written, ["/explore?text=the+cat"]);
});

test("a link contains the server's address, not localhost", () => {
  const here = "http://localhost:8501/lab/compare?text=a#top";
  const site = "http://192.168.1.20:8501/lab";
  assert.equal(linkAddress(here, "text=b", site), `${site}/compare?text=b`);
  assert.equal(linkAddress("http://localhost:9000/user/ann/", "", site), `${site}/`);
  assert.equal(linkAddress(here, "text=b", ""), "http://localhost:8501/lab/compare?text=b");
});

test("a model written to the address by Streamlit stays there", (context) => {
  const { settings, place, written, made } = bar(context);
  made.changed();
  place.search = "?model=sort";
  context.mock.timers.tick(400);
  assert.deepEqual(written, []);
  settings.model = "sort"; // the page has received it
  made.changed();
  context.mock.timers.tick(400);
  assert.deepEqual(written, ["/explore?model=sort&text=the+cat"]);
});
