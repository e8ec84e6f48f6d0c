// Run by test_assets.py with Node's own test runner.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { load } from "./load.mjs";

const { Deadline } = await load("deadline.js");

/** A deadline of so many milliseconds, and the element that says that the time is up. */
function deadlineOf(ms) {
  const overtime = { textContent: "", dataset: { text: "The time is up." } };
  const deadline = new Deadline({ querySelector: () => overtime }, ms);
  deadline.reset();
  return { deadline, overtime };
}

let nowMs = 0;
test.beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout"] });
  mock.method(performance, "now", () => nowMs);
});
test.afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

for (const [rtMs, late] of [[1999.9, false], [2000, false], [2000.1, true]]) {
  test(`with a deadline of 2000 ms an answer after ${rtMs} ms is ${late ? "late" : "in time"}`, () => {
    const { deadline } = deadlineOf(2000);
    deadline.recordAnswer(rtMs);
    assert.equal(deadline.late, late);
  });
}

test("one late step makes the trial late, and the next trial begins in time", () => {
  const { deadline } = deadlineOf(2000);
  deadline.recordAnswer(2500);
  deadline.recordAnswer(100);
  assert.equal(deadline.late, true);
  deadline.reset();
  assert.equal(deadline.late, false);
});

test("the time is up 2000 ms after the painting, not after the waiting began", () => {
  const { deadline, overtime } = deadlineOf(2000);
  nowMs = 5300; // the painting was 300 ms ago, so 1700 ms are left
  deadline.startTimer(5000);
  mock.timers.tick(1699);
  assert.equal(overtime.textContent, "");
  mock.timers.tick(1);
  assert.equal(overtime.textContent, "The time is up.");
  deadline.recordAnswer(2100);
  assert.equal(overtime.textContent, "");
});

test("a painting that is known too late has its deadline at once", () => {
  const { deadline, overtime } = deadlineOf(2000);
  nowMs = 9000;
  deadline.startTimer(5000);
  mock.timers.tick(1);
  assert.equal(overtime.textContent, "The time is up.");
});

test("without a deadline no answer is late and nothing is ever said", () => {
  for (const none of [null, undefined]) {
    const { deadline, overtime } = deadlineOf(none);
    deadline.startTimer(5000);
    mock.timers.tick(10_000_000);
    deadline.recordAnswer(10_000_000);
    assert.deepEqual([deadline.late, overtime.textContent], [false, ""]);
  }
});

test("an answer in time leaves no timer behind", () => {
  const { deadline, overtime } = deadlineOf(2000);
  nowMs = 5000;
  deadline.startTimer(5000);
  deadline.recordAnswer(900);
  mock.timers.tick(10_000);
  assert.equal(overtime.textContent, "");
});
