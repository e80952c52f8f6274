// The rows that a page shows: an answer leaves out the views that are shown already.

import { MAX_KNOWN } from "../../contract.ts";
import type { ViewsAnswer } from "../../types.ts";
import { isControl } from "../controls.ts";
import type { View, ViewRow } from "../types.ts";

type Sent = { digest: string } & Partial<View>; // a view, or only its digest

export class ShownRows {
  rows: ViewRow[] = [];
  /** The fields of the request for a program. */
  program: ViewsAnswer["program"] = {};
  #views: Map<string, View> = new Map();
  /** The row of each list of digests. */
  #known: Map<string, ViewRow> = new Map();

  /** Of the views that are shown, as many as a request may have. */
  get digests() {
    return [...this.#views.keys()].slice(0, MAX_KNOWN);
  }

  /** A row or a view that is the same remains the same object, so that it is not drawn again. */
  take({ rows, program }: ViewsAnswer) {
    const [views, known] = [this.#views, this.#known];
    const used = new Set();
    this.#views = new Map();
    this.#known = new Map();
    this.program = program;
    this.rows = rows.map((row) => {
      const { views: sent, ...about } = row as Omit<ViewRow, "views"> & { views: Sent[] };
      let key = JSON.stringify([about, sent.map(({ digest }) => digest)]);
      while (this.#known.has(key)) key += " again";
      for (const view of sent) this.#views.set(view.digest, views.get(view.digest) ?? (view as View));
      const found = sent.map(({ digest }) => this.#views.get(digest) as View);
      const shown = known.get(key) ?? { ...about, views: found.map((view) => (used.has(view) ? { ...view } : view)) };
      for (const view of shown.views) used.add(view); // equal ones are drawn one by one
      this.#known.set(key, shown);
      return shown;
    });
  }

  /** Only the rows of nothing but controls, with which another question may be asked. */
  keepControls() {
    this.rows = this.rows.filter(({ views }) => views.length && views.every(isControl));
  }
}
