// Run by test_assets.py with Node's own test runner.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.mjs";

const { openUnsentAnswers } = await load("unsent_answers.js");

/** The part of IndexedDB that the store uses; like a browser, it returns rows in the order of keys. */
function fakeDatabase() {
  const rows = new Map();
  const request = (result) => {
    const pending = { result };
    queueMicrotask(() => pending.onsuccess?.());
    return pending;
  };
  const shelf = {
    put: (row) => request(void rows.set(row.answer.uuid, row)),
    delete: (uuid) => request(void rows.delete(uuid)),
    index: () => ({
      getAll: (session) => {
        const ordered = [...rows.values()].sort((a, b) => (a.answer.uuid < b.answer.uuid ? -1 : 1));
        return request(ordered.filter((row) => row.session === session));
      },
    }),
  };
  return { open: () => request({ transaction: () => ({ objectStore: () => shelf }) }) };
}

test("a session's answers come back in the order of their trials, however their keys sort", async () => {
  globalThis.indexedDB = fakeDatabase();
  const [store, other] = [await openUnsentAnswers("mine"), await openUnsentAnswers("another's")];
  // Neither the order of keeping, nor that of the keys, nor that of the numbers as texts.
  for (const [uuid, position] of [["c", 10], ["d", 2], ["a", 9], ["b", 1]]) {
    await store.save({ uuid, position });
  }
  await other.save({ uuid: "e", position: 3 });
  assert.deepEqual((await store.loadAll()).map(({ position }) => position), [1, 2, 9, 10]);
  await store.remove({ uuid: "a" });
  assert.deepEqual((await store.loadAll()).map(({ uuid }) => uuid), ["b", "d", "c"]);
  assert.deepEqual((await other.loadAll()).map(({ position }) => position), [3]);
});
