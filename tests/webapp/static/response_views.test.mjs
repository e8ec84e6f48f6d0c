// Run by test_assets.py: every way of pressing counts alike, in every type and in every mixture.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { load } from "./load.mjs";

const { ResponseKeys } = await load("response_keys.js");
const { makeTrialView } = await load("trial_view.js");
const scripts = Object.fromEntries(
  await Promise.all(
    ["choice/choice", "yes_no/yes_no", "rating/rating", "rating/scales", "reading/reading"].map(
      async (name) => [name, await load(`responses/${name}.js`)],
    ),
  ),
);

/** An element of a tree, as far as the scripts use it; selectors are one class or one attribute. */
class Element extends EventTarget {
  hidden = false;
  #text = "";
  #classes = new Set();
  attributes = {};
  dataset = {};
  nodes = [];
  parent = null;
  constructor(classes = "", dataset = {}, ...nodes) {
    super();
    for (const name of classes.split(" ").filter(Boolean)) this.#classes.add(name);
    Object.assign(this.dataset, dataset);
    this.append(...nodes);
  }
  set className(names) {
    this.#classes = new Set(names.split(" "));
  }
  get classList() {
    const own = this.#classes;
    return {
      add: (...names) => names.forEach((name) => own.add(name)),
      remove: (...names) => names.forEach((name) => own.delete(name)),
      toggle: (name, on) => (on ? own.add(name) : own.delete(name)),
    };
  }
  get textContent() {
    return this.#text;
  }
  set textContent(text) {
    this.#text = text;
  }
  getAttribute(name) {
    return this.attributes[name] ?? null;
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  removeAttribute() {}
  focus() {
    document.activeElement = this;
  }
  append(...nodes) {
    for (const node of nodes) if (node instanceof Element) this.nodes.push(Object.assign(node, { parent: this }));
  }
  replaceChildren(...nodes) {
    this.nodes = [];
    this.#text = nodes.map((node) => node.textContent ?? node).join("");
    this.append(...nodes);
  }
  remove() {
    this.parent.nodes = this.parent.nodes.filter((node) => node !== this);
  }
  getBoundingClientRect() {
    return { top: 100, bottom: 200, left: 10, right: 20 };
  }
  contains(other) {
    return other === this || this.nodes.some((node) => node.contains(other));
  }
  matches(selector) {
    const [, attribute, value] = /^\[(?:data-)?([a-z]+)(?:=(.*))?\]/.exec(selector) ?? [];
    if (selector.endsWith(":not([hidden])") && this.hidden) return false;
    if (!attribute) return this.#classes.has(selector.slice(1));
    return value ? this.attributes[attribute] === value : this.dataset[attribute] !== undefined;
  }
  closest(selector) {
    if (selector.split(", ").some((one) => /^[.[]/.test(one) && this.matches(one))) return this;
    return this.parent?.closest(selector) ?? null;
  }
  querySelectorAll(selector) {
    const path = selector.split(" ");
    if (path.length > 1) return [];
    return this.nodes.flatMap((node) => [...(node.matches(selector) ? [node] : []), ...node.querySelectorAll(selector)]);
  }
  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
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

function paintAt(ms) {
  for (const time of [ms - 8, ms]) {
    nowMs = time;
    for (const callback of frames.splice(0)) callback(time);
  }
}

/** Sends an event to an element and up through all that hold it, as a browser does. */
function send(target, type, timeStamp, fields = {}) {
  let prevented = false;
  const up = [];
  for (let node = target; node; node = node.parent) up.push(node);
  for (const node of new Set([...up, document])) {
    const event = new Event(type, { cancelable: true });
    const all = { timeStamp, isTrusted: true, target, detail: 0, ...fields };
    for (const [name, value] of Object.entries(all)) Object.defineProperty(event, name, { value });
    node.dispatchEvent(event);
    prevented ||= event.defaultPrevented;
  }
  return prevented;
}

const pointer = (pointerType, counts) => ({ target, at, clicks }) => {
  send(target, "pointerdown", at, { pointerType, button: 0, isPrimary: true });
  send(target, "click", at + 60, { detail: counts ? clicks : 1 });
};
// Browsers count the clicks at one place within the double-click time: ``clicks``.
const WAYS = {
  mouse: pointer("mouse", true),
  pen: pointer("pen", true),
  touch: pointer("touch", true),
  // Of two fingers on the screen, browsers make no click.
  "a finger beside a resting one": ({ target, at }) => {
    send(document, "pointerdown", at - 290, { pointerType: "touch", pointerId: 7, button: 0, isPrimary: true });
    const finger = { pointerType: "touch", pointerId: 8, button: 0, isPrimary: false, clientX: 15, clientY: 150 };
    send(target, "pointerdown", at, finger);
    send(target, "pointerup", at + 60, { ...finger, clientX: 18 });
  },
  dwell: pointer("mouse", false),
  voice: ({ target, at }) => send(target, "click", at),
  "a tool that says it is a mouse": ({ target, at }) => send(target, "click", at, { detail: 1 }),
  key: ({ target, at, key }) => {
    const typed = { key, code: key === " " ? "Space" : `Digit${key}`, repeat: false };
    const down = send(target, "keydown", at, typed);
    const up = send(target, "keyup", at + 60, typed);
    if (key === " " && !down && !up) send(target, "click", at + 60);
    mock.timers.tick(0);
  },
};
// Switches and screen readers press the option that has the focus; a held key repeats itself.
WAYS["a switch"] = ({ target, at }) => WAYS.key({ target, at, key: " " });
WAYS["a held key"] = ({ target, at, key }) => {
  const typed = { key, code: key === " " ? "Space" : `Digit${key}` };
  for (const ms of [0, 120, 150, 180, 210]) send(target, "keydown", at + ms, { ...typed, repeat: ms > 0 });
  send(target, "keyup", at + 230, typed);
};
const button = (side, more = {}) => {
  const made = new Element("option", { side, ...more }, new Element("sentence point"));
  return made;
};
const group = (...nodes) => Object.assign(new Element("options", {}, ...nodes), { attributes: { role: "group" } });

/** For each type: its stage, its trial, and what is pressed of it, one after the other. */
const TYPES = {
  choice: () => [group(button("first"), button("second")), { first: "a", second: "b" }, [1]],
  yes_no: () => [group(button("first"), button("second")), { first: "a" }, [1]],
  rating: () => [group(button("first", { rating: "1" }), button("second", { rating: "2" })), { first: "a" }, [1]],
  scales: () => [
    group(...[1, 2].map(() => new Element("scale", {}, button("first", { rating: "1" }), button("second", { rating: "2" })))),
    { first: "a" }, [0, 2],
  ],
  self_paced: () => [
    group(new Element("reader", { task: "self_paced", display: "moving" }, new Element("window"), new Element("next", { next: "" })), new Element("asked")),
    { steps: ["The", "dog", "barks."] }, ["next", "next", "next", "next"],
  ],
  read_then_rate: () => [
    group(
      new Element("reader", { task: "self_paced", display: "moving" }, new Element("window"), new Element("next", { next: "" })),
      new Element("asked", { scale: "" }, group(button("first", { rating: "1" }), button("second", { rating: "2" }))),
    ),
    { steps: ["The", "dog."] }, ["next", "next", "next", 1],
  ],
  maze: () => [
    group(new Element("reader maze", { task: "maze", onError: "delay", delay: "1000" }, button("first"), button("second"), new Element("said")), new Element("asked")),
    { steps: ["The", "dog", "barks."], distractors: ["x", "of", "the"], right: "lll" }, [0, 0, 0],
  ],
};
const SCRIPTS = {
  choice: "choice/choice", yes_no: "yes_no/yes_no", rating: "rating/rating", scales: "rating/scales",
  self_paced: "reading/reading", read_then_rate: "reading/reading", maze: "reading/reading",
};

function stage(type, more = {}) {
  const [content, trial, presses] = TYPES[type]();
  const uncounted = new Element("uncounted", { text: "That was too quick to count." });
  const place = new Element("stage", {}, content, uncounted);
  const chosen = [];
  const { signal } = new AbortController();
  const keys = new ResponseKeys(["1", "2"]);
  const settings = { lockout_ms: 150, ...more };
  const onChoice = (_, choice) => chosen.push(choice);
  const view = makeTrialView(scripts[SCRIPTS[type]], { place, keys, settings, onChoice, signal });
  const targets = place.querySelectorAll("[data-side]");
  const next = place.querySelector("[data-next]");
  const steps = presses.map((which) => ({
    target: which === "next" ? next : targets[which],
    key: which === "next" ? " " : String((which % 2) + 1),
  }));
  return { view, trial, steps, chosen, place, uncounted };
}

const INTERVAL_MS = 300;

for (const type of Object.keys(TYPES)) {
  for (const one of Object.keys(WAYS)) {
    for (const other of Object.keys(WAYS)) {
      test(`${type}: every press by ${one} and by ${other} is taken, 300 ms apart at one place`, () => {
        const { view, trial, steps, chosen } = stage(type);
        let [at, n] = [1000, 0];
        for (let round = 1; round <= 3; round += 1) {
          view.show({ ...trial, position: round });
          paintAt(at + 30);
          for (const { target, key } of steps) {
            at += INTERVAL_MS;
            n += 1;
            WAYS[n % 2 ? one : other]({ target, key, at, clicks: n });
            paintAt(at + 80);
          }
          assert.deepEqual([chosen.length, chosen.at(-1)?.premature], [round, []]);
        }
      });
    }
  }
}

// A mouse answers when it is let go, a key when it goes down: the bound is counted from the painting.
for (const type of Object.keys(TYPES)) {
  for (const way of Object.keys(WAYS)) {
    for (const early of [0, 0.1]) {
      test(`${type}: the fastest press by ${way} is ${early ? "stored, and not taken, a tenth of a millisecond earlier" : "taken"}`, () => {
        const { view, trial, steps, chosen } = stage(type);
        view.show({ ...trial, position: 1 });
        paintAt(1000);
        let painted = 1000;
        let reason = "";
        for (const [n, step] of steps.entries()) {
          const isNextStep = step.target.dataset.next !== undefined;
          const at = painted + (isNextStep ? 0 : 150);
          if (early && n === 0) {
            reason = isNextStep ? "before_painting" : "lockout";
            WAYS[way]({ ...step, at: at - early, clicks: 1 });
          }
          WAYS[way]({ ...step, at, clicks: 2 });
          paintAt((painted = at + 250));
        }
        assert.deepEqual(chosen.map((choice) => choice.premature.map((press) => press.reason)), [reason ? [reason] : []]);
      });
    }
  }
}

test("the end of a finger's last press of a sentence answers nothing, and is not said to be refused", () => {
  const { view, trial, steps, chosen, uncounted } = stage("read_then_rate");
  view.show({ ...trial, position: 1 });
  paintAt(1000);
  let at = 1000;
  const answer = steps.at(-1);
  for (const step of steps.slice(0, -1)) {
    send(step.target, "pointerdown", (at += INTERVAL_MS), { pointerType: "touch", button: 0, isPrimary: true });
    paintAt(at + 16);
    // The scale has been shown under the finger by then.
    send(step === steps.at(-2) ? answer.target : step.target, "click", at + 60, { detail: 1 });
    assert.equal(uncounted.textContent, "");
  }
  assert.equal(chosen.length, 0);
  WAYS.touch({ ...answer, at: at + INTERVAL_MS, clicks: 1 });
  assert.deepEqual(chosen.map(({ rating, premature }) => [rating, premature]), [[2, []]]);
});

for (const type of Object.keys(TYPES)) {
  for (const way of ["key", "mouse", "touch", "voice"]) {
    test(`${type}: a press by ${way} that is not taken is said once, until one is taken`, () => {
      const { view, trial, steps, chosen, uncounted } = stage(type);
      view.show({ ...trial, position: 1 });
      paintAt(1000);
      assert.equal(uncounted.textContent, "");
      for (const at of [960, 970]) {
        WAYS[way]({ ...steps[0], at, clicks: 1 });
        assert.equal(uncounted.textContent, "That was too quick to count.");
      }
      let at = 1000;
      for (const step of steps) {
        at += INTERVAL_MS;
        WAYS[way]({ ...step, at, clicks: 1 });
        assert.equal(uncounted.textContent, "");
        paintAt(at + 80);
      }
      assert.equal(chosen.length, 1);
    });
  }
}

for (const [what, type, acts] of [
  ["slips far, as where it scrolls", "choice", (finger) => send(document, "pointerup", 1500, { ...finger, clientX: 60 })],
  ["is taken by the browser, as where it zooms", "yes_no", (finger, target) => {
    send(document, "pointercancel", 1400, finger);
    send(target, "pointerup", 1500, finger);
  }],
]) {
  test(`a finger beside another that ${what} chooses nothing`, () => {
    const { view, trial, steps, chosen } = stage(type);
    view.show({ ...trial, position: 1 });
    paintAt(1000);
    const finger = { pointerType: "touch", pointerId: 8, button: 0, isPrimary: false, clientX: 15, clientY: 150 };
    send(steps[0].target, "pointerdown", 1300, finger);
    acts(finger, steps[0].target);
    assert.deepEqual(chosen, []);
  });
}

test("the wait before the first word is measured, and each word from its painting", () => {
  const { view, trial, steps, chosen } = stage("self_paced");
  view.show({ ...trial, position: 1 });
  paintAt(1000);
  for (const [at, painted] of [[2800, 2816], [3116, 3132], [3532, 3548], [4048, 4064]]) {
    WAYS.key({ ...steps[0], at });
    paintAt(painted);
  }
  const [{ steps: sent, rt_ms }] = chosen;
  assert.deepEqual([sent.wait_ms, sent.rt_ms, rt_ms], [1800, [300, 400, 500], 1232]);
});

test("the wait before the first word holds the time of a context and that of the masked sentence", () => {
  const { view, trial, steps, chosen } = stage("self_paced");
  view.show({ ...trial, context: "It rained.", position: 1 });
  paintAt(1000);
  for (const [at, painted] of [[3500, 3516], [3916, 3932], [4232, 4248], [4648, 4664], [5164, 5180]]) {
    WAYS.key({ ...steps[0], at });
    paintAt(painted);
  }
  const [{ steps: sent, rt_ms }] = chosen;
  // 2500 ms for the context and 400 ms for the masked sentence.
  assert.deepEqual([sent.wait_ms, sent.rt_ms, rt_ms], [2900, [300, 400, 500], 1232]);
});

test("a key that is held from the word before chooses no word of a Maze, however often it repeats", () => {
  const { view, trial, steps, chosen } = stage("maze");
  view.show({ ...trial, position: 1 });
  paintAt(1000);
  for (const at of [1400, 1800, 2200]) {
    const [held, typed] = [at - 200, { key: "1", code: "Digit1", repeat: true }];
    send(steps[0].target, "keydown", held, typed);
    WAYS.key({ ...steps[0], at });
    paintAt(at + 16);
  }
  const [{ steps: sent, premature }] = chosen;
  assert.deepEqual([chosen.length, sent.rt_ms, sent.wrong, premature], [1, [400, 384, 384], [0, 0, 0], []]);
});

test("two fingers that come together, and a press in the pause of the Maze, are stored and not taken", () => {
  const read = stage("self_paced");
  read.view.show({ ...read.trial, position: 1 });
  paintAt(1000);
  for (const at of [1500, 1800, 2100, 2400]) {
    WAYS.touch({ ...read.steps[0], at, clicks: 1 });
    if (at === 1500) send(read.place, "pointerdown", 1749, { pointerType: "touch", button: 0, isPrimary: false });
    paintAt(at + 20);
  }
  assert.deepEqual(read.chosen[0].premature, [{ reason: "second_finger", input_method: "touch", ms: null }]);

  const maze = stage("maze");
  const [right, wrong] = maze.place.querySelectorAll("[data-side]");
  maze.view.show({ ...maze.trial, position: 1 });
  paintAt(3000);
  WAYS.voice({ target: wrong, at: 3400 });
  WAYS.voice({ target: right, at: 3700 });
  mock.timers.tick(1000);
  for (const at of [4500, 4900, 5300]) {
    WAYS.voice({ target: right, at });
    paintAt(at + 20);
  }
  const [{ premature, steps }] = maze.chosen;
  assert.deepEqual(premature, [{ reason: "pause", input_method: "key", ms: 700 }]);
  assert.deepEqual([steps.rt_ms[0], steps.done_ms[0], steps.wrong], [400, 1500, [1, 0, 0]]);
});

test("a press in the pause after a wrong word adds no message to that of the pause", () => {
  const { view, trial, place, chosen, uncounted } = stage("maze");
  place.querySelector(".reader").dataset.onError = "end";
  const [, wrong] = place.querySelectorAll("[data-side]");
  view.show({ ...trial, position: 1 });
  paintAt(3000);
  WAYS.voice({ target: wrong, at: 3400 });
  WAYS.voice({ target: wrong, at: 3700 });
  assert.equal(uncounted.textContent, "");
  mock.timers.tick(1000);
  assert.deepEqual([chosen.length, uncounted.textContent], [1, ""]);
});

/** A self-paced sentence with a question after it, in its stage. */
function asksAfterwards({ trial = {}, settings = {} } = {}) {
  const [before, window_, next] = [new Element("before"), new Element("window"), new Element("next", { next: "" })];
  const reader = new Element("reader", { task: "self_paced", display: "moving" }, window_, next);
  const options = [button("first"), button("second")];
  const asked = new Element("asked", {}, new Element("asks"), group(...options));
  const place = new Element("stage", {}, group(before, reader, asked));
  const chosen = [];
  const { signal } = new AbortController();
  const view = makeTrialView(scripts["reading/reading"], {
    place, keys: new ResponseKeys(["1", "2"]), settings: { lockout_ms: 150, ...settings },
    onChoice: (_, choice) => chosen.push(choice), signal,
  });
  const read = { steps: ["A", "b."], question: "Who?", answers: { first: "x", second: "y" }, position: 1, ...trial };
  const press = (at) => {
    WAYS.key({ target: next, key: " ", at });
    paintAt(at + 16);
  };
  return { view, read, press, chosen, before, window_, reader, asked, options };
}

for (const [type, what] of [["self_paced", "window"], ["self_paced", "asked"], ["maze", "asked"], ["maze", "reader"]]) {
  test(`${type}: without its .${what}, which a blocker took out, no trial begins`, () => {
    const { place } = stage(type);
    place.querySelector(`.${what}`).remove();
    const { view } = scripts[SCRIPTS[type]];
    assert.throws(() => view({ place }), { message: `The page lacks .${what}.` });
  });
}

for (const [type, what] of [["self_paced", "[data-next]"], ["maze", ".said"], ["choice", ".uncounted"], ["choice", "[role=group]"]]) {
  test(`${type}: a session goes on without its ${what}, or says nothing of it`, () => {
    const { view, trial, place, steps, chosen } = stage(type);
    const gone = place.querySelector(what);
    if (what === "[role=group]") gone.attributes = {};
    else gone.remove();
    view.show({ ...trial, position: 1 });
    paintAt(1000);
    let at = 1000;
    for (const step of steps) {
      WAYS.key({ ...step, target: place, at: (at += INTERVAL_MS) });
      paintAt(at + 80);
    }
    assert.equal(chosen.length, 1);
  });
}

for (const type of Object.keys(TYPES)) {
  test(`${type}: after a gap, during which the browser takes the focus, the group has it again`, () => {
    const { view, trial, place } = stage(type, { gap_ms: 500 });
    document.body = new Element();
    view.show({ ...trial, position: 1 });
    document.activeElement = document.body;
    mock.timers.tick(500);
    assert.equal(document.activeElement, place.querySelector("[role=group]"));
    // Whoever opened the keys during the gap stays there.
    view.show({ ...trial, position: 2 });
    const elsewhere = (document.activeElement = new Element());
    mock.timers.tick(500);
    assert.equal(document.activeElement, elsewhere);
  });
}

test("the question after a sentence has the focus on its answers", () => {
  const { view, read, press, asked } = asksAfterwards();
  view.show(read);
  paintAt(100);
  for (const at of [1000, 1400, 1800]) press(at);
  assert.equal(document.activeElement, asked.querySelector("[role=group]"));
});

test("a context stands alone before the sentence, which waits hidden", () => {
  const { view, read, press, before, window_ } = asksAfterwards({ trial: { context: "Once." } });
  view.show(read);
  paintAt(100);
  assert.deepEqual([before.hidden, before.textContent, window_.hidden], [false, "Once.", true]);
  press(400);
  assert.deepEqual([before.hidden, window_.hidden], [true, false]);
});

test("a question takes the sentence's place, and its answer is timed from its painting", () => {
  const { view, read, press, chosen, reader, asked, options } = asksAfterwards();
  view.show(read);
  paintAt(100);
  assert.deepEqual([reader.hidden, asked.hidden], [false, true]);
  for (const at of [500, 900, 1200]) press(at);
  assert.deepEqual([reader.hidden, asked.hidden, chosen.length], [true, false, 0]);
  WAYS.voice({ target: options[1], at: 1300 });
  assert.equal(chosen.length, 0);
  WAYS.voice({ target: options[1], at: 1816 });
  // Painted at 516, 916 and 1216; 1300 is within the 150 ms in which nobody can have read it.
  const [{ side, steps, rt_ms, premature }] = chosen;
  assert.deepEqual([side, steps.rt_ms, steps.question_ms, rt_ms], ["second", [384, 284], 600, 684]);
  assert.deepEqual(premature, [{ reason: "lockout", input_method: "key", ms: 84 }]);
  assert.deepEqual([options[0].matches(".chosen"), options[1].matches(".chosen")], [false, true]);
  view.show(read);
  assert.deepEqual([options[1].matches(".chosen"), asked.hidden, reader.hidden], [false, true, false]);
});

/** What is stored of a sentence during which something happened. */
function readDuring(happens, times = [500, 900, 1200]) {
  const { view, read, press, chosen } = asksAfterwards({ trial: { question: undefined } });
  view.show(read);
  paintAt(100);
  for (const [n, at] of times.entries()) {
    if (n === 1) happens();
    press(at);
  }
  return chosen[0];
}

test("a page that is hidden or loses the focus within a sentence is stored as such", () => {
  const undisturbed = readDuring(() => {});
  assert.deepEqual([undisturbed.was_hidden, undisturbed.lost_focus, undisturbed.broken], [false, false, undefined]);
  const hidden = readDuring(() => {
    for (document.hidden of [true, false]) document.dispatchEvent(new Event("visibilitychange"));
  });
  assert.deepEqual([hidden.was_hidden, hidden.lost_focus], [true, false]);
  assert.equal(readDuring(() => window.dispatchEvent(new Event("blur"))).lost_focus, true);
});

test("a zoomed page, one whose text lies beyond it and another font are stored as such", () => {
  assert.deepEqual(readDuring(() => (window.visualViewport = { scale: 1.02 })).broken, ["zoom"]);
  window.visualViewport = { scale: 1.01 };
  assert.equal(readDuring(() => {}).broken, undefined);
  // Texts lie from 10 to 20 across and from 100 to 200 down; one pixel over is rounding.
  assert.equal(readDuring(() => Object.assign(window, { innerWidth: 19, innerHeight: 199 })).broken, undefined);
  assert.deepEqual(readDuring(() => (window.innerHeight = 198.9)).broken, ["scroll"]);
  Object.assign(window, { innerWidth: 18.9, innerHeight: 800 });
  assert.deepEqual(readDuring(() => {}).broken, ["scroll"]);
  window.innerWidth = 1200;
  assert.deepEqual(readDuring(() => (document.fonts.status = "loading")).broken, ["font"]);
});

test("a step that lasts a day has no time, and one that is a millisecond shorter has", () => {
  const DAY_MS = 86_400_000;
  const begun = 516;
  const first = (ms) => readDuring(() => {}, [500, begun + ms, begun + ms + 400]);
  assert.deepEqual(first(DAY_MS).steps.rt_ms, [null, 384]);
  assert.deepEqual(first(DAY_MS - 1).steps.rt_ms, [DAY_MS - 1, 384]);
  assert.equal(first(DAY_MS - 1 - 400).rt_ms, DAY_MS - 1);
  assert.deepEqual([first(DAY_MS - 400).rt_ms, first(DAY_MS).rt_ms], [null, null]);
});
