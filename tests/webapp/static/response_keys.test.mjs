// Run by test_assets.py with Node's own test runner.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.mjs";

const { ResponseKeys } = await load("response_keys.js");

for (const [keyboard, key, code, option] of [
  ["English", "1", "Digit1", 0],
  ["English, number pad", "2", "Numpad2", 1],
  ["English, another digit", "3", "Digit3", -1],
  ["French, digits' row", "&", "Digit1", 0],
  ["French, digits' row", "é", "Digit2", 1],
  ["French, with shift", "1", "Digit1", 0],
  ["Arabic digits", "٢", "Digit2", 1],
  ["Persian digits", "۱", "Digit1", 0],
  ["Devanagari digits", "२", "Digit2", 1],
]) {
  test(`the digits 1 and 2 are found on every keyboard: ${keyboard}, ${key}`, () => {
    assert.equal(new ResponseKeys(["1", "2"]).findOption({ key, code }), option);
  });
}

for (const [keyboard, key, code, option] of [
  ["French, what the key writes decides", "q", "KeyA", 1],
  ["French, not its place", "a", "KeyQ", 0],
  ["Russian, the place decides", "ф", "KeyA", 0],
  ["Hebrew", "/", "KeyQ", 1],
  ["capitals", "A", "KeyA", 0],
  ["no letter", "Enter", "Enter", -1],
]) {
  test(`letters are found on every keyboard: ${keyboard}, ${key}`, () => {
    assert.equal(new ResponseKeys(["a", "q"]).findOption({ key, code }), option);
  });
}

test("keys can be changed and switched off, and this is kept for the next page", () => {
  const keys = new ResponseKeys(["1", "2"]);
  assert.equal(keys.setPreferences({ on: true, keys: ["f", "f"] }), false);
  assert.equal(keys.setPreferences({ on: true, keys: ["f", ""] }), false);
  assert.equal(keys.setPreferences({ on: true, keys: ["F", "j"] }), true);
  assert.equal(keys.findOption({ key: "j", code: "KeyJ" }), 1);
  assert.equal(keys.findOption({ key: "1", code: "Digit1" }), -1);
  keys.setPreferences({ on: false, keys: ["f", "j"] });
  assert.equal(new ResponseKeys(["1", "2"]).keys.length, 2);
});
