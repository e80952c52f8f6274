// The tests of what the pages draw, `*/*.dom.js`, in one process: each would otherwise load its document and the app
// again. One alone: `node --test explore/heads.dom.js`.

import { globSync } from "node:fs";

for (const file of globSync("*/*.dom.js", { cwd: import.meta.dirname }).sort()) await import(`./${file}`);
