// Run by test_assets.py with Node's own test runner.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { load } from "./load.mjs";

const { AnswerQueue } = await load("answer_queue.js");

const reply = (status, body) => ({ ok: status < 300, status, json: async () => body });
const refusal = (status) => reply(status, { error: { code: "x", message: "x" } });
const settle = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A store in memory, as one browser has it for all its pages of a session. */
function shelf(...kept) {
  const answers = new Map(kept.map((answer) => [answer.uuid, answer]));
  return {
    answers,
    loadAll: async () => [...answers.values()],
    save: async (answer) => void answers.set(answer.uuid, answer),
    remove: async (answer) => void answers.delete(answer.uuid),
  };
}

const answer = (position) => ({
  uuid: `uuid ${position}`, position, client_time: new Date().toISOString(),
});

/** A queue whose server gives these replies, one after the other, and then says yes. */
function queueWith({ replies = [], store = shelf() } = {}) {
  const [sent, states, remaining] = [[], [], []];
  const send = async (url, request) => {
    const given = JSON.parse(request.body);
    sent.push(given.position);
    assert.equal(url, "answers");
    const next = replies.length ? replies.shift() : reply(200, { saved: given.position, remaining: 5 });
    if (next instanceof Error) throw next;
    return next;
  };
  const hooks = { onState: (state) => states.push(state), onSaved: (n) => remaining.push(n) };
  return { queue: new AnswerQueue("answers", store, hooks, send), store, sent, states, remaining };
}

const offline = () => new TypeError("offline");

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
  const { queue, sent, states, remaining } = queueWith();
  for (const position of [1, 2, 3]) queue.add(answer(position));
  assert.equal(queue.length, 3);
  assert.deepEqual(sent, [1]);
  await settle();
  assert.deepEqual(sent, [1, 2, 3]);
  assert.deepEqual(states, ["saving", "saved"]);
  assert.deepEqual(remaining, [5, 5, 5]);
  assert.equal(queue.length, 0);
});

test("an answer that did not arrive is sent again until it is acknowledged", async () => {
  const replies = [offline(), refusal(503), refusal(429)];
  const { queue, sent, states } = queueWith({ replies });
  queue.add(answer(1));
  queue.add(answer(2));
  await settle();
  assert.equal(queue.state, "offline");
  await pass(3);
  assert.deepEqual(sent, [1, 1, 1, 1, 2]);
  // Offline is announced with every failure, whose cause may be another.
  assert.deepEqual(states, ["saving", "offline", "offline", "offline", "saving", "saved"]);
});

test("only the server's own words are an acknowledgement", async () => {
  const login = { ok: true, status: 200, json: async () => JSON.parse("<html>") };
  const replies = [login, reply(200, {}), reply(200, { saved: 7, remaining: 1 }), reply(403, {})];
  const { queue, sent, store } = queueWith({ replies });
  queue.add(answer(1));
  await pass(5);
  assert.deepEqual(sent, [1, 1, 1, 1, 1]);
  assert.equal(store.answers.size, 0);
});

test("answers given while offline wait their turn", async () => {
  const { queue, sent } = queueWith({ replies: [offline()] });
  queue.add(answer(1));
  await settle();
  assert.equal(queue.length, 1);
  queue.add(answer(2));
  await settle();
  assert.deepEqual(sent, [1, 1, 2]);
});

test("what waits outlives the page and is sent by the next one", async () => {
  const first = queueWith({ replies: [offline()] });
  for (const position of [1, 2, 3]) first.queue.add(answer(position));
  await settle();
  assert.deepEqual([...first.store.answers.keys()], ["uuid 1", "uuid 2", "uuid 3"]);
  const next = queueWith({ store: first.store });
  assert.deepEqual(await next.queue.restore(), [1, 2, 3]);
  next.queue.add(answer(4));
  await settle();
  assert.deepEqual(next.sent, [1, 2, 3, 4]);
  assert.equal(first.store.answers.size, 0);
  assert.equal(next.queue.state, "saved");
});

test("answers of an earlier page that are taken up while one is on its way are all sent", async () => {
  const { queue, sent, store } = queueWith({ store: shelf(answer(1), answer(2)) });
  const taken = queue.restore();
  queue.add(answer(3));
  await taken;
  await settle();
  assert.deepEqual([...new Set(sent)].sort(), [1, 2, 3]);
  assert.deepEqual([store.answers.size, queue.length, queue.state], [0, 0, "saved"]);
});

test("a page that leaves hands everything to the browser and forgets nothing", async () => {
  const { queue, store } = queueWith({ replies: [offline()] });
  for (const position of [1, 2]) queue.add(answer(position));
  await settle();
  const beacons = [];
  const sendBeacon = (url, body) => beacons.push([url, JSON.parse(body).position]);
  Object.defineProperty(globalThis, "navigator", { value: { sendBeacon }, configurable: true });
  queue.sendAllOnExit();
  assert.deepEqual(beacons, [["answers", 1], ["answers", 2]]);
  assert.equal(store.answers.size, 2);
  assert.equal(queue.length, 2);
});

test("the queue is awake as soon as the connection is back", async () => {
  const { queue, sent } = queueWith({ replies: [offline()] });
  queue.add(answer(1));
  await settle();
  queue.sendNow();
  await settle();
  assert.deepEqual(sent, [1, 1]);
  assert.equal(queue.state, "saved");
  await pass(2);
  assert.deepEqual(sent, [1, 1], "the pause that was under way sends nothing more");
});

test("waking while an answer is on its way sends nothing twice", async () => {
  const { queue, sent } = queueWith();
  queue.add(answer(1));
  queue.sendNow();
  queue.sendNow();
  await settle();
  assert.deepEqual(sent, [1]);
});

test("what the server will never take is neither sent for ever nor kept", async () => {
  const { queue, sent, states, store } = queueWith({ replies: [refusal(409)] });
  queue.add(answer(1));
  await settle();
  queue.add(answer(2));
  queue.sendNow();
  await pass(2);
  assert.deepEqual(sent, [1]);
  assert.deepEqual(states, ["saving", "refused"]);
  assert.deepEqual([...store.answers.keys()], ["uuid 2"]);
});

test("the pauses grow and have an end", async () => {
  const pauses = [];
  const { queue } = queueWith({ replies: Array(12).fill(offline()) });
  const original = globalThis.setTimeout;
  globalThis.setTimeout = (callback, pause) => original(callback, pauses.push(pause) && 0);
  queue.add(answer(1));
  await pass(12);
  globalThis.setTimeout = original;
  assert.equal(pauses.length, 12);
  assert.ok(pauses[0] <= 625 && pauses[1] > 625 && pauses.every((pause) => pause < 20_000));
  assert.equal(queue.state, "saved");
});

test("what comes too late for its link is not sent for ever, and is kept", async () => {
  const { queue, sent, states, store } = queueWith({ replies: [refusal(401)] });
  queue.add(answer(1));
  await pass(2);
  assert.deepEqual([sent, states], [[1], ["saving", "refused"]]);
  assert.deepEqual([...store.answers.keys()], ["uuid 1"]);
  const next = queueWith({ store });
  await next.queue.restore();
  await settle();
  assert.deepEqual([next.sent, store.answers.size], [[1], 0]);
});

test("what is still being measured travels with its answer, and the wait is told", async () => {
  const bodies = [];
  const send = async (_, request) => {
    bodies.push(JSON.parse(request.body));
    return reply(200, { saved: 1, remaining: 0 });
  };
  const hooks = { onState: () => {}, onSaved: () => {} };
  const queue = new AnswerQueue("answers", shelf(), hooks, send);
  let end;
  queue.add(answer(1), new Promise((resolve) => (end = resolve)));
  await settle();
  assert.equal(bodies.length, 0);
  end({ release_ms: 900 });
  await settle();
  assert.equal(bodies[0].release_ms, 900);
  assert.ok(bodies[0].waited_ms >= 0);
});
