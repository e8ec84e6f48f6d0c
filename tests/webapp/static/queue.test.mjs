// Run by test_queue.py with Node's own test runner.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { mock, test } from "node:test";

// Node takes a file named .js for a script of its older kind, so the module is given as text.
const source = await readFile(new URL("../../../webapp/static/queue.js", import.meta.url), "utf8");
const { AnswerQueue } = await import(`data:text/javascript,${encodeURIComponent(source)}`);

const ok = { ok: true, status: 200, text: async () => "" };
const status = (code) => ({ ok: false, status: code, text: async () => "" });
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A queue whose server gives these replies, one after the other, and then says yes. */
function queueWith(...replies) {
  const sent = [];
  const states = [];
  const send = async (url, request) => {
    sent.push(JSON.parse(request.body).position);
    assert.equal(url, "answers");
    const reply = replies.length ? replies.shift() : ok;
    if (reply instanceof Error) throw reply;
    return reply;
  };
  const queue = new AnswerQueue("answers", (state) => states.push(state), send);
  return { queue, sent, states };
}

/** Lets the queue's waiting times pass until it is at rest. */
async function pass(rounds) {
  for (let round = 0; round < rounds; round += 1) {
    await settle();
    mock.timers.runAll();
    await settle();
  }
}

test.beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
test.afterEach(() => mock.timers.reset());

test("answers are sent at once, in order, one by one", async () => {
  const { queue, sent, states } = queueWith();
  for (const position of [1, 2, 3]) queue.add({ position });
  assert.equal(queue.length, 3);
  assert.deepEqual(sent, [1]);
  await settle();
  assert.deepEqual(sent, [1, 2, 3]);
  assert.deepEqual(states, ["saving", "saved"]);
  assert.equal(queue.length, 0);
});

test("an answer that did not arrive is sent again until it is acknowledged", async () => {
  const { queue, sent, states } = queueWith(new TypeError("offline"), status(503), status(429));
  queue.add({ position: 1 });
  queue.add({ position: 2 });
  await settle();
  assert.equal(queue.state, "offline");
  await pass(3);
  assert.deepEqual(sent, [1, 1, 1, 1, 2]);
  assert.deepEqual(states, ["saving", "offline", "saving", "saved"]);
});

test("answers given while offline wait their turn", async () => {
  const { queue, sent } = queueWith(new TypeError("offline"));
  queue.add({ position: 1 });
  await settle();
  assert.equal(queue.length, 1);
  queue.add({ position: 2 });
  await settle();
  assert.deepEqual(sent, [1, 1, 2]);
});

test("the queue is awake as soon as the connection is back", async () => {
  const { queue, sent } = queueWith(new TypeError("offline"));
  queue.add({ position: 1 });
  await settle();
  queue.wake();
  await settle();
  assert.deepEqual(sent, [1, 1]);
  assert.equal(queue.state, "saved");
  await pass(2);
  assert.deepEqual(sent, [1, 1], "the pause that was under way sends nothing more");
});

test("waking while an answer is on its way sends nothing twice", async () => {
  const { queue, sent } = queueWith();
  queue.add({ position: 1 });
  queue.wake();
  queue.wake();
  await settle();
  assert.deepEqual(sent, [1]);
});

test("what the server will never take is not sent for ever", async () => {
  const { queue, sent, states } = queueWith(status(401));
  queue.add({ position: 1 });
  await settle();
  queue.add({ position: 2 });
  queue.wake();
  await pass(2);
  assert.deepEqual(sent, [1]);
  assert.deepEqual(states, ["saving", "refused"]);
  assert.equal(queue.length, 2);
});

test("the pauses grow and have an end", async () => {
  const pauses = [];
  const { queue } = queueWith(...Array(12).fill(new TypeError("offline")));
  const original = globalThis.setTimeout;
  globalThis.setTimeout = (callback, pause) => original(callback, pauses.push(pause) && 0);
  queue.add({ position: 1 });
  await pass(12);
  globalThis.setTimeout = original;
  assert.equal(pauses.length, 12);
  assert.ok(pauses[0] <= 625 && pauses[1] > 625 && pauses.every((pause) => pause < 20_000));
  assert.equal(queue.state, "saved");
});
