// Run by test_assets.py with Node's own test runner.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.mjs";

const memory = await load("browser_storage.js");

/** A browser's storage, which may be denied. */
function storage() {
  const kept = new Map();
  const open = (act) => (...given) => {
    if (kept.denied) throw new Error("denied");
    return act(...given);
  };
  return {
    kept,
    getItem: open((name) => kept.get(name) ?? null),
    setItem: open((name, value) => void kept.set(name, value)),
    removeItem: open((name) => void kept.delete(name)),
  };
}

test.beforeEach(() => {
  globalThis.localStorage = storage();
  globalThis.sessionStorage = storage();
  globalThis.document = { body: { dataset: {} } };
});

test("what is remembered comes back under a name of ours, until it is forgotten", () => {
  memory.saveValue("keys", { on: true });
  assert.deepEqual([...localStorage.kept], [["parallax keys", '{"on":true}']]);
  assert.deepEqual(memory.loadValue("keys"), { on: true });
  memory.saveValue("keys", undefined);
  assert.deepEqual([localStorage.kept.size, memory.loadValue("keys")], [0, undefined]);
});

test("on a shared computer the window's storage holds it", () => {
  document.body.dataset.shared = "";
  memory.saveValue("keys", 1);
  assert.deepEqual([localStorage.kept.size, sessionStorage.kept.size], [0, 1]);
  memory.saveValue("keys", undefined);
});

test("where storage is denied, the page remembers", () => {
  assert.equal(memory.isPersistent(), true);
  assert.equal(localStorage.kept.size, 0);
  localStorage.kept.denied = true;
  assert.equal(memory.isPersistent(), false);
  memory.saveValue("keys", [2]);
  assert.deepEqual(memory.loadValue("keys"), [2]);
  assert.equal(memory.loadValue("other"), undefined);
  memory.saveValue("keys", undefined);
  assert.equal(memory.loadValue("keys"), undefined);
});

test("a session that is over keeps nothing that comes late, until it goes on", () => {
  const answer = (position) =>
    memory.updateSession("/s", (session) => (session.answered = [...(session.answered ?? []), position]));
  answer(1);
  answer(2);
  assert.deepEqual(memory.loadSession("/s"), { answered: [1, 2] });
  memory.forgetSession("/s");
  answer(3);
  assert.deepEqual(memory.loadSession("/s"), {});
  memory.allowSession("/s");
  answer(4);
  assert.deepEqual(memory.loadSession("/s"), { answered: [4] });
});
