// Run by test_assets.py with Node's own test runner.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { load } from "./load.mjs";

const { OnsetClock } = await load("onset.js");

let frames = [];
let nowMs = 0;
let observer;
const text = () => ({ setAttribute(_, name) { this.name = name; } });

/** Runs the callbacks that wait for the next frame, as a browser does at that time. */
function frameAt(ms) {
  const due = frames;
  frames = [];
  for (const callback of due) callback(ms);
}

class Observer {
  static supportedEntryTypes = ["element"];
  entries = [];
  constructor(callback) {
    this.tell = (entries) => callback({ getEntries: () => entries });
    observer = this;
  }
  observe() {}
  disconnect() {}
  takeRecords() {
    return this.entries.splice(0);
  }
}

test.beforeEach(() => {
  frames = [];
  globalThis.requestAnimationFrame = (callback) => frames.push(callback);
  globalThis.PerformanceObserver = Observer;
  globalThis.crossOriginIsolated = false;
  mock.method(performance, "now", () => nowMs);
});
test.afterEach(() => mock.restoreAll());

const clock = () => new OnsetClock(new AbortController().signal);

test("before the painting no onset is known", () => {
  const watching = clock();
  watching.watch([text()], () => {});
  assert.deepEqual(watching.onset, { ms: Infinity, source: null, uncertaintyMs: null });
});

test("without presentation times the onset is the second frame, uncertain by the time between both", () => {
  globalThis.PerformanceObserver = undefined;
  const watching = clock();
  let painted = 0;
  watching.watch([text()], () => (painted += 1));
  frameAt(100);
  assert.equal(painted, 0);
  nowMs = 117.5;
  frameAt(116.6);
  assert.equal(painted, 1);
  const { ms, source, uncertaintyMs } = watching.onset;
  assert.deepEqual([ms, source, Math.round(uncertaintyMs * 10) / 10], [117.5, "frames", 16.6]);
});

test("with presentation times the onset is that of the text that came last", () => {
  const watching = clock();
  const [first, second] = [text(), text()];
  watching.watch([first, second], () => {});
  assert.equal(first.name, second.name);
  observer.tell([{ identifier: first.name, renderTime: 140 }, { identifier: first.name, renderTime: 132 }]);
  assert.deepEqual(watching.onset, { ms: 140, source: "presentation", uncertaintyMs: 4 });
  frameAt(100);
  nowMs = 160;
  frameAt(116);
  assert.equal(watching.onset.ms, 140, "a presentation time is better than a frame's");
});

test("a presentation time that comes after the frames replaces theirs, be it earlier", () => {
  globalThis.crossOriginIsolated = true;
  const watching = clock();
  const shown = text();
  watching.watch([shown], () => {});
  frameAt(100);
  nowMs = 118;
  frameAt(116);
  assert.equal(watching.onset.source, "frames");
  observer.entries = [{ identifier: shown.name, renderTime: 109 }];
  assert.deepEqual(watching.onset, { ms: 109, source: "presentation", uncertaintyMs: 0.1 });
});

test("what was painted for the trial before, or never, is not this trial's onset", () => {
  const watching = clock();
  const before = text();
  watching.watch([before], () => assert.fail("its painting is over"));
  const now = text();
  watching.watch([now], () => {});
  observer.tell([{ identifier: before.name, renderTime: 90 }, { identifier: now.name, renderTime: 0 }]);
  assert.equal(watching.onset.ms, Infinity);
  frameAt(100);
  nowMs = 118;
  frameAt(116);
  assert.equal(watching.onset.source, "frames");
  watching.stop();
  assert.deepEqual(watching.onset, { ms: Infinity, source: null, uncertaintyMs: null });
});
