// Run by test_assets.py: the page of a coder.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { load } from "./load.mjs";

const IDS = ["card", "categories", "keys", "done", "feedback", "next", "training", "back", "progress", "text", "codes", "proposed", "unsaved", "ended", "save"];
const CARDS = ["cat", "dog"].map((typed) => ({ round: 0, answer: typed, before: "A ", after: ".", gap: "___", typed }));

let openings = 0;

function element() {
  return Object.assign(new EventTarget(), {
    hidden: false, textContent: "", classList: { toggle() {} }, dataset: {}, focus() {}, replaceChildren() {}, setAttribute() {},
  });
}

/** Opens the page; the server replies with one status after the other, and then with the last. */
async function open(statuses, file) {
  const elements = Object.fromEntries(IDS.map((id) => [id, element()]));
  const buttons = ["animal", "thing"].map((category) => Object.assign(element(), { dataset: { category } }));
  elements.categories.querySelectorAll = () => buttons;
  const categories = ["animal", "thing"].map((name) => ({ name, title: name }));
  const texts = { wrong: "", right: "", disputed: "", proposed: "" };
  elements.work = { textContent: JSON.stringify({ work: { categories, cards: CARDS, done: 0, file }, texts }) };
  const sent = [];
  Object.assign(globalThis, {
    window: new EventTarget(), location: { pathname: "/coding/abc" },
    document: Object.assign(new EventTarget(), { getElementById: (id) => elements[id], createElement: element }),
    fetch: async (address, { body }) => {
      sent.push(JSON.parse(body).answer);
      const status = statuses.length > 1 ? statuses.shift() : statuses[0];
      if (status === 0) throw new TypeError("no connection");
      return { status };
    },
  });
  await load("coding_pages/coding.js", `?${(openings += 1)}`);
  const press = async (key) => {
    document.dispatchEvent(Object.assign(new Event("keydown"), { key }));
    await settle();
  };
  return { elements, sent, press };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test.beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
test.afterEach(() => mock.timers.reset());

test("a code is sent again until it is stored, and the page says so meanwhile", async () => {
  const { elements, sent, press } = await open([503, 0, 200]);
  await press("1");
  assert.equal(elements.unsaved.hidden, false);
  for (const _ of [1, 2]) {
    mock.timers.tick(2000);
    await settle();
  }
  assert.deepEqual(sent, ["cat", "cat", "cat"]);
  assert.equal(elements.unsaved.hidden, true);
  await press("2");
  assert.deepEqual(sent.slice(3), ["dog"]);
  assert.equal(elements.done.hidden, false);
});

test("when the link was ended, the page says so, and sends nothing any more", async () => {
  const { elements, sent, press } = await open([404]);
  await press("1");
  assert.equal(elements.ended.hidden, false);
  assert.equal(elements.done.hidden, true);
  mock.timers.tick(10_000);
  await press("2");
  assert.deepEqual(sent, ["cat"]);
});

test("Backspace goes back to the answer before, whose category can be changed", async () => {
  const { sent, press } = await open([200]);
  for (const key of ["1", "Backspace", "2"]) await press(key);
  assert.deepEqual(sent, ["cat", "cat"]);
});

test("a page that is a file keeps the codes in the browser, and saves those of both its windows", async () => {
  const stored = new Map();
  globalThis.localStorage = { getItem: (key) => stored.get(key) ?? null, setItem: (key, text) => stored.set(key, text) };
  const file = { coder: "Ada", task: "code", key: "here" };
  const first = await open([0], file);
  await first.press("1");
  const second = await open([0], file);
  assert.equal(second.elements.progress.textContent, "2 / 2");
  await second.press("2");
  assert.deepEqual([...first.sent, ...second.sent], []);
  const tables = [];
  Object.assign(globalThis, { Blob: class { constructor(lines) { tables.push(lines.join("")); } } });
  URL.createObjectURL = () => "blob:";
  document.createElement = () => ({ click() {} });
  second.elements.save.dispatchEvent(new Event("click"));
  assert.deepEqual(tables, ["coder,task,round,answer,category\r\nAda,code,0,cat,animal\r\nAda,code,0,dog,thing\r\n"]);
  assert.equal((await open([0], file)).elements.done.hidden, false);
  delete globalThis.localStorage;
});
