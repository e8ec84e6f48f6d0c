// Run by test_assets.py with Node's own test runner.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { load } from "./load.mjs";

const { DisplayMonitor } = await load("trial_conditions.js");
const { MAX_LENGTH, Trace } = await load("trace.js");

let frame;
let nowMs = 0;

test.beforeEach(() => {
  nowMs = 0;
  frame = undefined;
  mock.method(performance, "now", () => nowMs);
  globalThis.requestAnimationFrame = (callback) => {
    frame = callback;
    return 1;
  };
  globalThis.cancelAnimationFrame = () => (frame = undefined);
  globalThis.document = Object.assign(new EventTarget(), { hidden: false });
  globalThis.window = { devicePixelRatio: 1.5, visualViewport: { scale: 1.111 } };
});
test.afterEach(() => mock.restoreAll());

/** Shows frames at these times. */
function paint(...times) {
  for (const time of times) {
    const callback = frame;
    frame = undefined;
    callback?.(time);
  }
}

/** Hides or shows the page at a time. */
function hide(hidden, atMs) {
  nowMs = atMs;
  document.hidden = hidden;
  document.dispatchEvent(new Event("visibilitychange"));
}

const frames = (n, fromMs = 0) => Array.from({ length: n }, (_, number) => fromMs + number * 10);

test("dropped frames are counted by the usual gap between two, and zoom is rounded to hundredths", () => {
  const display = new DisplayMonitor(new AbortController().signal);
  display.startTrial();
  // Nine gaps of 10 ms and one of 40: three frames are missing.
  paint(...frames(10), 130);
  assert.deepEqual(display.endTrial(), { frames_dropped: 3, hidden_ms: 0, pixel_ratio: 1.67 });
  assert.equal(frame, undefined);
});

test("nine gaps are too few to know the usual one, unless an earlier trial told it", () => {
  const display = new DisplayMonitor(new AbortController().signal);
  display.startTrial();
  paint(...frames(10));
  assert.equal(display.endTrial().frames_dropped, null);
  display.startTrial();
  paint(...frames(11));
  assert.equal(display.endTrial().frames_dropped, 0);
  display.startTrial();
  paint(0, 30, 30, 40);
  assert.equal(display.endTrial().frames_dropped, 2);
});

test("while the page is hidden, time counts and frames do not", () => {
  const display = new DisplayMonitor(new AbortController().signal);
  display.startTrial();
  paint(...frames(11));
  hide(true, 150);
  hide(false, 400.4);
  paint(500, 510);
  hide(true, 600);
  nowMs = 607;
  assert.deepEqual(display.endTrial(), { frames_dropped: 0, hidden_ms: 257, pixel_ratio: 1.67 });
  nowMs = 700;
  display.startTrial();
  nowMs = 720;
  assert.equal(display.endTrial().hidden_ms, 20);
});

test("a page that is left asks for no more frames", () => {
  const leaving = new AbortController();
  new DisplayMonitor(leaving.signal).startTrial();
  assert.notEqual(frame, undefined);
  leaving.abort();
  assert.equal(frame, undefined);
});

/** Sends an event with these fields at a time. */
function send(type, atMs, fields = {}) {
  const event = new Event(type);
  for (const [name, value] of Object.entries({ timeStamp: atMs, ...fields })) {
    Object.defineProperty(event, name, { value });
  }
  document.dispatchEvent(event);
}

const move = (atMs, clientX, clientY, pointerType = "mouse") =>
  send("pointermove", atMs, { clientX, clientY, pointerType });

test("a trace holds differences in base 36, and movements at least 16 ms apart", () => {
  nowMs = 100;
  const trace = new Trace(new AbortController().signal);
  trace.begin();
  send("keydown", 99);
  move(110, 36, 5);
  move(125.4, 99, 99);
  move(126, 30.4, 7);
  send("keydown", 146, { repeat: false });
  send("keydown", 150, { repeat: true });
  send("keyup", 181);
  move(200, 40, 0, "touch");
  // 36 is "10" in base 36; the touch is 19 ms after the key and 10 px right, 7 up of the mouse.
  assert.equal(trace.text, "ma,10,5;mg,-6,2;dk;uz;tj,a,-7");
  nowMs = 300;
  trace.begin();
  assert.equal(trace.text, "");
});

test("a long trace loses every second place until it is short", () => {
  const trace = new Trace(new AbortController().signal);
  trace.begin();
  // Each "mk,1,1" has six characters and a separator; the first is "m0,0,0".
  for (let n = 0; n < 300; n += 1) move(n * 20, n, n);
  assert.equal(300 * 7 - 1 > MAX_LENGTH, true);
  const moments = trace.text.split(";");
  assert.deepEqual([moments.length, moments[0], moments[1]], [150, "m0,0,0", "m14,2,2"]);
});
