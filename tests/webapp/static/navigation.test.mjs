// Run by test_assets.py with Node's own test runner.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { load } from "./load.mjs";

const navigation = await load("navigation.js");
const { server } = await load("server.js");

const HERE = "https://lab.example/p/x/working";
const settled = () => new Promise((resolve) => setImmediate(resolve));
let trouble;
let again;
let replies;
let asked;
let entered;

/** A page of this site as the parser makes it of "page TITLE"; any other text is not one. */
const parsed = (html) => ({
  title: html.slice(5), body: { dataset: html.startsWith("page ") ? { page: "consent" } : {} },
  documentElement: { lang: "nl", dir: "rtl" },
});

test.beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout"] });
  mock.method(Math, "random", () => 0.5);
  trouble = { hidden: true };
  again = new EventTarget();
  [replies, asked, entered] = [[], [], []];
  globalThis.DOMParser = class {
    parseFromString = parsed;
  };
  globalThis.location = { href: HERE };
  globalThis.window = Object.assign(new EventTarget(), { scrollTo() {} });
  globalThis.document = {
    title: "", documentElement: {}, body: { replaceWith: (body) => (document.body = { ...document.body, ...body }) },
    adoptNode: (node) => node, getElementById: () => trouble, querySelectorAll: () => [],
    querySelector: (what) => (what === "#trouble button" ? again : document.heading ?? null),
  };
  mock.method(server, "enterUrl", (...given) => entered.push(given));
  mock.method(server, "fetch", async (url, request) => {
    asked.push([url, request]);
    const [status, text] = replies.shift() ?? [200, "page New"];
    if (!status) throw new TypeError("offline");
    return Object.defineProperty(new Response(text, { status }), "url", { value: url });
  });
});
test.afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

for (const [status, text, counts] of [
  [200, "page A", true], [404, "page A", true], [499, "page A", true], [429, "page A", false], [500, "page A", false],
  [200, "a hotel's login", false], [0, "", false],
]) {
  test(`a reply of ${status} "${text}" is ${counts ? "the" : "no"} server's page`, async () => {
    replies = [[status, text]];
    const loaded = await navigation.fetchPage("/next");
    assert.deepEqual(loaded && [loaded.status, loaded.page.title, loaded.html], counts ? [status, "A", text] : undefined);
    assert.deepEqual(asked[0][1].headers, { "X-Parallax-Within": "1" });
  });
}

test("a page is asked for until it comes, at 0.5, 1, 2, 4, 8 and 8 seconds, and the reader is told", async () => {
  replies = Array.from({ length: 6 }, () => [503, ""]);
  const going = navigation.goTo("https://lab.example/next");
  for (const [number, waitMs] of [500, 1000, 2000, 4000, 8000, 8000].entries()) {
    await settled();
    assert.deepEqual([asked.length, trouble.hidden], [number + 1, false]);
    mock.timers.tick(waitMs - 1);
    await settled();
    assert.equal(asked.length, number + 1);
    mock.timers.tick(1);
  }
  await going;
  assert.deepEqual([asked.length, trouble.hidden, document.title], [7, true, "New"]);
  assert.deepEqual([document.documentElement.lang, document.documentElement.dir], ["nl", "rtl"]);
  assert.deepEqual(entered, [["https://lab.example/next", false]]);
});

test("a connection that is back, or a press, asks at once", async () => {
  for (const [target, type] of [[again, "click"], [window, "online"]]) {
    replies = [[0, ""]];
    const going = navigation.goTo(HERE);
    await settled();
    target.dispatchEvent(new Event(type));
    await going;
  }
  assert.deepEqual([asked.length, entered], [4, [[HERE, true], [HERE, true]]]);
});

test("only the page that was asked for last is shown", async () => {
  replies = [[0, ""], [200, "page Second"]];
  const first = navigation.goTo("https://lab.example/first");
  await settled();
  await navigation.goTo("https://lab.example/second");
  window.dispatchEvent(new Event("online"));
  await first;
  assert.deepEqual([asked.length, document.title], [2, "Second"]);
});

test("a title says which part of the page is shown, unless it begins with that", () => {
  document.title = "A study";
  navigation.recordTitle();
  assert.equal(document.title, "A study");
  document.heading = { textContent: " Consent " };
  navigation.updateTitle();
  assert.equal(document.title, "Consent - A study");
  document.heading.textContent = "A study";
  navigation.updateTitle();
  assert.equal(document.title, "A study");
});
