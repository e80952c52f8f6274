// Writes the browser's query strings for the states on standard input: `node address.js < states.json`.

import { readFileSync } from "node:fs";
import { addressQuery } from "../../app/headlight_app/ui/frontend/address.ts";

const { states, defaults, longest } = JSON.parse(readFileSync(0, "utf8"));
const queries = states.map((/** @type {import("../../app/headlight_app/ui/frontend/address.ts").State} */ state) =>
  addressQuery(state, defaults, longest),
);
console.log(JSON.stringify(queries));
