// Run by test_assets.py: pages from which a content blocker took an element out.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { load } from "./load.mjs";

const { openConsentPage } = await load("consent.js");
const { start } = await load("page.js");
const { prepare, view } = await load("responses/mixed/mixed.js");

test.beforeEach(() => {
  Object.assign(globalThis, {
    window: new EventTarget(), history: { state: null, replaceState() {} }, Element: EventTarget,
    location: { href: "https://lab.example/run/x", pathname: "/run/x" },
    localStorage: { getItem: () => null, setItem() {}, removeItem() {} },
    matchMedia: () => ({ matches: false }), HTMLInputElement: EventTarget,
  });
});
test.afterEach(() => mock.restoreAll());

function page(name, found = {}) {
  globalThis.document = Object.assign(new EventTarget(), {
    title: "A study", body: { dataset: { page: name, run: "x" } }, getElementById: (id) => found[id] ?? null,
    querySelector: () => null, querySelectorAll: () => [], createElement: () => ({ value: "" }),
  });
}

test("the consent page can be decided on without its hidden fields", () => {
  page("consent");
  openConsentPage(new AbortController().signal);
});

test("a working page without its data says in one sentence that a part is missing", async () => {
  const told = mock.method(console, "error", () => {});
  const incomplete = { hidden: true };
  page("working", { incomplete });
  start();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(incomplete.hidden, false);
  assert.equal(told.mock.callCount(), 1);
});

test("a session of several tasks does not begin without one of them", async () => {
  await prepare({ tasks: { one: { script: "a", keys: [] }, two: { script: "b", keys: [] } } }, async () => ({}));
  const template = { dataset: { taskOf: "one", title: "" }, content: { childNodes: [] } };
  const place = { querySelector: () => ({ replaceChildren() {} }), querySelectorAll: () => [template] };
  assert.throws(() => view({ place, settings: {}, makeTrialView: () => ({}) }), { message: "The page lacks the tasks two." });
});
