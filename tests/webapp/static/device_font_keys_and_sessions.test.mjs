// Run by test_assets.py with Node's own test runner.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { load } from "./load.mjs";

const { getDeviceType, rejectDevice } = await load("device.js");
const { loadFont, isFallbackFont } = await load("font.js");
const { openKeySettings } = await load("key_settings.js");
const { ResponseKeys } = await load("response_keys.js");
const ownSession = await load("recent_sessions.js");
const { server, findSessionPath } = await load("server.js");

/** A place of the page, by the selectors that are asked for. */
class Place extends EventTarget {
  dataset = {};
  attributes = {};
  classes = new Set();
  classList = { toggle: (name, on) => (on ? this.classes.add(name) : this.classes.delete(name)) };
  parts = {};
  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }
  querySelectorAll(selector) {
    return this.parts[selector] ?? [];
  }
  getAttribute(name) {
    return this.attributes[name] ?? null;
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  removeAttribute(name) {
    delete this.attributes[name];
  }
}

const kept = new Map();
test.beforeEach(() => {
  kept.clear();
  globalThis.localStorage = {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value),
    removeItem: (name) => kept.delete(name),
  };
});
test.afterEach(() => mock.timers.reset());

for (const [fingers, width, height, kind] of [
  [false, 300, 300, "desktop"], [true, 1200, 599, "phone"], [true, 599, 1200, "phone"],
  [true, 600, 1200, "tablet"], [true, 1200, 600, "tablet"],
]) {
  test(`${fingers ? "fingers" : "a mouse"} on a screen of ${width} by ${height}: ${kind}`, () => {
    globalThis.matchMedia = () => ({ matches: fingers });
    globalThis.screen = { width, height };
    assert.equal(getDeviceType(), kind);
    const notice = { dataset: { devices: `other ${kind}` } };
    globalThis.document = { getElementById: () => notice };
    assert.deepEqual([rejectDevice(), notice.hidden], [false, true]);
    notice.dataset.devices = "other";
    assert.deepEqual([rejectDevice(), notice.hidden], [true, false]);
    globalThis.document = { getElementById: () => null };
    assert.equal(rejectDevice(), false);
  });
}

/** A browser's fonts: with or without the study's. */
function fonts(has) {
  globalThis.FontFace = class {
    async load() {
      if (!has) throw new Error("it did not come");
      return this;
    }
  };
  globalThis.getComputedStyle = ({ fontFamily }) => ({ fontFamily });
  globalThis.document = { fonts: { status: "loaded", add() {}, load: async () => {}, check: () => has } };
}

test("texts are marked as of another font until the study's has come", async () => {
  const place = Object.assign(new Place(), { dataset: { font: "x", fontSrc: "/font" } });
  const own = { fontFamily: '"Parallax Text", serif' };
  mock.timers.enable({ apis: ["setTimeout"] });
  fonts(false);
  await loadFont(place, "abc");
  assert.equal(isFallbackFont(place, [own]), true);
  fonts(true);
  await loadFont(place, "abc");
  assert.equal(isFallbackFont(place, [own]), false);
  assert.equal(isFallbackFont(place, [own, { fontFamily: "Comic Sans" }]), true);
  document.fonts.status = "loading";
  assert.equal(isFallbackFont(place, [own]), true);
});

test("a study without a font of its own is never marked, except while any is loading", async () => {
  const place = new Place();
  fonts(false);
  await loadFont(place, "abc");
  assert.deepEqual(place.dataset, {});
  assert.equal(isFallbackFont(place, [{ fontFamily: "serif" }]), false);
});

test("a font that takes longer than five seconds is begun without", async () => {
  const place = Object.assign(new Place(), { dataset: { font: "x", fontSrc: "/font" } });
  fonts(true);
  FontFace.prototype.load = () => new Promise(() => {});
  mock.timers.enable({ apis: ["setTimeout"] });
  let begun = false;
  const waiting = loadFont(place, "abc").then(() => (begun = true));
  mock.timers.tick(4999);
  await Promise.resolve();
  assert.equal(begun, false);
  mock.timers.tick(1);
  await waiting;
  assert.equal(place.dataset.fontMissing, "");
});

/** A page with two groups of answers and the fields in which keys are changed. */
function keyPage() {
  const group = new Place();
  const options = ["first", "second"].map(() => {
    const option = Object.assign(new Place(), { closest: () => group });
    option.parts[".key"] = [{ textContent: "" }];
    return option;
  });
  group.parts["[data-side]"] = options;
  const place = new Place();
  const [on, text, problem] = [new Place(), new Place(), new Place()];
  place.parts = { "#keys-on": [on], "#keys-text": [text], "#keys-problem": [problem], "[data-side]": options };
  const keys = new ResponseKeys(["F", "j"]);
  openKeySettings(place, keys, new AbortController().signal);
  const write = (value, checked = true) => {
    Object.assign(text, { value });
    Object.assign(on, { checked });
    text.dispatchEvent(new Event("input"));
  };
  const labels = () => options.map((option) => option.parts[".key"][0].textContent).join("");
  return { place, on, text, problem, options, keys, write, labels };
}

test("keys that are changed stand on their options, and unfit ones leave them as they are", () => {
  const { place, text, problem, options, keys, write, labels, on } = keyPage();
  assert.deepEqual([text.value, on.checked, labels()], ["f j", true, "fj"]);
  write(" a L ");
  assert.deepEqual([keys.keys, labels(), problem.hidden, text.attributes["aria-invalid"]], [["a", "l"], "al", true, "false"]);
  for (const unfit of ["a", "abc", "aa"]) {
    write(unfit);
    assert.deepEqual([keys.keys, problem.hidden, text.attributes["aria-invalid"]], [["a", "l"], false, "true"], unfit);
  }
  write("x", false);
  assert.deepEqual([keys.on, keys.keys, place.classes.has("without-keys")], [false, ["a", "l"], true]);
  assert.deepEqual(options.map(({ attributes }) => attributes["aria-keyshortcuts"]), [undefined, undefined]);
  write("xy");
  assert.deepEqual(options.map(({ attributes }) => attributes["aria-keyshortcuts"]), ["x", "y"]);
  assert.equal(place.classes.has("without-keys"), false);
});

const SESSION = "/p/a%20b/";
/** Shows a page of the run "r". */
function showPage(page, { at = `https://lab.example${SESSION}working`, shared = false } = {}) {
  Object.defineProperty(server, "currentUrl", { get: () => at, configurable: true });
  globalThis.sessionStorage = localStorage;
  globalThis.history = { state: null, replaceState() {}, pushState() {} };
  globalThis.location = { href: at };
  globalThis.document = Object.assign(new Place(), {
    body: { dataset: { page, run: "r", ...(shared && { shared: "" }) } },
  });
}

test("only an address of a session shows one", () => {
  showPage("consent", { at: "https://lab.example/run/r" });
  assert.equal(findSessionPath(), undefined);
  ownSession.recordShownSession();
  assert.equal(kept.size, 0);
  showPage("working", { at: "https://lab.example/lab/p/x/working?y" });
  assert.equal(findSessionPath(), "/lab/p/x/");
});

test("a session is kept while it goes on, and its run forgets it at its end", () => {
  for (const page of ["assent", "screening", "comprehension", "working", "questionnaire"]) {
    kept.clear();
    showPage(page);
    ownSession.recordShownSession();
    assert.deepEqual([ownSession.getLastSession(), ownSession.getSessionOfRun()], ["a b", SESSION], page);
  }
  for (const page of ["closing", "declined", "left", "withdrawn"]) {
    showPage("working");
    ownSession.recordShownSession();
    ownSession.forgetLastSession();
    showPage(page);
    ownSession.recordShownSession();
    const last = page === "withdrawn" ? "" : "a b";
    assert.deepEqual([ownSession.getLastSession(), ownSession.getSessionOfRun()], [last, undefined], page);
  }
});

test("a run goes on knowing another session than the one that ended", () => {
  showPage("working", { at: "https://lab.example/p/other/working" });
  ownSession.recordShownSession();
  showPage("closing");
  ownSession.recordShownSession();
  assert.equal(ownSession.getSessionOfRun(), "/p/other/");
});

test("a shared window that ends a session shows its run's address and the next person nothing", () => {
  const entered = [];
  const mocked = mock.method(server, "enterUrl", (...given) => entered.push(given));
  showPage("working", { shared: true });
  ownSession.recordShownSession();
  ownSession.hideClearedSession();
  assert.deepEqual(entered, []);
  showPage("closing", { shared: true });
  const link = Object.assign(new Place(), { attributes: { href: "more" } });
  document.parts["a[href]"] = [link];
  const emptied = [];
  document.parts.main = [{ replaceChildren: () => emptied.push(true) }];
  ownSession.recordShownSession();
  assert.equal(link.href, `https://lab.example${SESSION}more`);
  assert.deepEqual([entered, ownSession.getLastSession()], [[["https://lab.example/run/r", true]], ""]);
  ownSession.hideClearedSession();
  assert.deepEqual([entered.length, emptied], [2, [true]]);
  mocked.mock.restore();
});
