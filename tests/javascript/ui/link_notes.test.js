// The notes about a shared link.

import assert from "node:assert/strict";
import { test } from "node:test";
import { linkNotes } from "../../../app/headlight_app/ui/frontend/export/link_notes.ts";

const SAME = { omitted: [], ownModel: "", hasOwnPicture: false };
const ROOM = "http://192.168.1.20:8501/?text=a";

test("a link to shipped models and short texts needs no note", () => {
  assert.equal(linkNotes(ROOM, SAME), "");
});

test("an uploaded model or picture is not visible to others", () => {
  const notes = linkNotes(ROOM, { ...SAME, ownModel: "tiny (your upload)", hasOwnPicture: true });
  assert.match(notes, /^Only your browser can open tiny \(your upload\): others see another model in its place\./);
  assert.match(notes, /Your picture is not in the link: others see a shipped one in its place\.$/);
});

test("omitted long texts are named", () => {
  assert.match(linkNotes(ROOM, { ...SAME, omitted: ["source", "text"] }), /^It leaves out the source and the text,/);
});

test("a link that no other machine can open says so", () => {
  for (const host of ["localhost", "127.0.0.1", "127.8.0.1", "[::1]"])
    assert.match(
      linkNotes(`http://${host}:8501/`, SAME),
      /^It works on this machine only, not on a phone\. .*--host 0\.0\.0\.0/,
    );
  for (const host of ["localhost.org", "10.0.0.1", "127.example.org"])
    assert.equal(linkNotes(`http://${host}:8501/`, SAME), "");
});
