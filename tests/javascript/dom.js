// A document for the modules under Node: import it before any module that draws.
//
// happy-dom has no layout and no canvas: everything is as large as the sizes below, and a canvas keeps the calls.

import { Window } from "happy-dom";

export const [WIDTH, HEIGHT] = [800, 400]; // pixels of every element
const REFLECTED = [
  ...["Busy", "Checked", "Current", "Disabled", "Expanded", "Hidden", "Invalid", "Label", "Live", "Modal", "Multiline"],
  ...["Pressed", "Selected", "Sort", "ValueMax", "ValueMin", "ValueNow", "ValueText", "RowCount", "ColCount"],
  ...["RowIndex", "ColIndex", "HasPopup", "KeyShortcuts", "Description", "RoleDescription", "Orientation", "Atomic"],
];

const window = new Window({ url: "http://localhost/", width: 1440, height: 900 });
const { document } = window;

/** The properties `ariaX`, which happy-dom lacks, as attributes. */
for (const name of REFLECTED) {
  const attribute = `aria-${name.toLowerCase()}`;
  Object.defineProperty(window.Element.prototype, `aria${name}`, {
    get() {
      return this.getAttribute(attribute);
    },
    set(value) {
      if (value === null) this.removeAttribute(attribute);
      else this.setAttribute(attribute, String(value));
    },
  });
}

const hyphened = (/** @type {string | symbol} */ name) =>
  `data-${String(name).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
/** `dataset` for elements of formulas, which happy-dom makes as plain elements. */
Object.defineProperty(window.Element.prototype, "dataset", {
  get() {
    return new Proxy(/** @type {DOMStringMap} */ ({}), {
      get: (_, name) => this.getAttribute(hyphened(name)) ?? undefined,
      set: (_, name, value) => {
        this.setAttribute(hyphened(name), value);
        return true;
      },
    });
  },
});

/** @type {WeakMap<object, Record<string, string>>} */
const styles = new WeakMap();
/** `style` for them. */
Object.defineProperty(window.Element.prototype, "style", {
  get() {
    if (!styles.has(this)) styles.set(this, {});
    return styles.get(this);
  },
});

const { get: focusOf } = Object.getOwnPropertyDescriptor(window.ShadowRoot.prototype, "activeElement") ?? {};
Object.defineProperty(window.ShadowRoot.prototype, "activeElement", {
  get() {
    try {
      return focusOf?.call(this) ?? null;
    } catch {
      return null; // happy-dom fails once the element with the focus was removed
    }
  },
});

const { matches } = window.Element.prototype;
/** happy-dom knows the focus of a document, but not that of a shadow root. */
Object.assign(window.Element.prototype, {
  /** @this {InstanceType<typeof window.Element>} @param {string} selector */
  matches(selector) {
    const root = this.getRootNode();
    if (!/^:focus(-visible)?$/.test(selector) || !(root instanceof window.ShadowRoot))
      return matches.call(this, selector);
    return root.activeElement === this;
  },
});

const box = { x: 0, y: 0, left: 0, top: 0, right: WIDTH, bottom: HEIGHT, width: WIDTH, height: HEIGHT };
for (const side of ["client", "offset"])
  for (const [name, length] of /** @type {const} */ ([
    ["Width", WIDTH],
    ["Height", HEIGHT],
  ]))
    Object.defineProperty(window.HTMLElement.prototype, side + name, { get: () => length });
Object.assign(window.Element.prototype, { getBoundingClientRect: () => ({ ...box }), scrollIntoView() {} });
Object.assign(window.HTMLElement.prototype, { showPopover() {}, hidePopover() {}, setPointerCapture() {} });

/** The calls of each canvas's context since it was last cleared, by the method's name. @type {WeakMap<object, unknown[][]>} */
const calls = new WeakMap();

/** What was drawn on a canvas since it was last cleared. @param {Element} canvas @returns {unknown[][]} */
export const drawnOn = (canvas) => calls.get(canvas) ?? [];

/** An image as what it shows: another canvas by what was drawn on it, pixels by their numbers. @param {unknown} given */
function contentOf(given) {
  if (given instanceof window.HTMLCanvasElement) return [...(calls.get(given) ?? [])];
  return given instanceof Object && "data" in given ? String(given.data) : given;
}

/** A context that keeps its calls and measures each letter as six pixels. @param {HTMLCanvasElement} canvas */
function createContext(canvas) {
  /** @type {Record<string | symbol, unknown>} */
  const fields = {
    canvas,
    measureText: (/** @type {string} */ text) => ({ width: 6 * text.length, actualBoundingBoxAscent: 8 }),
    createLinearGradient: () => ({ addColorStop() {} }),
    createImageData: (/** @type {number} */ width, /** @type {number} */ height) => ({
      width,
      height,
      data: new Uint8ClampedArray(4 * width * height),
    }),
  };
  return new Proxy(fields, {
    get: (target, name) => {
      if (name in target) return target[name];
      return (/** @type {unknown[]} */ ...given) => {
        if (name === "clearRect") calls.set(canvas, []);
        else calls.get(canvas)?.push([name, target.fillStyle, ...given.map(contentOf)]);
      };
    },
  });
}

/** @type {WeakMap<object, object>} */
const contexts = new WeakMap();
Object.assign(window.HTMLCanvasElement.prototype, {
  /** @this {HTMLCanvasElement} */
  getContext() {
    const context = contexts.get(this) ?? createContext(this);
    if (!calls.has(this)) calls.set(this, []);
    contexts.set(this, context);
    return context;
  },
});

/**
 * The constructor of options, which happy-dom lacks.
 * @param {string} text @param {string} value @param {boolean} [defaultSelected] @param {boolean} [selected]
 */
function createOption(text, value, defaultSelected = false, selected = false) {
  const option = Object.assign(document.createElement("option"), { text, value });
  option.toggleAttribute("selected", defaultSelected || selected);
  return option;
}

const shared = Object.getOwnPropertyNames(window).filter((name) => /^[A-Z]/.test(name) && !(name in globalThis));
Object.assign(globalThis, Object.fromEntries(shared.map((name) => [name, Reflect.get(window, name)])));
Object.assign(globalThis, {
  document,
  Option: createOption,
  window: globalThis,
  Event: window.Event,
  CustomEvent: window.CustomEvent,
  EventTarget: window.EventTarget,
  location: window.location,
  history: window.history,
  localStorage: window.localStorage,
  innerWidth: window.innerWidth,
  innerHeight: window.innerHeight,
  devicePixelRatio: 1,
  scrollTo() {},
  getComputedStyle: window.getComputedStyle.bind(window),
  matchMedia: window.matchMedia.bind(window),
  addEventListener: window.addEventListener.bind(window),
  removeEventListener: window.removeEventListener.bind(window),
  dispatchEvent: window.dispatchEvent.bind(window),
});
