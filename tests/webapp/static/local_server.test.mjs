// Run by test_assets.py with Node's own test runner.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.mjs";

const FOLDER = "https://host.example/study/";
globalThis.location = { href: FOLDER, search: "?session=1", hash: "" };
globalThis.indexedDB = undefined; // the page's own memory is then all there is
Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true });
globalThis.document = { getElementById: () => null };
globalThis.DOMParser = class {
  parseFromString() {
    const none = { querySelector: () => null, querySelectorAll: () => [], getElementById: () => null };
    return { ...none, body: { dataset: {} }, documentElement: { outerHTML: "" } };
  }
};

const { installLocalServer } = await load("serverless/local_server.js");
const { noteForbiddenOrigin } = await load("serverless/store_requests.js");
const { server } = await load("server.js");

let shown = ""; // the page of the latest reply
const NAMES = ["withdraw", "withdraw ended", "consent", "working", "working again", "questionnaire", "declined", "finished", "left declined", "withdrawn", "withdrawn erased"];
const STUDY = {
  folder: "folder1", run: "folder1", language: "en", direction: "ltr", sessions: 1, longest_text: 100,
  store: { kind: "post", url: "https://store.example/keep" },
  asked: { screening: [], comprehension: [], questionnaires: [[]], tries: 0 },
  pages: Object.fromEntries(NAMES.map((name) => [name, { get title() { shown = name; return ""; }, body: "" }])),
  parameters: {}, words: { kept: "in the browser", on_page: "on the page" }, work: {},
  drawn: [{ trials: [{ position: 1 }, { position: 2 }], page: "working", edition: 0 }],
};
const ANSWER = { uuid: "7b0a9f5e-0a43-4f6b-9a52-6a4c2d1f3e44", position: 1, side: "first" };
const OTHER = { uuid: "7b0a9f5e-0a43-4f6b-9a52-6a4c2d1f3e45", position: 2, side: "first" };

let store;
let visit = 0;

/** A participant of a new folder page, and what its store has. */
async function someone({ agrees = true } = {}) {
  store = { kept: [], replies: () => new Response(null, { status: 204 }) };
  globalThis.fetch = async (_, { body }) => {
    const reply = store.replies();
    if (reply.ok) store.kept.push(...JSON.parse(body));
    return reply;
  };
  installLocalServer(STUDY, {});
  const session = `p${String((visit += 1)).padStart(11, "0")}`;
  const form = (fields) => ({ method: "POST", body: new URLSearchParams(fields) });
  const decision = agrees ? "accept" : "decline";
  const post = (step, fields) => server.fetch(`https://static.invalid/p/${session}/${step}`, form(fields));
  const send = (answer, to = session) =>
    server.fetch(`https://static.invalid/p/${to}/answers`, { method: "POST", body: JSON.stringify(answer) });
  await server.fetch(FOLDER, form({ visit: session, decision, text: "t" }));
  return { session, post, send, answers: () => store.kept.filter(({ kind }) => kind === "answer") };
}

async function said(reply) {
  return [reply.status, await reply.json()];
}

test("an answer is acknowledged with what remains, and a resend of it is the same answer", async () => {
  const person = await someone();
  for (let time = 0; time < 2; time += 1) {
    assert.deepEqual(await said(await person.send(ANSWER)), [200, { saved: 1, remaining: 1 }]);
  }
  assert.deepEqual(await said(await person.send(OTHER)), [200, { saved: 2, remaining: 0 }]);
  assert.deepEqual(person.answers().map(({ body }) => JSON.parse(body)), [ANSWER, OTHER]);
});

test("an answer that the store does not have is never acknowledged, and comes with the next", async () => {
  const person = await someone();
  store.replies = () => new Response("busy", { status: 503 });
  await assert.rejects(person.send(ANSWER));
  store.replies = () => {
    throw new TypeError("offline");
  };
  await assert.rejects(person.send(ANSWER));
  store.replies = () => new Response(null, { status: 204 });
  assert.deepEqual(await said(await person.send(OTHER)), [200, { saved: 2, remaining: 0 }]);
  assert.deepEqual(person.answers().map(({ body }) => JSON.parse(body).position), [1, 2]);
});

test("what the store refuses for ever is kept in the browser, so it is acknowledged", async () => {
  const person = await someone();
  store.replies = () => new Response("full", { status: 507 });
  assert.deepEqual(await said(await person.send(ANSWER)), [200, { saved: 1, remaining: 1 }]);
});

for (const [replies, reply] of [
  ["errors", () => new Response("broken", { status: 500 })],
  ["nothing that the page may read", () => { throw new TypeError("no Access-Control-Allow-Origin"); }],
]) {
  test(`a store that replies with ${replies} for ten seconds is not waited for`, async (context) => {
    const person = await someone();
    const { fetch } = globalThis;
    globalThis.fetch = (url, request) => (request.mode === "no-cors" ? new Response() : fetch(url, request));
    let now = 1_000_000;
    context.mock.method(performance, "now", () => now);
    store.replies = reply;
    for (const ms of [0, 9_999]) {
      now = 1_000_000 + ms;
      await assert.rejects(person.send(ANSWER));
    }
    now += 1;
    assert.deepEqual(await said(await person.send(ANSWER)), [200, { saved: 1, remaining: 1 }]);
    assert.deepEqual(person.answers(), []);
    // It is tried again with the next.
    store.replies = () => new Response(null, { status: 204 });
    await person.send(OTHER);
    assert.equal(person.answers().length, 2);
  });
}

test("the last page tries a store again that only replied with errors, and is then shown anew", async (context) => {
  const person = await someone();
  location.hash = `#p/${person.session}/`;
  Object.assign(document, { querySelector: () => null });
  globalThis.window = { addEventListener: () => {} };
  let now = 2_000_000;
  context.mock.method(performance, "now", () => now);
  store.replies = () => new Response("broken", { status: 500 });
  await assert.rejects(person.send(ANSWER));
  now += 10_000;
  for (const answer of [ANSWER, OTHER]) assert.equal((await person.send(answer)).status, 200);
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  await server.fetch(server.currentUrl);
  assert.equal(shown, "finished");
  context.mock.timers.tick(10_000); // the store refuses again
  await settle();
  assert.deepEqual(person.answers(), []);
  store.replies = () => new Response(null, { status: 204 });
  shown = "";
  context.mock.timers.tick(10_000);
  for (let turn = 0; turn < 5; turn += 1) await settle();
  assert.equal(person.answers().length, 2);
  assert.equal(shown, "finished");
  location.hash = "";
});

test("a store that the policy of the pages' host forbids is not waited for", async () => {
  const person = await someone();
  store.replies = () => {
    throw new TypeError("Failed to fetch");
  };
  noteForbiddenOrigin({ effectiveDirective: "font-src", blockedURI: "https://store.example" });
  await assert.rejects(person.send(ANSWER));
  noteForbiddenOrigin({ effectiveDirective: "connect-src", blockedURI: "https://store.example/keep" });
  assert.deepEqual(await said(await person.send(ANSWER)), [200, { saved: 1, remaining: 1 }]);
  assert.deepEqual(person.answers(), []);
});

test("what the browser's storage did not take is said to be on the page only", async () => {
  const person = await someone();
  const indicator = { setAttribute: (name, text) => Object.assign(indicator, { [name]: text }) };
  document.getElementById = (id) => (id === "indicator" ? indicator : null);
  store.replies = () => new Response("too large", { status: 413 });
  await person.send(ANSWER);
  document.getElementById = () => null;
  assert.equal(indicator["data-saved"], "on the page");
});

for (const [state, end] of [
  ["declined", null],
  ["left", (person) => person.post("leave", {})],
  ["withdrawn", (person) => person.post("withdraw", { wish: "keep" })],
  ["erased", (person) => person.post("withdraw", { wish: "erase" })],
]) {
  test(`a session that is ${state} accepts no answer`, async () => {
    const person = await someone({ agrees: Boolean(end) });
    await end?.(person);
    assert.equal((await person.send(ANSWER)).status, 409);
    assert.deepEqual(person.answers(), []);
  });
}

for (const [state, page, end] of [
  ["declined", "declined", null],
  ["working", "withdraw", () => {}],
  ["left", "withdraw ended", (person) => person.post("leave", {})],
  ["withdrawn", "withdraw ended", (person) => person.post("withdraw", { wish: "keep" })],
  ["erased", "withdrawn erased", (person) => person.post("withdraw", { wish: "erase" })],
]) {
  test(`the way out of a session that is ${state} leads to the page "${page}"`, async () => {
    const person = await someone({ agrees: Boolean(end) });
    await end?.(person);
    await server.fetch(`https://static.invalid/p/${person.session}/withdraw`);
    assert.equal(shown, page);
  });
}

test("a session that nobody has begun accepts no answer", async () => {
  const person = await someone();
  assert.equal((await person.send(ANSWER, "zzzzzzzzzzzz")).status, 409);
  assert.deepEqual(person.answers(), []);
});
