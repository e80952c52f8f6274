// The menu Export of the Positions page: it asks for the numbers that the charts are drawn from only when it is used.

import { defineComponent } from "../../ui/frontend/bridge.js";
import { find } from "../../ui/frontend/dom/elements.js";
import { PageExport } from "../../ui/frontend/export/page_export.js";
import { describeSide } from "../../ui/frontend/export/share.js";
import { togglePresenter } from "../../ui/frontend/presenter.js";
import { askRoute } from "../../ui/frontend/server.js";
import { readFloats } from "../../ui/frontend/wire.js";
import { positionSides, positionsView } from "./export.js";

/** @import { Shared } from "../../ui/frontend/export/share.js" */
/** @import { NumberArray, PositionsData } from "./types.d.ts" */

class PositionsExport {
  #root;
  #data;
  #export;

  /** @param {HTMLElement} place @param {PositionsData} data */
  constructor(place, data) {
    this.#root = find(place, ".positions-export");
    this.#data = data;
    this.#export = new PageExport(place, data.api, {
      isReady: () => true,
      collect: async () => positionsView(await fetchProfile(this.#data), this.#data),
      share: () => this.#share(),
    });
  }

  /** @param {PositionsData} data */
  update(data) {
    this.#data = data;
    togglePresenter(this.#root, data.presenter === "1", []);
    this.#export.update(data);
  }

  /** @returns {Shared} */
  #share() {
    const { api, request, shared } = this.#data;
    const sides = () => positionSides(this.#data);
    const { length, stack, layer } = request;
    const program = async () => {
      const asked = { sides: sides().map(describeSide), length, stack, layer };
      return (await askRoute(api, "export_program", asked)).meta.python;
    };
    return { page: shared.page, chosen: { state: shared.state }, sides, program };
  }

  end() {
    this.#export.end();
  }
}

/** @param {PositionsData} data @returns {Promise<Record<string, NumberArray>>} */
async function fetchProfile({ api, request }) {
  const { meta, start, buffer } = await askRoute(api, "export_positions", request);
  const numbers = readFloats(buffer, start);
  let first = 0;
  return Object.fromEntries(
    Object.entries(meta.shapes)
      .map(([name, shape]) => {
        const count = shape.reduce((product, size) => product * size, 1);
        first += count;
        return /** @type {[string, NumberArray]} */ ([name, { shape, values: numbers.subarray(first - count, first) }]);
      })
      .filter(([name]) => !meta.missing || name.startsWith("bucket")), // of a table that was never trained only its layout
  );
}

export default defineComponent({
  mount: (place, /** @type {PositionsData} */ data) => new PositionsExport(place, data),
  update: (page, data) => page.update(data),
  unmount: (page) => page.end(),
});
