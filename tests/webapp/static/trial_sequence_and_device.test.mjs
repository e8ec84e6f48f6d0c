// Run by test_assets.py with Node's own test runner.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.mjs";

const { TrialSequence } = await load("trial_sequence.js");
const { findBrowserFamily, computeRefreshRate } = await load("device.js");
const { fillTemplate } = await load("trial_view.js");

const trials = (n) => Array.from({ length: n }, (_, index) => ({ position: index + 1 }));

test("a sequence goes on after what is answered, wherever that was", () => {
  const sequence = new TrialSequence(trials(4), [1, 3]);
  assert.deepEqual([sequence.total, sequence.remaining, sequence.next.position], [4, 2, 2]);
  sequence.markAnswered([2, 2, 99]);
  assert.equal(sequence.next.position, 4);
  sequence.markAnswered([4]);
  assert.equal(sequence.next, undefined);
});

test("a page before a trial comes once, and again after the page was loaded anew", () => {
  const sequence = new TrialSequence(trials(6), [], [3, 5]);
  assert.equal(sequence.takeBreak(), undefined);
  sequence.markAnswered([1, 2]);
  assert.deepEqual([sequence.takeBreak(), sequence.takeBreak()], [3, undefined]);
  assert.equal(new TrialSequence(trials(6), [1, 2], [3, 5]).takeBreak(), 3);
  sequence.markAnswered([3, 4, 5, 6]);
  assert.equal(sequence.takeBreak(), undefined);
});

test("the refresh rate is that of most frames, whatever frames were dropped", () => {
  const times = Array.from({ length: 31 }, (_, frame) => frame * 16.667 + (frame > 20 ? 50 : 0));
  assert.equal(computeRefreshRate(times), 60);
  assert.equal(computeRefreshRate([5]), null);
  assert.equal(computeRefreshRate([5, 5, 5]), null);
});

const safari = "Version/17.0 Safari/605.1.15";
for (const [family, userAgent] of [
  ["Chrome", "Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36"],
  ["Edge", "Mozilla/5.0 (Windows) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0"],
  ["Opera", "Mozilla/5.0 (Windows) Chrome/140.0.0.0 Safari/537.36 OPR/120.0.0.0"],
  ["Samsung Internet", "Mozilla/5.0 (Linux; Android) SamsungBrowser/27.0 Chrome/125.0.0.0"],
  ["Firefox", "Mozilla/5.0 (X11; Linux) Gecko/20100101 Firefox/145.0"],
  ["Safari", `Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 ${safari}`],
  ["other", "Lynx/2.9"],
]) {
  test(`the family of a browser is told without its version: ${family}`, () => {
    assert.equal(findBrowserFamily(userAgent), family);
  });
}

test("a text's places are filled, and a missing value leaves none behind", () => {
  assert.equal(fillTemplate("{a} of {b}{c}", { a: 1, b: "x {a}" }), "1 of x {a}");
});
