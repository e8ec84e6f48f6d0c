// Run by test_assets.py with Node's own test runner.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.mjs";

const { areAnswersAccepted, cleanText, findProblems, readProgress } = await load("serverless/session_progress.js");
const { PermanentRefusal, sendRequest, isPermanentError } = await load("serverless/store_requests.js");

const question = (more) => ({
  name: "q", type: "text", options: [], required: false, points: null, fewest: null, most: null,
  numbers: [0, 100, 1], ...more,
});
const WORDS = Object.fromEntries(
  ["required", "choice", "fewer", "more", "number", "range", "longest"].map((mistake) => [mistake, mistake]),
);
/** The mistake in one answer; undefined where there is none. */
const mistake = (more, answer) => findProblems([question(more)], { q: answer }, WORDS, 4).q;

for (const [kind, more, right, wrong] of [
  ["text", { required: true }, ["a", " äöüß ", "𝒳𝒳𝒳𝒳"], { "": "required", "\x07 ": "required", abcde: "longest" }],
  ["choice", { type: "choice", options: ["a ", "b"] }, ["", "a", "b"], { c: "choice", "a; b": "choice" }],
  ["scale", { type: "scale", points: 3 }, ["1", "3"], { 0: "choice", 4: "choice" }],
  ["choices", { type: "choices", options: ["a", "b", "c", "d"], fewest: 2, most: 3 },
    ["a; b", "b; a; d"], { a: "fewer", "a; b; c; d": "more", "a; a": "choice", "a; e": "choice" }],
  ["number", { type: "number" }, ["7", "-7,5", "+1.25"], { "1e3": "number", "7.": "number", seven: "number" }],
  // From 2 to 5 in steps of 0.3: 2, 2.3, ..., 5.
  ["slider", { type: "slider", numbers: [2, 5, 0.3] }, ["2", "2.3", "4,7", "5"],
    { 1.7: "range", 5.3: "range", 2.5: "range", a: "range" }],
]) {
  test(`what is wrong with an answer: ${kind}`, () => {
    for (const answer of right) assert.equal(mistake(more, answer), undefined, answer);
    for (const [answer, expected] of Object.entries(wrong)) assert.equal(mistake(more, answer), expected, answer);
  });
}

test("a number has at most 32 characters", () => {
  assert.equal(mistake({ type: "number" }, "1".repeat(32)), undefined);
  assert.equal(mistake({ type: "number" }, "1".repeat(33)), "number");
});

test("a question has its own words for a mistake, and one that is not asked has none", () => {
  const required = (name, more) => question({ name, required: true, ...more });
  const questions = [
    required("a", { words: { required: "Say a." } }),
    required("b", { only_if: { a: ["yes"] } }),
    required("c", { only_if: { b: [""] } }),
  ];
  assert.deepEqual(findProblems(questions, {}, WORDS, 9), { a: "Say a.", c: "required" });
  assert.deepEqual(findProblems(questions, { a: "no", b: "x" }, WORDS, 9), { c: "required" });
  assert.deepEqual(findProblems(questions, { a: "yes", b: "x" }, WORDS, 9), {});
});

test("lines end alike, and control characters are left out", () => {
  assert.equal(cleanText(" a\r\nb\rc\t\x00\x1fd\x7f\n"), "a\nb\nc\td");
});

test("answers admit by a text without its capitals, or by a number within its limits", () => {
  const text = question({ accept: ["Straße"] });
  for (const [answer, expected] of [["STRASSE", true], [" straße ", true], ["strase", false], ["", false]]) {
    assert.equal(areAnswersAccepted([text], { q: answer }), expected, answer);
  }
  const number = question({ at_least: 18, at_most: 65 });
  for (const [answer, expected] of [["18", true], ["65,0", true], ["17.9", false], ["66", false], ["x", false]]) {
    assert.equal(areAnswersAccepted([number], { q: answer }), expected, answer);
  }
  assert.equal(areAnswersAccepted([text, number], { q: "straße" }), false);
});

const ASKED = { screening: [question()], comprehension: [question()], questionnaires: [[]], tries: 2 };
/** How far a session has come, from steps as [kind, body]. */
const after = (steps, asked = ASKED) =>
  readProgress(steps.map(([kind, body = {}]) => ({ folder: "f", kind, body: JSON.stringify(body) })), asked);
const CONSENT = ["consent", { decision: "accept", code: "c", parameters: { id: "1" } }];
const BEGUN = [CONSENT, ["screening"], ["comprehension", { right: true }]];
const PLACED = [...BEGUN, ["place", { number: 3, total: 2 }]];

test("each entry of a journal leads to the next page", () => {
  const none = { ...ASKED, screening: [], comprehension: [] };
  assert.deepEqual([after([]).at, after([]).folder], ["new", ""]);
  assert.equal(after([["consent", { decision: "decline" }]]).at, "declined");
  assert.deepEqual([after([CONSENT]).at, after([CONSENT]).code, after([CONSENT]).folder], ["screening", "c", "f"]);
  assert.equal(after([CONSENT], none).at, "placing");
  assert.equal(after([CONSENT], { ...none, comprehension: [question()] }).at, "comprehension");
  assert.equal(after(BEGUN.slice(0, 2)).at, "comprehension");
  assert.equal(after([CONSENT, ["screening"]], { ...ASKED, comprehension: [] }).at, "placing");
  assert.equal(after(BEGUN).at, "placing");
  const { at, number, total, edition, deviceDescribed } = after([...PLACED, ["device"]]);
  assert.deepEqual([at, number, total, edition, deviceDescribed], ["working", 3, 2, 0, true]);
  assert.equal(after([...PLACED, ["questionnaire"]]).at, "finished");
});

test("questions on the instructions that are answered wrongly end a session at the last try", () => {
  const wrong = ["comprehension", { right: false }];
  const [once, twice] = [1, 2].map((n) => after([...BEGUN.slice(0, 2), ...Array(n).fill(wrong)]));
  assert.deepEqual([once.at, once.tries], ["comprehension", 1]);
  assert.deepEqual([twice.at, twice.ending], ["left", "failed_check"]);
});

test("a session is answered when every trial is, however often one was sent", () => {
  const answer = (position) => ["answer", { position }];
  assert.equal(after([...PLACED, answer(1), answer(1)]).at, "working");
  assert.equal(after([...PLACED, answer(1), answer(2)]).at, "answered");
  assert.equal(after([...PLACED, answer(1), ["leave", { ending: "left" }], answer(2)]).at, "left");
});

test("who has wished once to be erased is erased", () => {
  const wishes = (...given) => after([...PLACED, ...given.map((wish) => ["withdraw", { wish }])]);
  assert.deepEqual([wishes("keep").at, wishes("keep").erased, wishes("erase", "keep").erased], ["withdrawn", false, true]);
});

test("a store refuses for ever with 400 to 499, except with what may pass", () => {
  const refused = [200, 399, 400, 404, 408, 429, 499, 500, 503].filter(isPermanentError);
  assert.deepEqual(refused, [400, 404, 499]);
});

for (const [status, text, never] of [
  [400, "no", true], [400, "UNKNOWN_ERROR_GETTING_CONDITION", false], [500, "no", false], [429, "no", false],
]) {
  test(`a store that replies ${status} ${text} ${never ? "never" : "may"} take${never ? "s" : ""} it`, async () => {
    globalThis.fetch = async () => new Response(text, { status });
    await assert.rejects(sendRequest("https://store.example", "", {}), (error) => {
      assert.deepEqual([error instanceof PermanentRefusal, error.message, error.status], [never, text, status]);
      return true;
    });
  });
}
