// The provenance line of a picture.

import assert from "node:assert/strict";
import { test } from "node:test";
import { editsInWords, provenanceLine } from "../../../app/headlight_app/ui/frontend/state/provenance.ts";
import { createPage } from "../explore/page.js";

test("changes are in words, before the version and the date", () => {
  const changes = editsInWords(createPage().state, ["decoder.1.self.weights[3]=set:0"]);
  assert.equal(provenanceLine(["toy", "Headlight"], changes), "toy · changed: Head 3 of layer 1 off · Headlight");
  assert.equal(provenanceLine(["toy", "Headlight"], []), "toy · Headlight");
});
