// Run by test_assets.py with Node's own test runner.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { load } from "./load.mjs";

const { ResponseKeys } = await load("response_keys.js");
const { Presses, waitForRelease } = await load("presses.js");
const { TrialView } = await load("trial_view.js");

/** The part of an element that a trial uses. */
class Element extends EventTarget {
  dataset = {};
  hidden = false;
  textContent = "";
  classes = new Set();
  classList = {
    add: (...names) => names.forEach((name) => this.classes.add(name)),
    remove: (...names) => names.forEach((name) => this.classes.delete(name)),
    toggle: (name, on) => (on ? this.classes.add(name) : this.classes.delete(name)),
  };
  children = {};
  setAttribute() {}
  removeAttribute() {}
  append() {}
  replaceChildren(text) {
    this.textContent = text.textContent;
  }
  getBoundingClientRect() {
    return { top: 100, bottom: 200 };
  }
  closest(selector) {
    return selector.split(", ").some((part) => this.isA?.includes(part)) ? this : null;
  }
  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }
  querySelectorAll(selector) {
    return this.children[selector] ?? [];
  }
}

let frames = [];
let nowMs = 0;

test.beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout"] });
  mock.method(performance, "now", () => nowMs);
  frames = [];
  nowMs = 0;
  globalThis.requestAnimationFrame = (callback) => frames.push(callback);
  globalThis.PerformanceObserver = undefined;
  globalThis.Element = Element;
  globalThis.localStorage = { getItem: () => null, setItem() {} };
  globalThis.document = Object.assign(new EventTarget(), {
    hidden: false, createElement: () => new Element(), fonts: { status: "loaded" },
  });
  globalThis.window = Object.assign(new EventTarget(), { innerHeight: 800, innerWidth: 1200, scrollTo() {} });
});
test.afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

/** Sends an event that happened at a time; what it lacks, a browser's has as well. */
function send(target, type, atMs, fields = {}) {
  const event = new Event(type, { cancelable: true });
  for (const [name, value] of Object.entries({ timeStamp: atMs, isTrusted: true, ...fields })) {
    Object.defineProperty(event, name, { value });
  }
  target.dispatchEvent(event);
  return event;
}

/** Paints what waits for the screen; its onset is then at that time. */
function paintAt(ms) {
  for (const time of [ms - 16, ms]) {
    nowMs = time;
    for (const callback of frames.splice(0)) callback(time);
  }
}

/** A view of two options, and what was chosen on it. */
function shown({ lockout_ms = 0, deadline_ms = null } = {}) {
  const place = new Element();
  const options = ["first", "second"].map((side) => {
    const option = new Element();
    option.dataset.side = side;
    option.isA = ["[data-side]"];
    return option;
  });
  const fields = ["first", "second"].map((field) => Object.assign(new Element(), { dataset: { field } }));
  place.children = {
    "[data-side]": options, "[data-side]:not([hidden])": options, "[data-field]": fields,
  };
  const chosen = [];
  const reads = { answer: (option) => ({ side: option.dataset.side }), offered: () => true };
  const onChoice = (_, choice) => chosen.push(choice);
  const { signal } = new AbortController();
  const view = new TrialView(place, new ResponseKeys(["1", "2"]), { lockout_ms, deadline_ms }, reads, onChoice, signal);
  view.show({ position: 1, first: "a", second: "b" });
  return { view, place, options, chosen };
}

const key = (number, fields = {}) => ({ key: `${number}`, code: `Digit${number}`, repeat: false, ...fields });

test("a key chooses its option, timed from the painting to its press", () => {
  const { chosen } = shown();
  paintAt(1000);
  send(document, "keydown", 1437.5, key(2));
  const [{ side, rt_ms, input_method, trusted, premature }] = chosen;
  assert.deepEqual([side, rt_ms, input_method, trusted, premature], ["second", 437.5, "key", true, []]);
});

test("a text with a picture is marked, so that no gap follows it", () => {
  globalThis.Image = Element;
  const { view, place } = shown();
  const [field] = place.children["[data-field]"];
  const picture = "![a cat](data:image/png;base64,iVBORw0KGgo=)";
  for (const [first, isPicture] of [[picture, true], [`Who is it? ${picture}`, true], ["The", false], ["", false]]) {
    view.show({ position: 2, first, second: "b" });
    assert.equal(field.classes.has("pictured"), isPicture);
  }
});

test("a key that is held from the trial before chooses nothing, however often it repeats", () => {
  const { chosen } = shown();
  paintAt(1000);
  for (const ms of [1010, 1040, 1070]) send(document, "keydown", ms, key(1, { repeat: true }));
  assert.deepEqual(chosen, []);
  send(document, "keydown", 1500, key(1));
  assert.deepEqual([chosen.length, chosen[0].rt_ms], [1, 500]);
});

for (const modifier of ["ctrlKey", "altKey", "metaKey"]) {
  test(`a key with ${modifier} is the browser's, not an answer`, () => {
    const { chosen } = shown();
    paintAt(1000);
    send(document, "keydown", 1500, key(1, { [modifier]: true }));
    assert.deepEqual(chosen, []);
  });
}

test("a press before the painting, or within the lockout, is kept and chooses nothing", () => {
  const { chosen } = shown({ lockout_ms: 200 });
  send(document, "keydown", 900, key(1));
  paintAt(1000);
  send(document, "keydown", 999, key(1));
  send(document, "keydown", 1199.9, key(2));
  assert.deepEqual(chosen, []);
  send(document, "keydown", 1200, key(2));
  assert.deepEqual([chosen[0].side, chosen[0].rt_ms], ["second", 200]);
  assert.deepEqual(chosen[0].premature, [
    { reason: "before_painting", input_method: "key", ms: null },
    { reason: "before_painting", input_method: "key", ms: -1 },
    { reason: "lockout", input_method: "key", ms: 199.9 },
  ]);
});

for (const [rtMs, late] of [[2000, false], [2000.5, true]]) {
  test(`with a deadline of 2000 ms an answer after ${rtMs} ms is taken, ${late ? "late" : "in time"}`, () => {
    const { view, chosen } = shown({ deadline_ms: 2000 });
    paintAt(1000);
    send(document, "keydown", 1000 + rtMs, key(1));
    assert.deepEqual([chosen.length, view.late], [1, late]);
  });
}

for (const pointerType of ["mouse", "pen", "touch"]) {
  for (const [rtMs, taken] of [[149.9, false], [150, true]]) {
    test(`the second click of a ${pointerType}'s double click is ${taken ? "" : "not "}taken ${rtMs} ms after the painting`, () => {
      const { place, options, chosen } = shown({ lockout_ms: 150 });
      send(place, "pointerdown", 900, { pointerType });
      paintAt(1000);
      send(place, "pointerdown", 1000 + rtMs, { pointerType });
      send(options[0], "click", 1200, { detail: 2 });
      if (taken) return assert.deepEqual([chosen[0].rt_ms, chosen[0].premature], [150, []]);
      assert.deepEqual(chosen, []);
      send(place, "pointerdown", 1600, { pointerType });
      send(options[0], "click", 1680, { detail: 1 });
      const [{ rt_ms, premature }] = chosen;
      const method = pointerType === "touch" ? "touch" : "pointer";
      assert.deepEqual([rt_ms, premature], [600, [{ reason: "lockout", input_method: method, ms: 149.9 }]]);
    });
  }
}

test("an answer with a held button counts from the key's first press, and its repeats press nothing", () => {
  const [place, option] = [new Element(), new Element()];
  option.isA = ["[data-side]"];
  const presses = new Presses(place, new AbortController().signal);
  const down = { key: "Enter", target: option };
  assert.equal(send(document, "keydown", 500, { ...down, repeat: false }).defaultPrevented, false);
  assert.equal(send(document, "keydown", 530, { ...down, repeat: true }).defaultPrevented, true);
  const press = presses.fromClick({ timeStamp: 620, isTrusted: true, detail: 0 });
  assert.deepEqual([press.downMs, press.upMs, press.method], [500, 620, "key"]);
});

test("a click counts from where its pointer went down, with what that was and where it had stopped", () => {
  const place = new Element();
  const presses = new Presses(place, new AbortController().signal);
  for (const [ms, clientX, clientY] of [[100, 0, 0], [110, 3, 4], [120, 3, 4], [130, 3, 16]]) {
    send(document, "pointermove", ms, { clientX, clientY });
  }
  send(place, "pointerdown", 700, { pointerType: "touch" });
  assert.deepEqual(presses.fromClick({ timeStamp: 790, isTrusted: false, detail: 1 }), {
    downMs: 700, upMs: 790, method: "touch", trusted: false, stoppedMs: 130,
  });
  // Three moves, as one went nowhere: 0, then 5, then 12 pixels far.
  assert.deepEqual(presses.pointerData, { pointer_moves: 3, pointer_path_px: 17 });
});

test("a key is let go when it comes up, not when another does, and nobody waits for ever", async () => {
  const waits = waitForRelease("Digit1", 400);
  send(document, "keyup", 600, { code: "Digit2" });
  send(document, "keyup", 650, { code: "Digit1" });
  assert.equal(await waits, 650);
  const never = waitForRelease("Digit1", 400);
  mock.timers.tick(400);
  assert.equal(await never, null);
});
