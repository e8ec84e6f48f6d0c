// @ts-check
/** The working page: instructions, practice, one trial after the other, each answer sent at once. */

import { openStore } from "./store.js";
import { AnswerQueue } from "./queue.js";
import { Sequence } from "./sequence.js";
import { deviceFacts } from "./device.js";
import { TrialView, fill } from "./trial.js";

/** @typedef {import("./sequence.js").Trial} Trial */
/** @typedef {import("./trial.js").Choice} Choice */

/**
 * What the page knows of the session.
 * @typedef {object} Session
 * @property {Trial[]} trials
 * @property {number[]} answered
 * @property {(Trial & { correct: string, feedback: string })[]} practice
 * @property {string[]} keys
 * @property {number} lockout_ms
 * @property {number} break_every
 * @property {boolean} device_known
 * @property {boolean} preview
 */

// A quick answer's way to the server is not worth a word.
const QUIETLY_MS = 600;
// How long another window may take to send what it has, before this one asks for it again.
const LOOK_AGAIN_MS = 1_000;
const LOOKS = 10;

/** @type {Session} */
const session = JSON.parse(byId("session").textContent ?? "");
const sequence = new Sequence(session.trials, session.answered);
const view = new TrialView(byId("trial"), session, onChoice);
const tabs = globalThis.BroadcastChannel && new BroadcastChannel(`parallax ${location.pathname}`);
let practised = session.answered.length > 0 ? session.practice.length : 0;
let ended = false;
let deviceKnown = session.device_known || session.preview;
/** @type {AnswerQueue} */
let queue;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let indication;
const ready = begin();

async function begin() {
  const store = await openStore(location.pathname);
  queue = new AnswerQueue("answers", store, { onState, onSaved });
  sequence.settle(await queue.restore());
}

for (const button of document.querySelectorAll("[data-go-on]")) {
  button.addEventListener("click", () => ready.then(goOn));
  /** @type {HTMLButtonElement} */ (button).disabled = false;
}
tabs?.addEventListener("message", (event) => settle([event.data]));
window.addEventListener("online", () => queue?.wake());
window.addEventListener("pagehide", () => queue?.handOver());
window.addEventListener("pageshow", (event) => {
  // A page that the browser took from its memory may be long out of date.
  if (event.persisted) location.reload();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return queue?.handOver();
  queue?.wake();
  void catchUp();
});
window.addEventListener("beforeunload", (event) => {
  if (queue?.length && queue.state !== "refused") event.preventDefault();
});

/** Shows what comes next: a practice trial, a trial, or the end. */
function goOn() {
  const practice = session.practice[practised];
  if (practice) return present(practice, "practice", practised + 1, session.practice.length);
  const trial = sequence.next;
  if (!trial) return leave();
  present(trial, "count", trial.position, sequence.total);
  byId("bar").setAttribute("value", String(sequence.total - sequence.remaining));
  void tellDevice();
}

/**
 * @param {Trial} trial
 * @param {"practice" | "count"} label Which words say where in the sequence it stands.
 * @param {number} position
 * @param {number} total
 */
function present(trial, label, position, total) {
  byId("feedback").hidden = true;
  showOnly("trial");
  byId("count").textContent = fill(byId("count").dataset[label] ?? "", { position, total });
  view.show(trial);
}

/**
 * @param {Trial} trial
 * @param {Choice} choice
 */
function onChoice(trial, choice) {
  if (trial === session.practice[practised]) return comment(session.practice[practised], choice);
  sequence.settle([trial.position]);
  if (!session.preview) {
    const now = new Date().toISOString();
    queue.add({ uuid: newUuid(), position: trial.position, ...choice, client_time: now });
    tabs?.postMessage(trial.position);
  }
  if (sequence.pausesAfter(session.break_every)) takeBreak();
  else goOn();
}

/**
 * Says whether a practice trial was answered as expected.
 * @param {Session["practice"][number]} trial
 * @param {Choice} choice
 */
function comment(trial, choice) {
  practised += 1;
  const words = byId("verdict").dataset;
  const verdict = choice.side === trial.correct ? words.right : words.wrong;
  byId("verdict").textContent = `${verdict} ${trial.feedback ?? ""}`.trim();
  byId("feedback").hidden = false;
  byId("feedback").querySelector("button")?.focus();
  if (practised < session.practice.length) return;
  byId("practised").hidden = false;
}

function takeBreak() {
  const [done, total] = [sequence.total - sequence.remaining, sequence.total];
  byId("so-far").textContent = fill(byId("so-far").dataset.text ?? "", { done, total });
  showOnly("break");
}

/** Waits until every answer is acknowledged; what comes next is then the server's to say. */
function leave() {
  if (session.preview) return showOnly("preview-over");
  showOnly("leaving");
  sayWhatIsUnsaved();
  if (queue.state === "saved") void awaitOthers();
}

/** Waits for answers that another window of this session still has to send. */
async function awaitOthers() {
  for (let look = 0; look < LOOKS; ) {
    if (await catchUp()) look += 1;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  // That window is gone, and what it had with it: the server asks for those trials again.
  location.reload();
}

function sayWhatIsUnsaved() {
  byId("unsaved").textContent = fill(byId("unsaved").dataset.text ?? "", { n: queue.length });
}

/** @param {import("./queue.js").State} state */
function onState(state) {
  byId("offline").hidden = state !== "offline";
  byId("refused").hidden = state !== "refused";
  clearTimeout(indication);
  const indicator = byId("indicator");
  indicator.dataset.state = state;
  const indicate = () => (indicator.textContent = indicator.dataset[state] ?? "");
  if (state === "saving") indication = setTimeout(indicate, QUIETLY_MS);
  else indicate();
  if (state === "refused") showOnly();
  if (state === "saved" && !sequence.next && !ended) void awaitOthers();
}

/** @param {number} remaining */
function onSaved(remaining) {
  if (remaining === 0) return end();
  sayWhatIsUnsaved();
  void tellDevice();
  // Fewer trials are left than this page knows of: another device goes on with the session.
  if (!queue.length && remaining < sequence.remaining) void catchUp();
}

/** Leaves for the page that the server shows now. */
function end() {
  ended = true;
  location.reload();
}

/**
 * Asks the server what is answered, which another device may have done meanwhile.
 * @returns {Promise<boolean>} Whether it replied.
 */
async function catchUp() {
  if (session.preview) return false;
  try {
    const response = await fetch(location.href);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    // Neither a server in trouble nor a network's login page says anything about the session.
    if (response.status >= 500 || !page.body.dataset.page) return false;
    const found = page.getElementById("session");
    if (found) settle(JSON.parse(found.textContent ?? "").answered);
    else if (!queue.length) end();
    return true;
  } catch {
    // Without a connection this page's own knowledge is the best there is.
    return false;
  }
}

/**
 * Takes trials for answered, and leaves the one on the screen if it is among them.
 * @param {number[]} positions
 */
function settle(positions) {
  sequence.settle(positions);
  const shown = view.trial;
  if (!shown || shown === session.practice[practised]) return;
  if (positions.includes(shown.position)) goOn();
}

async function tellDevice() {
  if (deviceKnown) return;
  deviceKnown = true;
  try {
    const body = JSON.stringify(await deviceFacts());
    const headers = { "Content-Type": "application/json" };
    const response = await fetch("device", { method: "POST", headers, body, keepalive: true });
    deviceKnown = response.status < 500;
  } catch {
    deviceKnown = false;
  }
}

/**
 * Shows one of the page's sections, or none, and leads the reader to its beginning.
 * @param {string} [id]
 */
function showOnly(id) {
  if (id !== "trial") view.close();
  for (const section of document.querySelectorAll("main > section")) {
    /** @type {HTMLElement} */ (section).hidden = section.id !== id;
  }
  if (id && id !== "trial") byId(id).querySelector("h1")?.focus();
}

/** A random UUID (version 4); crypto.randomUUID is missing on pages without https. */
function newUuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** @param {string} id */
function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element "${id}"`);
  return found;
}
