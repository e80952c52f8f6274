// The notes about a shared link.

import assert from "node:assert/strict";
import { test } from "node:test";
import { linkNotes } from "../../../app/headlight_app/ui/frontend/export/link_notes.js";

const SAME = { omitted: [], ownModel: "", hasOwnPicture: false };
const ROOM = "http://192.168.1.20:8501/?text=a";

test("a link to shipped models and short texts shows others the same", () => {
  assert.equal(linkNotes(ROOM, SAME), "");
});

test("a model or picture of one's own is not seen by others", () => {
  const notes = linkNotes(ROOM, { ...SAME, ownModel: "tiny (your upload)", hasOwnPicture: true });
  assert.match(notes, /^Only your browser can open tiny \(your upload\): others see another model in its place\./);
  assert.match(notes, /Your picture stays with you: others see a shipped one in its place\.$/);
});

test("what is too long is named", () => {
  assert.match(linkNotes(ROOM, { ...SAME, omitted: ["source", "text"] }), /^It leaves out the source and the text,/);
});

test("a link that no other machine can open says so", () => {
  for (const host of ["localhost", "127.0.0.1", "127.8.0.1", "[::1]"])
    assert.match(
      linkNotes(`http://${host}:8501/`, SAME),
      /^It works on this machine only: no phone opens it\. .*--host 0\.0\.0\.0/,
    );
  for (const host of ["localhost.org", "10.0.0.1", "127.example.org"])
    assert.equal(linkNotes(`http://${host}:8501/`, SAME), "");
});
