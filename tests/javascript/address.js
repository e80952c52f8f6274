// Writes the browser's query strings for the states on standard input: `node address.js < states.json`.

import { readFileSync } from "node:fs";
import { addressQuery } from "../../app/headlight_app/ui/frontend/address.ts";

/** @type {import("../../app/headlight_app/ui/frontend/address.ts").State[]} */
const states = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(states.map((state) => addressQuery(state))));
