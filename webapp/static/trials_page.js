// @ts-check
/** The page of the trials: instructions, practice, and trials, with each answer sent at once. */

import { collectDeviceFacts, rejectDevice } from "./device.js";
import { DisplayMonitor } from "./trial_conditions.js";
import { loadFont } from "./font.js";
import { openKeySettings } from "./key_settings.js";
import { ResponseKeys } from "./response_keys.js";
import { isPersistent, loadSession, updateSession } from "./browser_storage.js";
import { fetchPage, updateTitle, goTo, showPage, showUnsent } from "./navigation.js";
import { AnswerQueue } from "./answer_queue.js";
import { TrialSequence } from "./trial_sequence.js";
import { server } from "./server.js";
import { openUnsentAnswers } from "./unsent_answers.js";
import { fillTemplate, makeTrialView } from "./trial_view.js";

/** @typedef {import("./trial_sequence.js").Trial} Trial */
/** @typedef {import("./trial_view.js").Choice} Choice */

/**
 * The session's data in the page.
 * @typedef {object} Session
 * @property {Trial[]} trials
 * @property {number[]} answered
 * @property {(Trial & { correct: string, feedback: string, answer?: string })[]} practice
 * @property {string[]} keys
 * @property {string} script The URL of the response type's script.
 * @property {number} lockout_ms
 * @property {number} gap_ms
 * @property {number | null} deadline_ms
 * @property {number[]} pauses
 * @property {boolean} device_known
 * @property {boolean} preview
 */

// The saving notice appears only if sending takes longer than this.
const SAVING_NOTICE_AFTER_MS = 600;
// How long to wait for the unsent answers of another window before asking for these trials again.
const SYNC_INTERVAL_MS = 1_000;
const MAX_SYNCS = 10;
// Waiting times between attempts to send the device facts, increasing.
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;

/**
 * Opens the page of the trials.
 * @param {AbortSignal} signal Aborted when the page is left.
 */
export async function openTrialsPage(signal) {
  if (rejectDevice()) {
    findElement("instructions").hidden = true;
    return;
  }
  const session = JSON.parse(findElement("session").textContent ?? "");
  const responseScript = await fetchResponseScript(session.script, signal);
  await responseScript?.prepare?.(session, (url) => fetchResponseScript(url, signal));
  if (responseScript) requireWaysOn();
  if (responseScript && !responseScript.view) requireAnswers(session.keys.length);
  if (responseScript && !signal.aborted) new TrialsPage(session, responseScript, signal);
}

/**
 * Loads the script of the study's response type, with retries.
 * @param {string} url
 * @param {AbortSignal} signal
 * @returns {Promise<import("./trial_view.js").ResponseScript | undefined>} Undefined if the page is left.
 */
async function fetchResponseScript(url, signal) {
  const trouble = document.getElementById("trouble");
  let waitMs = FIRST_WAIT_MS;
  let number = 0;
  while (!signal.aborted) {
    try {
      // Browsers cache the failure of a module: each attempt uses another URL, and
      // imports it only after the server has sent it.
      const at = number ? url.replace(/\/([^/]+)$/, `.${number}/$1`) : url;
      if (number && !(await server.fetch(at)).ok) throw new Error(at);
      number += 1;
      const loaded = await server.load(at);
      if (trouble) trouble.hidden = true;
      return signal.aborted ? undefined : loaded;
    } catch {
      if (trouble) trouble.hidden = false;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    }
  }
  return undefined;
}

/**
 * Checks that no options or texts are missing from the page: without one of its options a trial
 * would ask another question.
 * @param {number} n The largest number of options of a trial.
 */
function requireAnswers(n) {
  const trial = findElement("trial");
  const isWhole = trial.querySelectorAll("[data-side]").length >= n && trial.querySelector("[data-field]");
  if (!isWhole) throw new Error("Some of the trial's answers or texts are missing from the page.");
}

/** Checks that none of the parts is missing whose button leads on: without it the page would stay empty. */
function requireWaysOn() {
  const missing = ["instructions", "other-device", "go-on-here", "feedback", "break"].filter((id) => !document.getElementById(id));
  if (missing.length) throw new Error(`Parts that lead on are missing from the page: ${missing.join(", ")}.`);
}

class TrialsPage {
  #session;
  #signal;
  #sequence;
  #view;
  #display;
  #tabs;
  #practiceDone;
  #ended = false;
  #deviceKnown;
  #deviceRetryMs = FIRST_WAIT_MS;
  #sessionPath = new URL(server.currentUrl).pathname;
  /** @type {{ position: number, atMs: number, times: number, ms: number } | undefined} */
  #exposure;
  /** @type {AnswerQueue | undefined} */
  #queue;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #indication;

  /**
   * @param {Session} session
   * @param {import("./trial_view.js").ResponseScript} responseScript The script of its response type.
   * @param {AbortSignal} signal Aborted when the page is left.
   */
  constructor(session, responseScript, signal) {
    this.#session = session;
    this.#signal = signal;
    const remembered = loadSession(this.#sessionPath);
    const answered = [...session.answered, ...(session.preview ? [] : (remembered.answered ?? []))];
    this.#sequence = new TrialSequence(session.trials, answered, session.pauses);
    this.#practiceDone = answered.length > 0 ? session.practice.length : 0;
    this.#deviceKnown = session.preview || Boolean(remembered.device_told);
    const keys = new ResponseKeys(session.keys);
    openKeySettings(findElement("trial"), keys, signal);
    const onChoice = (/** @type {Parameters<TrialsPage["_onChoice"]>} */ ...choice) =>
      this._onChoice(...choice);
    this.#view = makeTrialView(responseScript, { place: findElement("trial"), keys, settings: session, onChoice, signal });
    this.#display = new DisplayMonitor(signal);
    this.#tabs = globalThis.BroadcastChannel && new BroadcastChannel(`parallax ${this.#sessionPath}`);
    this.#listen(this.#loadPage());
    // If another browser began the session, the participant is asked whether to continue here.
    const begunElsewhere = session.device_known && !session.preview && !remembered.mark;
    if (begunElsewhere && isPersistent()) this.#showSection("other-device");
    else if (!this.#deviceKnown) void this.#sendDevice();
  }

  async #loadPage() {
    const store = await openUnsentAnswers(this.#sessionPath);
    this.#queue = new AnswerQueue(new URL("answers", server.currentUrl).href, store, {
      onState: (state) => this.#onState(state),
      onSaved: (...saved) => this.#onSaved(...saved),
    });
    this.#sequence.markAnswered(await this.#queue.restore());
    const { trials, practice } = this.#session;
    await loadFont(findElement("trial"), [...new Set(JSON.stringify([trials, practice]))].join(""));
  }

  /** @param {Promise<void>} ready Resolves when the unsent answers of an earlier page are loaded. */
  #listen(ready) {
    const listening = { signal: this.#signal };
    for (const button of document.querySelectorAll("[data-go-on]")) {
      button.addEventListener("click", () => ready.then(() => this.#showNext()), listening);
      /** @type {HTMLButtonElement} */ (button).disabled = false;
    }
    this.#tabs?.addEventListener("message", (event) => this.#markAnswered([event.data]), listening);
    this.#signal.addEventListener("abort", () => this.#tabs?.close());
    window.addEventListener("online", () => this.#queue?.sendNow(), listening);
    const onHidden = () => {
      this.#saveExposure();
      this.#queue?.sendAllOnExit();
    };
    window.addEventListener("pagehide", onHidden, listening);
    findElement("go-on-here").addEventListener("click", () => {
      void this.#sendDevice();
      this.#showSection("instructions");
    });
    const onVisibility = () => {
      if (document.hidden) return onHidden();
      this.#queue?.sendNow();
      void this.#syncWithServer();
    };
    document.addEventListener("visibilitychange", onVisibility, listening);
    const onLeaving = (/** @type {Event} */ event) => {
      if (this.#queue?.length && this.#queue.state !== "refused") event.preventDefault();
    };
    window.addEventListener("beforeunload", onLeaving, listening);
  }

  /** Shows the next practice trial, trial, break, or the end. */
  #showNext() {
    const practice = this.#session.practice[this.#practiceDone];
    const { length } = this.#session.practice;
    if (practice) {
      this.#showTrial(practice, "practice", this.#practiceDone + 1, length);
      return this.#showProgress(this.#practiceDone, length);
    }
    const trial = this.#sequence.next;
    if (!trial) return this.#waitForSaving();
    const pause = this.#sequence.takeBreak();
    if (pause) return this.#showBreak(pause);
    this.#showTrial(trial, "count", trial.position, this.#sequence.total);
    this.#showProgress(this.#sequence.total - this.#sequence.remaining, this.#sequence.total);
    this.#startExposure(trial.position);
  }

  /**
   * @param {Trial} trial
   * @param {"practice" | "count"} label Selects the text that shows the trial's number.
   * @param {number} position
   * @param {number} total
   */
  #showTrial(trial, label, position, total) {
    findElement("feedback").hidden = true;
    this.#showSection("trial");
    findElement("count").textContent = fillTemplate(findElement("count").dataset[label] ?? "", { position, total });
    this.#display.startTrial();
    this.#view.show(trial);
    updateTitle();
  }

  /**
   * @param {number} done
   * @param {number} total
   */
  #showProgress(done, total) {
    findElement("bar").setAttribute("max", String(total));
    findElement("bar").setAttribute("value", String(done));
  }

  /**
   * Stores that a trial is shown, so that an exposure before a reload is counted.
   * @param {number} position
   */
  #startExposure(position) {
    if (this.#session.preview) return;
    const { times, ms } = loadSession(this.#sessionPath).shown?.[position] ?? { times: 0, ms: 0 };
    this.#exposure = { position, atMs: performance.now(), times: times + 1, ms };
    this.#saveExposure();
  }

  #saveExposure() {
    if (!this.#exposure) return;
    const { position, atMs, times, ms } = this.#exposure;
    const seen = { times, ms: Math.round(ms + performance.now() - atMs) };
    updateSession(this.#sessionPath, (remembered) => {
      remembered.shown = { [position]: seen };
    });
  }

  /**
   * @param {Trial} trial
   * @param {Choice} choice
   * @param {import("./trial_view.js").LateMeasures} [lateMeasures]
   */
  _onChoice(trial, choice, lateMeasures) {
    const practice = this.#session.practice[this.#practiceDone];
    if (trial === practice) return this.#showFeedback(practice, choice);
    this.#sequence.markAnswered([trial.position]);
    if (!this.#session.preview) {
      const { times, ms } = this.#exposure ?? { times: 1, ms: 0 };
      const answer = {
        uuid: newUuid(),
        position: trial.position,
        ...choice,
        ...this.#display.endTrial(),
        times_shown: times,
        seen_before_ms: ms,
        client_time: new Date().toISOString(),
      };
      this.#exposure = undefined;
      this.#queue?.add(answer, lateMeasures);
      this.#tabs?.postMessage(trial.position);
    }
    this.#showNext();
  }

  /**
   * Shows whether a practice trial was answered as expected.
   * @param {Session["practice"][number]} trial
   * @param {Choice} choice
   */
  #showFeedback(trial, choice) {
    this.#practiceDone += 1;
    const words = findElement("verdict").dataset;
    for (const option of document.querySelectorAll("[data-side]")) {
      const side = /** @type {HTMLElement} */ (option).dataset.side;
      option.classList.toggle("expected", Boolean(trial.correct) && side === trial.correct);
    }
    const late = this.#view.late ? words.late : "";
    const message = [this.#describeVerdict(trial, choice), late, trial.feedback].filter(Boolean).join(" ");
    // Some response types have no right answer; the page then confirms that it was recorded.
    findElement("verdict").textContent = message || (words.taken ?? "");
    findElement("feedback").hidden = false;
    findElement("feedback").querySelector("button")?.focus();
    this.#showProgress(this.#practiceDone, this.#session.practice.length);
    findElement("practised").hidden = this.#practiceDone < this.#session.practice.length;
  }

  /**
   * Returns in words what the colours of the options show.
   * @param {Session["practice"][number]} trial
   * @param {Choice} choice
   */
  #describeVerdict(trial, choice) {
    const { right, wrong, which } = findElement("verdict").dataset;
    if (!trial.correct) return "";
    if (choice.side === trial.correct) return right;
    if (trial.answer) return fillTemplate(which ?? "", { answer: trial.answer });
    // With several options, name the expected one by its text.
    const visibleOptions = [...findElement("trial").querySelectorAll("[data-side]")]
      .map((option) => /** @type {HTMLElement} */ (option))
      .filter((option) => !option.closest("[hidden]"));
    const expected = visibleOptions.find(({ dataset }) => dataset.side === trial.correct);
    const text = expected?.querySelector(".sentence")?.textContent;
    return visibleOptions.length > 2 && text ? fillTemplate(which ?? "", { answer: text }) : wrong;
  }

  /**
   * Shows the break before a trial: the study's own page, or the default one.
   * @param {number} position
   */
  #showBreak(position) {
    const { total, remaining } = this.#sequence;
    const done = total - remaining;
    findElement("so-far").textContent = fillTemplate(findElement("so-far").dataset.text ?? "", { done, total });
    const pageId = `before-${position}`;
    this.#showSection(document.getElementById(pageId) ? pageId : "break");
  }

  /** Waits until every answer is acknowledged; the server then decides the next page. */
  #waitForSaving() {
    if (this.#session.preview) return this.#showSection("preview-over");
    this.#showSection("leaving");
    this.#showUnsavedCount();
    if (this.#queue?.state === "saved") void this.#waitForOtherWindows();
  }

  /** Waits for the unsent answers of another window of this session. */
  async #waitForOtherWindows() {
    for (let syncs = 0; syncs < MAX_SYNCS && !this.#signal.aborted; ) {
      if (await this.#syncWithServer()) syncs += 1;
      await new Promise((resolve) => setTimeout(resolve, SYNC_INTERVAL_MS));
    }
    // The other window was closed with its answers: the server asks for those trials again.
    this.#goToNextPage();
  }

  #showUnsavedCount() {
    const text = findElement("unsaved").dataset.text ?? "";
    findElement("unsaved").textContent = fillTemplate(text, { n: this.#queue?.length ?? 0 });
  }

  /** @param {import("./answer_queue.js").State} state */
  #onState(state) {
    if (this.#signal.aborted) return;
    showUnsent(state === "offline");
    findElement("refused").hidden = state !== "refused";
    clearTimeout(this.#indication);
    const indicator = findElement("indicator");
    indicator.dataset.state = state;
    const indicate = () => (indicator.textContent = indicator.dataset[state] ?? "");
    if (state === "saving") this.#indication = setTimeout(indicate, SAVING_NOTICE_AFTER_MS);
    else indicate();
    if (state === "refused") this.#showSection();
    if (state === "saved" && !this.#sequence.next && !this.#ended) void this.#waitForOtherWindows();
  }

  /**
   * @param {number} remaining
   * @param {number} position
   */
  #onSaved(remaining, position) {
    // A page restored from the browser's cache may have older data than this.
    updateSession(this.#sessionPath, (remembered) => {
      remembered.answered = [...new Set([...(remembered.answered ?? []), position])];
    });
    if (this.#signal.aborted) return;
    if (remaining === 0) return this.#goToNextPage();
    this.#showUnsavedCount();
    // The server has more answers than this page: another device continues the session.
    if (!this.#queue?.length && remaining < this.#sequence.remaining) void this.#syncWithServer();
  }

  /** Loads the page that the server shows now. */
  #goToNextPage() {
    if (this.#ended || this.#signal.aborted) return;
    this.#ended = true;
    void goTo(server.currentUrl);
  }

  /**
   * Loads the answered positions from the server; another device may have added some.
   * @returns {Promise<boolean>} Whether the server replied.
   */
  async #syncWithServer() {
    if (this.#session.preview || this.#ended) return false;
    // Without a reply, this page continues with its own data.
    const loaded = await fetchPage(server.currentUrl);
    if (!loaded || this.#signal.aborted || this.#ended) return false;
    const session = loaded.page.getElementById("session");
    if (session) this.#markAnswered(JSON.parse(session.textContent ?? "").answered);
    else if (!this.#queue?.length) {
      this.#ended = true;
      showPage(loaded);
    }
    return true;
  }

  /**
   * Marks trials as answered, and leaves the shown trial if it is among them.
   * @param {number[]} positions
   */
  #markAnswered(positions) {
    this.#sequence.markAnswered(positions);
    const shown = this.#view.trial;
    if (!shown || shown === this.#session.practice[this.#practiceDone]) return;
    if (positions.includes(shown.position)) this.#showNext();
  }

  /** Sends the device facts to the server, with a random mark for this browser in this session. */
  async #sendDevice() {
    if (this.#session.preview || this.#deviceKnown) return;
    this.#deviceKnown = true;
    let mark = isPersistent() ? newUuid().replaceAll("-", "") : "";
    // Stored before sending, so that a page closed before the reply keeps the same mark.
    if (mark) updateSession(this.#sessionPath, (remembered) => (mark = remembered.mark ??= mark));
    const url = new URL("device", server.currentUrl).href;
    try {
      const body = JSON.stringify({ mark, ...(await collectDeviceFacts()) });
      const headers = { "Content-Type": "application/json" };
      const response = await server.fetch(url, { method: "POST", headers, body, keepalive: true });
      // Only the server's own reply counts; a refusal is final.
      const { saved, error } = await response.json();
      this.#deviceKnown = Boolean(saved || (error && response.status < 500));
      if (!saved || !mark) return;
      updateSession(this.#sessionPath, (remembered) => {
        remembered.device_told = true;
      });
    } catch {
      this.#deviceKnown = false;
    } finally {
      if (!this.#deviceKnown) this.#retrySendDevice();
    }
  }

  #retrySendDevice() {
    const retry = () => this.#signal.aborted || void this.#sendDevice();
    setTimeout(retry, this.#deviceRetryMs * (0.75 + Math.random() / 2));
    this.#deviceRetryMs = Math.min(this.#deviceRetryMs * 2, LONGEST_WAIT_MS);
  }

  /**
   * Shows one of the page's sections, or none, and focuses its beginning.
   * @param {string} [id]
   */
  #showSection(id) {
    if (id !== "trial") this.#view.close();
    for (const section of document.querySelectorAll("main > section")) {
      /** @type {HTMLElement} */ (section).hidden = section.id !== id;
    }
    /** @type {HTMLElement | null} */
    const beginning = id && id !== "trial" ? findElement(id).querySelector("h1, .text") : null;
    if (beginning && !beginning.hasAttribute("tabindex")) beginning.tabIndex = -1;
    beginning?.focus();
    updateTitle();
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
 * Returns an element of the page, or a detached one if a content blocker removed it as a supposed
 * advertisement or tracker; the session continues without it.
 * @param {string} id
 */
function findElement(id) {
  return document.getElementById(id) ?? document.createElement("div");
}
