// The queries that the browser writes for states on standard input: `node address.mjs < states.json`.

import { readFileSync } from "node:fs";
import { addressQuery } from "../../app/headlight_app/ui/frontend/address.js";

const { states, defaults, longest } = JSON.parse(readFileSync(0, "utf8"));
const queries = states.map((/** @type {import("../../app/headlight_app/ui/frontend/address.js").State} */ state) =>
  addressQuery(state, defaults, longest),
);
console.log(JSON.stringify(queries));
