// @ts-check
/** The working page: instructions, then one trial after the other, each answer sent at once. */

import { AnswerQueue } from "./queue.js";

/** @typedef {{ position: number, first: string, second: string }} Trial */
/** @typedef {import("./queue.js").Answer} Answer */

// A press so soon after the options were painted was meant for the trial before.
const LOCK_OUT_MS = 150;
/** @type {Record<string, Answer["side"]>} */
const SIDE_OF_KEY = { 1: "first", 2: "second" };

/** @type {{ trials: Trial[], answered: number[] }} */
const session = JSON.parse(byId("session").textContent ?? "");
const answered = new Set(session.answered);
const toAnswer = session.trials.filter((trial) => !answered.has(trial.position));
const queue = new AnswerQueue("answers", onQueueState);

/** @type {{ trial: Trial, paintedMs: number } | undefined} The trial that can be answered now. */
let open;
let pointerType = "";

byId("start").addEventListener("click", () => {
  byId("instructions").hidden = true;
  byId("trial").hidden = false;
  showNext();
});
byId("options").addEventListener("pointerdown", (event) => {
  pointerType = event.pointerType;
});
for (const option of options()) {
  option.addEventListener("click", (event) => {
    choose(/** @type {Answer["side"]} */ (option.dataset.side), methodOf(event));
  });
}
document.addEventListener("keydown", (event) => {
  const side = SIDE_OF_KEY[event.key];
  if (!side || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
  choose(side, "key");
});
window.addEventListener("online", () => queue.wake());
window.addEventListener("beforeunload", (event) => {
  if (queue.length && queue.state !== "refused") event.preventDefault();
});

function showNext() {
  open = undefined;
  const trial = toAnswer[0];
  if (!trial) return leave();
  for (const option of options()) {
    const side = /** @type {Answer["side"]} */ (option.dataset.side);
    /** @type {HTMLElement} */ (option.querySelector(".sentence")).textContent = trial[side];
  }
  const total = session.trials.length;
  byId("bar").setAttribute("value", String(total - toAnswer.length));
  say("count", { position: trial.position, total });
  say("announcement", trial);
  // No option is preselected, and the next Tab leads to the first.
  byId("options").focus({ preventScroll: true });
  window.scrollTo(0, 0);
  afterPainting((paintedMs) => (open = { trial, paintedMs }));
}

/**
 * @param {Answer["side"]} side
 * @param {Answer["input_method"]} method
 */
function choose(side, method) {
  const rtMs = open ? performance.now() - open.paintedMs : 0;
  if (!open || rtMs < LOCK_OUT_MS) return;
  queue.add({
    uuid: newUuid(),
    position: open.trial.position,
    side,
    rt_ms: rtMs,
    input_method: method,
    client_time: new Date().toISOString(),
  });
  toAnswer.shift();
  showNext();
}

/** Waits until every answer is acknowledged; what comes next is then the server's to say. */
function leave() {
  byId("trial").hidden = true;
  byId("leaving").hidden = false;
  byId("leaving").querySelector("h1")?.focus();
  if (queue.state === "saved") location.reload();
}

/** @param {import("./queue.js").State} state */
function onQueueState(state) {
  for (const notice of document.querySelectorAll("[data-queue]")) {
    /** @type {HTMLElement} */ (notice).hidden = notice.getAttribute("data-queue") !== state;
  }
  const finished = toAnswer.length === 0;
  if (state === "saved" && finished) location.reload();
  if (state === "refused") {
    open = undefined;
    byId("trial").hidden = true;
    byId("leaving").hidden = true;
  }
}

/**
 * Calls back when what the page shows now has been painted: the first frame callback comes before
 * the painting, the second after it.
 * @param {(paintedMs: number) => void} callback
 */
function afterPainting(callback) {
  requestAnimationFrame(() => requestAnimationFrame(() => callback(performance.now())));
}

/**
 * A click that no press of a pointer caused counts zero presses: it came from the keyboard.
 * @param {MouseEvent} event
 * @returns {Answer["input_method"]}
 */
function methodOf(event) {
  if (event.detail === 0) return "key";
  return pointerType === "touch" ? "touch" : "pointer";
}

/** A random UUID (version 4); crypto.randomUUID is missing on pages without https. */
function newUuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * Fills the text that an element's template holds.
 * @param {string} id
 * @param {Record<string, string | number>} values
 */
function say(id, values) {
  const text = byId(id).dataset.text ?? "";
  byId(id).textContent = text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** @returns {NodeListOf<HTMLElement>} */
function options() {
  return document.querySelectorAll("#options [data-side]");
}

/** @param {string} id */
function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element "${id}"`);
  return found;
}
