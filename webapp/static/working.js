// @ts-check
/** The working page: instructions, practice, one trial after the other, each answer sent at once. */

import { deviceFacts, refusesDevice } from "./device.js";
import { Display } from "./display.js";
import { bringFont } from "./font.js";
import { openKeys } from "./key_choice.js";
import { Keys } from "./keys.js";
import { isLasting, recallSession, updateSession } from "./memory.js";
import { asked, entitle, goTo, show } from "./navigation.js";
import { AnswerQueue } from "./queue.js";
import { Sequence } from "./sequence.js";
import { server } from "./server.js";
import { openStore } from "./store.js";
import { fill, viewOf } from "./trial.js";

/** @typedef {import("./sequence.js").Trial} Trial */
/** @typedef {import("./trial.js").Choice} Choice */

/**
 * What the page knows of the session.
 * @typedef {object} Session
 * @property {Trial[]} trials
 * @property {number[]} answered
 * @property {(Trial & { correct: string, feedback: string })[]} practice
 * @property {string[]} keys
 * @property {string} script The address of the script of its type of response.
 * @property {number} lockout_ms
 * @property {number} gap_ms
 * @property {number | null} deadline_ms
 * @property {number[]} pauses
 * @property {boolean} device_known
 * @property {boolean} preview
 */

// A quick answer's way to the server is not worth a word.
const QUIETLY_MS = 600;
// How long another window may take to send what it has, before this one asks for it again.
const LOOK_AGAIN_MS = 1_000;
const LOOKS = 10;
// How long the page waits before it tells of the device again: ever longer.
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;

/**
 * Opens the working page.
 * @param {AbortSignal} signal Aborted when the page is left.
 */
export async function openWorking(signal) {
  if (refusesDevice()) {
    byId("instructions").hidden = true;
    return;
  }
  const session = JSON.parse(byId("session").textContent ?? "");
  const reads = await fetchedScript(session.script, signal);
  await reads?.prepare?.(session, (url) => fetchedScript(url, signal));
  if (reads && !reads.view) requireAnswers(session.keys.length);
  if (reads && !signal.aborted) new WorkingPage(session, reads, signal);
}

/**
 * Fetches the script of the study's type of response, again and again where that fails.
 * @param {string} url
 * @param {AbortSignal} signal
 * @returns {Promise<import("./trial.js").ReadsAnswers | undefined>} Nothing where the page is left.
 */
async function fetchedScript(url, signal) {
  const trouble = document.getElementById("trouble");
  let waitMs = FIRST_WAIT_MS;
  let number = 0;
  while (!signal.aborted) {
    try {
      // A browser remembers that a module did not come: each try has an address of its own, and
      // begins only when the server has given out what is there.
      const at = number ? url.replace(/\/([^/]+)$/, `.${number}/$1`) : url;
      if (number && !(await server.fetch(at)).ok) throw new Error(at);
      number += 1;
      const found = await server.load(at);
      if (trouble) trouble.hidden = true;
      return signal.aborted ? undefined : found;
    } catch {
      if (trouble) trouble.hidden = false;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    }
  }
  return undefined;
}

/**
 * Makes sure that nothing has taken an answer or the texts out of the page: without one of its
 * answers a trial would ask another question.
 * @param {number} n How many answers a trial has, at most.
 */
function requireAnswers(n) {
  const trial = byId("trial");
  const isWhole = trial.querySelectorAll("[data-side]").length >= n && trial.querySelector("[data-field]");
  if (!isWhole) throw new Error("Some of the trial's answers or texts are missing from the page.");
}

class WorkingPage {
  #session;
  #signal;
  #sequence;
  #view;
  #display;
  #tabs;
  #practised;
  #ended = false;
  #deviceKnown;
  #tellAgainMs = FIRST_WAIT_MS;
  #here = new URL(server.here).pathname;
  /** @type {{ position: number, atMs: number, times: number, ms: number } | undefined} */
  #shown;
  /** @type {AnswerQueue | undefined} */
  #queue;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #indication;

  /**
   * @param {Session} session
   * @param {import("./trial.js").ReadsAnswers} reads What its type of response answers.
   * @param {AbortSignal} signal Aborted when the page is left.
   */
  constructor(session, reads, signal) {
    this.#session = session;
    this.#signal = signal;
    const remembered = recallSession(this.#here);
    const answered = [...session.answered, ...(session.preview ? [] : (remembered.answered ?? []))];
    this.#sequence = new Sequence(session.trials, answered, session.pauses);
    this.#practised = answered.length > 0 ? session.practice.length : 0;
    this.#deviceKnown = session.preview || Boolean(remembered.device_told);
    const keys = new Keys(session.keys);
    openKeys(byId("trial"), keys, signal);
    const onChoice = (/** @type {Parameters<WorkingPage["_onChoice"]>} */ ...choice) =>
      this._onChoice(...choice);
    this.#view = viewOf(reads, { place: byId("trial"), keys, settings: session, onChoice, signal });
    this.#display = new Display(signal);
    this.#tabs = globalThis.BroadcastChannel && new BroadcastChannel(`parallax ${this.#here}`);
    this.#listen(this.#begin());
    // Whoever opens a session that another browser began is told so, and asked.
    const begunElsewhere = session.device_known && !session.preview && !remembered.mark;
    if (begunElsewhere && isLasting()) this.#showOnly("other-device");
    else if (!this.#deviceKnown) void this.#tellDevice();
  }

  async #begin() {
    const store = await openStore(this.#here);
    this.#queue = new AnswerQueue(new URL("answers", server.here).href, store, {
      onState: (state) => this.#onState(state),
      onSaved: (...saved) => this.#onSaved(...saved),
    });
    this.#sequence.settle(await this.#queue.restore());
    const { trials, practice } = this.#session;
    await bringFont(byId("trial"), [...new Set(JSON.stringify([trials, practice]))].join(""));
  }

  /** @param {Promise<void>} ready Resolves when what an earlier page left unsent is known. */
  #listen(ready) {
    const listening = { signal: this.#signal };
    for (const button of document.querySelectorAll("[data-go-on]")) {
      button.addEventListener("click", () => ready.then(() => this.#goOn()), listening);
      /** @type {HTMLButtonElement} */ (button).disabled = false;
    }
    this.#tabs?.addEventListener("message", (event) => this.#settle([event.data]), listening);
    this.#signal.addEventListener("abort", () => this.#tabs?.close());
    window.addEventListener("online", () => this.#queue?.wake(), listening);
    const onHidden = () => {
      this.#noteShowing();
      this.#queue?.handOver();
    };
    window.addEventListener("pagehide", onHidden, listening);
    byId("go-on-here").addEventListener("click", () => {
      void this.#tellDevice();
      this.#showOnly("instructions");
    });
    const onVisibility = () => {
      if (document.hidden) return onHidden();
      this.#queue?.wake();
      void this.#catchUp();
    };
    document.addEventListener("visibilitychange", onVisibility, listening);
    const onLeaving = (/** @type {Event} */ event) => {
      if (this.#queue?.length && this.#queue.state !== "refused") event.preventDefault();
    };
    window.addEventListener("beforeunload", onLeaving, listening);
  }

  /** Shows what comes next: a practice trial, a trial, or the end. */
  #goOn() {
    const practice = this.#session.practice[this.#practised];
    const { length } = this.#session.practice;
    if (practice) {
      this.#present(practice, "practice", this.#practised + 1, length);
      return this.#progress(this.#practised, length);
    }
    const trial = this.#sequence.next;
    if (!trial) return this.#leave();
    const pause = this.#sequence.takePause();
    if (pause) return this.#takeBreak(pause);
    this.#present(trial, "count", trial.position, this.#sequence.total);
    this.#progress(this.#sequence.total - this.#sequence.remaining, this.#sequence.total);
    this.#beginShowing(trial.position);
  }

  /**
   * @param {Trial} trial
   * @param {"practice" | "count"} label Which words say where in the sequence it stands.
   * @param {number} position
   * @param {number} total
   */
  #present(trial, label, position, total) {
    byId("feedback").hidden = true;
    this.#showOnly("trial");
    byId("count").textContent = fill(byId("count").dataset[label] ?? "", { position, total });
    this.#display.begin();
    this.#view.show(trial);
  }

  /**
   * @param {number} done
   * @param {number} total
   */
  #progress(done, total) {
    byId("bar").setAttribute("max", String(total));
    byId("bar").setAttribute("value", String(done));
  }

  /**
   * Remembers that a trial is on the screen, so that one seen before a reload is known as such.
   * @param {number} position
   */
  #beginShowing(position) {
    if (this.#session.preview) return;
    const { times, ms } = recallSession(this.#here).shown?.[position] ?? { times: 0, ms: 0 };
    this.#shown = { position, atMs: performance.now(), times: times + 1, ms };
    this.#noteShowing();
  }

  #noteShowing() {
    if (!this.#shown) return;
    const { position, atMs, times, ms } = this.#shown;
    const seen = { times, ms: Math.round(ms + performance.now() - atMs) };
    updateSession(this.#here, (remembered) => {
      remembered.shown = { [position]: seen };
    });
  }

  /**
   * @param {Trial} trial
   * @param {Choice} choice
   * @param {import("./trial.js").Afterwards} [afterwards]
   */
  _onChoice(trial, choice, afterwards) {
    const practice = this.#session.practice[this.#practised];
    if (trial === practice) return this.#comment(practice, choice);
    this.#sequence.settle([trial.position]);
    if (!this.#session.preview) {
      const { times, ms } = this.#shown ?? { times: 1, ms: 0 };
      const answer = {
        uuid: newUuid(),
        position: trial.position,
        ...choice,
        ...this.#display.end(),
        times_shown: times,
        seen_before_ms: ms,
        client_time: new Date().toISOString(),
      };
      this.#shown = undefined;
      this.#queue?.add(answer, afterwards);
      this.#tabs?.postMessage(trial.position);
    }
    this.#goOn();
  }

  /**
   * Says whether a practice trial was answered as expected.
   * @param {Session["practice"][number]} trial
   * @param {Choice} choice
   */
  #comment(trial, choice) {
    this.#practised += 1;
    const words = byId("verdict").dataset;
    for (const option of document.querySelectorAll("[data-side]")) {
      const side = /** @type {HTMLElement} */ (option).dataset.side;
      option.classList.toggle("expected", Boolean(trial.correct) && side === trial.correct);
    }
    const late = this.#view.late ? words.late : "";
    const said = [this.#verdict(trial, choice), late, trial.feedback].filter(Boolean).join(" ");
    // Some types have no answer that is right, and a page that only stops says nothing.
    byId("verdict").textContent = said || (words.taken ?? "");
    byId("feedback").hidden = false;
    byId("feedback").querySelector("button")?.focus();
    this.#progress(this.#practised, this.#session.practice.length);
    byId("practised").hidden = this.#practised < this.#session.practice.length;
  }

  /**
   * Returns in words what the colours of the options say.
   * @param {Session["practice"][number]} trial
   * @param {Choice} choice
   */
  #verdict(trial, choice) {
    const { right, wrong, which } = byId("verdict").dataset;
    if (!trial.correct) return "";
    if (choice.side === trial.correct) return right;
    // Of several options, the other one is not known without its text.
    const offered = [...byId("trial").querySelectorAll("[data-side]")]
      .map((option) => /** @type {HTMLElement} */ (option))
      .filter((option) => !option.closest("[hidden]"));
    const expected = offered.find(({ dataset }) => dataset.side === trial.correct);
    const text = expected?.querySelector(".sentence")?.textContent;
    return offered.length > 2 && text ? fill(which ?? "", { answer: text }) : wrong;
  }

  /**
   * Shows the page that comes before a trial: the study's own, or a break.
   * @param {number} position
   */
  #takeBreak(position) {
    const { total, remaining } = this.#sequence;
    const done = total - remaining;
    byId("so-far").textContent = fill(byId("so-far").dataset.text ?? "", { done, total });
    const own = `before-${position}`;
    this.#showOnly(document.getElementById(own) ? own : "break");
  }

  /** Waits until every answer is acknowledged; what comes next is then the server's to say. */
  #leave() {
    if (this.#session.preview) return this.#showOnly("preview-over");
    this.#showOnly("leaving");
    this.#sayWhatIsUnsaved();
    if (this.#queue?.state === "saved") void this.#awaitOthers();
  }

  /** Waits for answers that another window of this session still has to send. */
  async #awaitOthers() {
    for (let look = 0; look < LOOKS && !this.#signal.aborted; ) {
      if (await this.#catchUp()) look += 1;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
    // That window is gone, and what it had with it: the server asks for those trials again.
    this.#end();
  }

  #sayWhatIsUnsaved() {
    const text = byId("unsaved").dataset.text ?? "";
    byId("unsaved").textContent = fill(text, { n: this.#queue?.length ?? 0 });
  }

  /** @param {import("./queue.js").State} state */
  #onState(state) {
    if (this.#signal.aborted) return;
    byId("offline").hidden = state !== "offline";
    byId("refused").hidden = state !== "refused";
    clearTimeout(this.#indication);
    const indicator = byId("indicator");
    indicator.dataset.state = state;
    const indicate = () => (indicator.textContent = indicator.dataset[state] ?? "");
    if (state === "saving") this.#indication = setTimeout(indicate, QUIETLY_MS);
    else indicate();
    if (state === "refused") this.#showOnly();
    if (state === "saved" && !this.#sequence.next && !this.#ended) void this.#awaitOthers();
  }

  /**
   * @param {number} remaining
   * @param {number} position
   */
  #onSaved(remaining, position) {
    // A page that the browser keeps for a dead server may know less than this.
    updateSession(this.#here, (remembered) => {
      remembered.answered = [...new Set([...(remembered.answered ?? []), position])];
    });
    if (this.#signal.aborted) return;
    if (remaining === 0) return this.#end();
    this.#sayWhatIsUnsaved();
    // Fewer trials are left than this page knows of: another device goes on with the session.
    if (!this.#queue?.length && remaining < this.#sequence.remaining) void this.#catchUp();
  }

  /** Goes on to the page that the server shows now. */
  #end() {
    if (this.#ended || this.#signal.aborted) return;
    this.#ended = true;
    void goTo(server.here);
  }

  /**
   * Asks the server what is answered, which another device may have done meanwhile.
   * @returns {Promise<boolean>} Whether it replied.
   */
  async #catchUp() {
    if (this.#session.preview || this.#ended) return false;
    // Without a reply of the server's this page's own knowledge is the best there is.
    const found = await asked(server.here);
    if (!found || this.#signal.aborted || this.#ended) return false;
    const session = found.page.getElementById("session");
    if (session) this.#settle(JSON.parse(session.textContent ?? "").answered);
    else if (!this.#queue?.length) {
      this.#ended = true;
      show(found);
    }
    return true;
  }

  /**
   * Takes trials for answered, and leaves the one on the screen if it is among them.
   * @param {number[]} positions
   */
  #settle(positions) {
    this.#sequence.settle(positions);
    const shown = this.#view.trial;
    if (!shown || shown === this.#session.practice[this.#practised]) return;
    if (positions.includes(shown.position)) this.#goOn();
  }

  /** Tells the server of this browser, under a mark that it has for this session alone. */
  async #tellDevice() {
    if (this.#session.preview || this.#deviceKnown) return;
    this.#deviceKnown = true;
    let mark = isLasting() ? newUuid().replaceAll("-", "") : "";
    // Remembered before it is sent: a page that goes before the reply is still the same browser's.
    if (mark) updateSession(this.#here, (remembered) => (mark = remembered.mark ??= mark));
    const url = new URL("device", server.here).href;
    try {
      const body = JSON.stringify({ mark, ...(await deviceFacts()) });
      const headers = { "Content-Type": "application/json" };
      const response = await server.fetch(url, { method: "POST", headers, body, keepalive: true });
      // Only the server's own words count; what it refuses, it refuses again.
      const { saved, error } = await response.json();
      this.#deviceKnown = Boolean(saved || (error && response.status < 500));
      if (!saved || !mark) return;
      updateSession(this.#here, (remembered) => {
        remembered.device_told = true;
      });
    } catch {
      this.#deviceKnown = false;
    } finally {
      if (!this.#deviceKnown) this.#tellAgain();
    }
  }

  #tellAgain() {
    const again = () => this.#signal.aborted || void this.#tellDevice();
    setTimeout(again, this.#tellAgainMs * (0.75 + Math.random() / 2));
    this.#tellAgainMs = Math.min(this.#tellAgainMs * 2, LONGEST_WAIT_MS);
  }

  /**
   * Shows one of the page's sections, or none, and leads the reader to its beginning.
   * @param {string} [id]
   */
  #showOnly(id) {
    if (id !== "trial") this.#view.close();
    for (const section of document.querySelectorAll("main > section")) {
      /** @type {HTMLElement} */ (section).hidden = section.id !== id;
    }
    /** @type {HTMLElement | null} */
    const beginning = id && id !== "trial" ? byId(id).querySelector("h1, .text") : null;
    if (beginning && !beginning.hasAttribute("tabindex")) beginning.tabIndex = -1;
    beginning?.focus();
    entitle();
  }
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
 * An element of the page. A content blocker may have taken out what looks like an advertisement or
 * a counter to it; the session goes on without.
 * @param {string} id
 */
function byId(id) {
  return document.getElementById(id) ?? document.createElement("div");
}
