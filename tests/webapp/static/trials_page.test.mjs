// Run by test_assets.py: the working page, with a view that only takes what it is shown.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { load } from "./load.mjs";

const { openTrialsPage } = await load("trials_page.js");
const { server } = await load("server.js");

class Place extends EventTarget {
  dataset = {};
  hidden = false;
  textContent = "";
  attributes = {};
  classList = { toggle() {}, add() {}, remove() {} };
  constructor(id) {
    super();
    this.id = id;
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  querySelector() {
    return null;
  }
  querySelectorAll() {
    return [];
  }
  closest() {
    return null;
  }
  focus() {}
}

const SECTIONS = ["instructions", "trial", "break", "leaving", "preview-over", "other-device"];
const TEXTS = {
  count: { count: "{position}/{total}", practice: "try {position}/{total}" },
  verdict: { right: "Right.", wrong: "Wrong.", late: "Late.", which: "This one: {answer}", taken: "Taken." },
  "so-far": { text: "{done} of {total} done" },
  unsaved: { text: "{n} left" },
  indicator: { saving: "Saving", saved: "Saved", offline: "Offline", refused: "Refused" },
};
Object.defineProperty(globalThis, "navigator", { value: { userAgent: "", language: "en" }, configurable: true });
const settled = () => new Promise((resolve) => setImmediate(resolve));
// What one session left in the module's memory is no other's.
let visit = 0;
let kept;
let frames;
let nowMs;

test.beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout"] });
  mock.method(performance, "now", () => nowMs);
  mock.method(Math, "random", () => 0.5);
  visit += 1;
  kept = new Map();
  frames = [];
  nowMs = 1000;
});
test.afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

/** The page of a session of three trials, and what it sends. */
async function opened(more = {}, script = undefined) {
  const session = {
    trials: [1, 2, 3].map((position) => ({ position })), answered: [],
    practice: [{ position: 1, correct: "first", feedback: "So it is." }],
    keys: ["1", "2"], script: "/s/script.js", pauses: [2], device_known: false, preview: false, ...more,
  };
  const places = new Map();
  const place = (id) => {
    if (!places.has(id)) places.set(id, Object.assign(new Place(id), { dataset: { ...TEXTS[id] } }));
    return places.get(id);
  };
  place("offline").children = [new Place("connection"), new Place("server")];
  place("session").textContent = JSON.stringify(session);
  const goOn = new Place("go-on");
  const known = (id) => (["wrong-device", "before-2"].includes(id) ? null : place(id));
  globalThis.document = Object.assign(new EventTarget(), {
    hidden: false, title: "", body: { dataset: {} }, getElementById: known, querySelector: () => null,
    createElement: () => new Place(),
    querySelectorAll: (what) =>
      ({ "main > section": SECTIONS.map(place), "[data-go-on]": [goOn] })[what] ?? [],
  });
  globalThis.window = Object.assign(new EventTarget(), { devicePixelRatio: 1 });
  Object.assign(globalThis, {
    BroadcastChannel: undefined, indexedDB: undefined, location: { href: `https://lab.example/p/x${visit}/working` },
    requestAnimationFrame: (callback) => frames.push(callback), cancelAnimationFrame() {},
    localStorage: {
      getItem: (name) => kept.get(name) ?? null,
      setItem: (name, value) => kept.set(name, value),
      removeItem: (name) => kept.delete(name),
    },
    DOMParser: class {
      parseFromString = () => ({ body: { dataset: {} } });
    },
  });
  const view = { shown: [], late: false, show: (trial) => (view.trial = trial) && view.shown.push(trial), close() {} };
  const sent = { answers: [], device: [] };
  const replies = { answers: (body) => [200, { saved: body.position, remaining: 1 }], device: () => [200, { saved: true }] };
  let choose;
  mock.method(server, "load", async () => script ?? ({
    view: (tools) => {
      choose = tools.onChoice;
      return view;
    },
  }));
  mock.method(server, "fetch", async (url, { body } = {}) => {
    const to = url.split("/").at(-1);
    if (!sent[to]) return new Response("");
    sent[to].push(JSON.parse(body));
    const [status, reply] = replies[to](sent[to].at(-1));
    return new Response(JSON.stringify(reply), { status });
  });
  await openTrialsPage(new AbortController().signal);
  for (let n = 0; n < 5; n += 1) await settled();
  return {
    place, view, sent, replies, session,
    seen: () => SECTIONS.filter((id) => !place(id).hidden),
    async goOn() {
      goOn.dispatchEvent(new Event("click"));
      await settled();
    },
    async choose(side = "first") {
      choose(view.trial, { side });
      await settled();
    },
    /** Lets the browser paint, as often as is needed to know the refresh rate. */
    async paint() {
      for (let n = 0; n < 40; n += 1) for (const callback of frames.splice(0)) callback(n * 10);
      await settled();
    },
  };
}

const remembered = () => JSON.parse(kept.get(`parallax /p/x${visit}/working`) ?? "{}");

test("practice says what was right, and stores nothing", async () => {
  const page = await opened();
  await page.goOn();
  assert.deepEqual([page.view.trial.feedback, page.place("count").textContent], ["So it is.", "try 1/1"]);
  assert.deepEqual([page.seen(), page.place("bar").attributes], [["trial"], { max: "1", value: "0" }]);
  page.view.late = true;
  await page.choose("second");
  assert.equal(page.place("verdict").textContent, "Wrong. Late. So it is.");
  assert.deepEqual([page.place("feedback").hidden, page.place("practised").hidden], [false, false]);
  assert.deepEqual([page.place("bar").attributes.value, page.sent.answers, remembered().shown], ["1", [], undefined]);
});

test("a page that lacks an answer or its own data does not begin, and what is stored stays", async () => {
  const choice = { answer: () => ({}), offered: () => true };
  kept.set("parallax kept", "unsent");
  await assert.rejects(opened({}, choice), { message: "Some of the trial's answers or texts are missing from the page." });
  globalThis.document.getElementById = () => null;
  await assert.rejects(openTrialsPage(new AbortController().signal), SyntaxError);
  assert.equal(kept.get("parallax kept"), "unsent");
});

test("a page that lacks a part with the button that leads on does not begin", async () => {
  await opened();
  const { getElementById } = globalThis.document;
  globalThis.document.getElementById = (id) => (["instructions", "break"].includes(id) ? null : getElementById(id));
  const message = "Parts that lead on are missing from the page: instructions, break.";
  await assert.rejects(openTrialsPage(new AbortController().signal), { message });
});

test("practice goes on until its last trial, and a trial without a right answer has no verdict", async () => {
  const practice = [{ position: 1, correct: "first", feedback: "" }, { position: 2, correct: "", feedback: "Thanks." }];
  const page = await opened({ practice });
  await page.goOn();
  await page.choose("first");
  assert.deepEqual([page.place("verdict").textContent, page.place("practised").hidden], ["Right.", true]);
  await page.goOn();
  await page.choose("first");
  assert.deepEqual([page.place("verdict").textContent, page.place("practised").hidden], ["Thanks.", false]);
});

test("practice says in words which of several options was right, and that an answer was taken", async () => {
  const practice = [
    { position: 1, correct: "third", feedback: "" }, { position: 2, correct: "", feedback: "" },
    { position: 3, correct: "first", feedback: "", answer: "the sky" },
  ];
  const page = await opened({ practice });
  const option = (side, more = {}) =>
    Object.assign(new Place(side), { dataset: { side }, querySelector: () => ({ textContent: `the ${side}` }), ...more });
  // The words of a Maze are hidden at the question.
  const word = option("third", { closest: (what) => what === "[hidden]", querySelector: () => ({ textContent: "a word" }) });
  page.place("trial").querySelectorAll = () => [word, ...["first", "second", "third"].map((side) => option(side))];
  await page.goOn();
  await page.choose("first");
  assert.equal(page.place("verdict").textContent, "This one: the third");
  await page.goOn();
  await page.choose("first");
  assert.equal(page.place("verdict").textContent, "Taken.");
  await page.goOn();
  await page.choose("");
  assert.equal(page.place("verdict").textContent, "This one: the sky");
});

test("whoever continues here is led to the beginning of the instructions, which nothing focuses by itself", async () => {
  const page = await opened();
  let focused = 0;
  const text = { hasAttribute: () => false, tabIndex: 0, focus: () => (focused += 1) };
  page.place("instructions").querySelector = () => text;
  page.place("go-on-here").dispatchEvent(new Event("click"));
  assert.deepEqual([text.tabIndex, focused], [-1, 1]);
});

test("a trial is sent with how often and how long it was seen, and a page may come before the next", async () => {
  const page = await opened({ practice: [] });
  await page.goOn();
  assert.deepEqual([page.place("count").textContent, page.place("bar").attributes], ["1/3", { max: "3", value: "0" }]);
  assert.deepEqual(remembered().shown, { 1: { times: 1, ms: 0 } });
  nowMs = 1700;
  await page.choose();
  const [{ position, side, times_shown, seen_before_ms, uuid }] = page.sent.answers;
  assert.deepEqual([position, side, times_shown, seen_before_ms], [1, "first", 1, 0]);
  assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual([page.seen(), page.place("so-far").textContent], [["break"], "1 of 3 done"]);
  assert.deepEqual(remembered().answered, [1]);
  await page.goOn();
  assert.deepEqual([page.view.trial.position, page.place("bar").attributes.value], [2, "1"]);
  // Hidden after 2.5 s and opened anew: it was on the screen twice, and for as long before.
  nowMs = 4200;
  window.dispatchEvent(new Event("pagehide"));
  const again = await opened({ practice: [{ position: 1, correct: "", feedback: "" }] });
  await again.goOn();
  assert.equal(again.seen()[0], "break");
  await again.goOn();
  assert.deepEqual(remembered().shown, { 2: { times: 2, ms: 2500 } });
  await again.choose();
  assert.deepEqual([again.sent.answers[0].times_shown, again.sent.answers[0].seen_before_ms], [2, 2500]);
});

test("a preview shows everything and stores nothing", async () => {
  kept.set(`parallax /p/x${visit}/working`, JSON.stringify({ answered: [1, 2] }));
  const page = await opened({ practice: [], pauses: [], preview: true });
  await page.goOn();
  for (const position of [1, 2, 3]) {
    assert.equal(page.view.trial.position, position);
    await page.choose();
  }
  assert.deepEqual([page.seen(), page.sent.answers, page.sent.device], [["preview-over"], [], []]);
});

test("what becomes of an answer is said: quietly at first, at once where it does not arrive", async () => {
  const page = await opened({ practice: [], pauses: [] });
  await page.goOn();
  let reply;
  server.fetch.mock.mockImplementation(() => new Promise((resolve) => (reply = resolve)));
  await page.choose();
  const indicator = page.place("indicator");
  assert.deepEqual([indicator.dataset.state, indicator.textContent], ["saving", ""]);
  mock.timers.tick(599);
  assert.equal(indicator.textContent, "");
  mock.timers.tick(1);
  assert.equal(indicator.textContent, "Saving");
  reply(new Response("busy", { status: 503 }));
  await settled();
  assert.deepEqual([indicator.textContent, page.place("offline").hidden, page.place("refused").hidden], ["Offline", false, true]);
  assert.deepEqual(page.place("offline").children.map((cause) => cause.hidden), [true, false]);
  const leaving = new Event("beforeunload", { cancelable: true });
  window.dispatchEvent(leaving);
  assert.equal(leaving.defaultPrevented, true);
  window.dispatchEvent(new Event("online"));
  reply(new Response('{"error": "no"}', { status: 400 }));
  await settled();
  assert.deepEqual([page.seen(), page.place("offline").hidden, page.place("refused").hidden], [[], true, false]);
  const after = new Event("beforeunload", { cancelable: true });
  window.dispatchEvent(after);
  assert.equal(after.defaultPrevented, false);
});

for (const [status, reply, times, told] of [
  [200, { saved: true }, 1, true], [400, { error: "no" }, 1, undefined], [503, { error: "busy" }, 2, undefined],
  [200, {}, 2, undefined],
]) {
  test(`a browser is told of ${times === 1 ? "once" : "again"} after ${status} ${JSON.stringify(reply)}`, async () => {
    const page = await opened();
    page.replies.device = () => [status, reply];
    await page.paint();
    const { mark, device_told } = remembered();
    assert.match(mark, /^[0-9a-f]{32}$/);
    assert.deepEqual([page.sent.device[0].mark, device_told], [mark, told]);
    mock.timers.tick(499);
    await page.paint();
    assert.equal(page.sent.device.length, 1);
    mock.timers.tick(1);
    await page.paint();
    assert.equal(page.sent.device.length, times);
  });
}

test("a session that another browser began is asked about, and goes on here when wished", async () => {
  const page = await opened({ device_known: true });
  await page.paint();
  assert.deepEqual([page.seen(), page.sent.device], [["other-device"], []]);
  page.place("go-on-here").dispatchEvent(new Event("click"));
  await page.paint();
  assert.deepEqual([page.seen(), page.sent.device.length], [["instructions"], 1]);
});
