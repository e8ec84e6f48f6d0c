// @ts-check
/** Shows one trial: paints its texts, announces them, and times the choice. */

import { Deadline } from "./deadline.js";
import { OnsetClock } from "./onset.js";
import { setTextWithPictures, toSpokenText, removePictures } from "./pictures.js";
import { Presses, waitForRelease } from "./presses.js";
import { TrialConditions } from "./trial_conditions.js";

/** @typedef {import("./trial_sequence.js").Trial} Trial */
/** @typedef {import("./answer_queue.js").Answer} Answer */
/** @typedef {import("./presses.js").Press} Press */
/**
 * The exports of a response type's script: the answer of a pressed button, and whether a trial offers
 * that button.
 * @typedef {object} ResponseScript
 * @property {(option: HTMLElement) => { side?: string, rating?: number }} answer
 * @property {(option: HTMLElement, trial: Trial) => boolean} offered
 * @property {(option: HTMLElement) => boolean} [completes] Handles a press, and returns whether it
 *   answers the trial; without this function every press does.
 * @property {(onsetMs: number) => void} [painted] Called when a trial's texts have been painted.
 * @property {() => void} [shown] Called when a trial is shown, before its texts are painted.
 * @property {() => void} [closed] Called when a trial accepts no answers any more.
 * @property {boolean} [keyless] Whether no option is chosen by a key of its own.
 * @property {(place: HTMLElement) => NodeListOf<HTMLElement>} [meant] Returns the buttons that keys
 *   select now, if these are not all buttons.
 * @property {(tools: Tools) => View} [view] Makes the view of its trials, if not ``TrialView``.
 * @property {(session: any, fetchScript: (url: string) => Promise<ResponseScript | undefined>) =>
 *   Promise<void>} [prepare] Loads what it needs before the first trial.
 */
/**
 * Shows trials.
 * @typedef {object} View
 * @property {Trial | undefined} trial The shown trial; undefined once it is answered.
 * @property {boolean} late Whether the last answer came after the deadline.
 * @property {(trial: Trial) => void} show
 * @property {() => void} close Stops accepting presses.
 * @property {(option: HTMLElement, press: Press, code?: string) => void} [choose] Takes a press that
 *   the page's own listeners do not see.
 */
/**
 * What the page passes to a view: the parameters of ``TrialView``, and classes to use.
 * @typedef {object} Tools
 * @property {HTMLElement} place
 * @property {import("./response_keys.js").ResponseKeys} keys
 * @property {{ lockout_ms: number, gap_ms?: number, deadline_ms?: number | null }} settings
 * @property {(trial: Trial, choice: Choice, lateMeasures: LateMeasures | undefined) => void} onChoice
 * @property {AbortSignal} signal
 * @property {typeof OnsetClock} OnsetClock
 * @property {typeof Presses} Presses
 * @property {typeof Deadline} Deadline
 * @property {typeof TrialConditions} TrialConditions
 * @property {typeof makeTrialView} makeTrialView
 * @property {typeof setTextWithPictures} setTextWithPictures
 */
/** @typedef {Omit<Answer, "uuid" | "position" | "client_time" | "times_shown" | "seen_before_ms" |
 *   keyof ReturnType<import("./trial_conditions.js").DisplayMonitor["endTrial"]>>} Choice */

/**
 * Measures that follow the choice: when the press ended.
 * @typedef {Promise<{ release_ms: number | null }>} LateMeasures
 */

const DAY_MS = 86_400_000;
// A participant who goes on to the next trial does not hold a key for longer.
const LONGEST_HOLD_MS = 400;

/**
 * Returns the view for the trials of a response type.
 * @param {ResponseScript} responseScript
 * @param {Omit<Tools, "OnsetClock" | "Presses" | "Deadline" | "TrialConditions" | "makeTrialView" | "setTextWithPictures">} tools
 * @returns {View}
 */
export function makeTrialView(responseScript, tools) {
  if (responseScript.view) {
    const shared = { OnsetClock, Presses, Deadline, TrialConditions, makeTrialView, setTextWithPictures };
    return responseScript.view({ ...tools, ...shared });
  }
  const { place, keys, settings, onChoice, signal } = tools;
  return new TrialView(place, keys, settings, responseScript, onChoice, signal);
}

export class TrialView {
  /** @type {Trial | undefined} The shown trial, until it is answered. */
  #trial;
  #conditions;
  #clock;
  #deadline;
  #presses;
  #place;
  #keys;
  #settings;
  #responseScript;
  #onChoice;
  #signal;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #gapTimer;

  /**
   * @param {HTMLElement} place The trial element; contains elements with data-field and data-side.
   * @param {import("./response_keys.js").ResponseKeys} keys
   * @param {Tools["settings"]} settings The study's settings.
   * @param {ResponseScript} responseScript The script of the study's response type.
   * @param {(trial: Trial, choice: Choice, lateMeasures: LateMeasures | undefined) => void} onChoice
   * @param {AbortSignal} signal Aborted when the page is left.
   */
  constructor(place, keys, settings, responseScript, onChoice, signal) {
    this.#place = place;
    this.#keys = keys;
    this.#settings = settings;
    this.#responseScript = responseScript;
    this.#onChoice = onChoice;
    this.#signal = signal;
    this.#conditions = new TrialConditions(place, signal);
    this.#clock = new OnsetClock(signal);
    this.#deadline = new Deadline(place, settings.deadline_ms);
    this.#presses = new Presses(place, signal, (option, press) => this.choose(option, press));
    this.#listen();
  }

  /** The shown trial; undefined once it is answered. */
  get trial() {
    return this.#trial;
  }

  /** Whether the last answer came after the deadline. */
  get late() {
    return this.#deadline.late;
  }

  /**
   * Shows a trial after the study's gap between trials.
   * @param {Trial} trial
   */
  show(trial) {
    this.#trial = trial;
    this.#conditions.reset();
    this.#clock.stop();
    this.#deadline.reset();
    clearTimeout(this.#gapTimer);
    this.#place.classList.remove("pointed");
    for (const option of this.#findAll("[data-side]")) {
      option.classList.remove("chosen", "expected");
      option.removeAttribute("aria-pressed");
      option.hidden = !this.#responseScript.offered(option, trial);
    }
    this.#focusOptions();
    if (this.#responseScript.keyless) for (const keys of this.#findAll(".keys")) keys.hidden = true;
    window.scrollTo(0, 0);
    const { gap_ms = 0 } = this.#settings;
    this.#place.classList.toggle("between", gap_ms > 0);
    if (gap_ms > 0) this.#gapTimer = setTimeout(() => this.#showTexts(trial), gap_ms);
    else this.#showTexts(trial);
    this.#responseScript.shown?.();
  }

  /** Focuses the group of options: none is preselected, and the next Tab reaches the first one. */
  #focusOptions() {
    this.#findAll("[role=group]")[0]?.focus({ preventScroll: true });
  }

  /** Stops accepting choices. */
  close() {
    clearTimeout(this.#gapTimer);
    this.#trial = undefined;
    this.#clock.stop();
    this.#deadline.stop();
    this.#responseScript.closed?.();
  }

  /** @param {Trial} trial */
  #showTexts(trial) {
    this.#place.classList.remove("between");
    // Browsers remove the focus from elements hidden during the gap.
    if (document.activeElement === document.body) this.#focusOptions();
    /** @type {HTMLElement[]} */
    const texts = [];
    for (const field of this.#findAll("[data-field]")) {
      // Browsers report presentation times of new elements only.
      const text = document.createElement("span");
      // Each text has the direction of its own letters, also in a page of the other direction.
      text.dir = "auto";
      const pictures = setTextWithPictures(text, String(trial[field.dataset.field ?? ""] ?? ""));
      texts.push(text, ...pictures);
      // A picture comes last and does not begin a sentence: no gap follows it.
      field.classList.toggle("pictured", pictures.length > 0);
      field.replaceChildren(text);
    }
    this.#presses.reset();
    this.#clock.watch(texts, () => {
      if (this.#trial !== trial) return;
      this.#checkDisplay(trial);
      this.#announce(trial);
      this.#deadline.startTimer(this.#clock.onset.ms);
      this.#responseScript.painted?.(this.#clock.onset.ms);
    });
  }

  /** @param {Trial} trial */
  #checkDisplay(trial) {
    for (const field of this.#findAll("[data-field]")) {
      const sent = String(trial[field.dataset.field ?? ""] ?? "");
      this.#conditions.checkText(field, removePictures(sent));
    }
    for (const option of this.#findAll("[data-side]:not([hidden])")) this.#conditions.checkPlacement(option);
    this.#conditions.checkPage(this.#findAll("[data-field] *"));
  }

  /**
   * Announces the trial to screen readers, after painting: they read changes in an existing region.
   * @param {Trial} trial
   */
  #announce(trial) {
    const { on, keys } = this.#keys;
    const labels = Object.fromEntries(keys.map((key, index) => [`key${index + 1}`, on ? `${key}: ` : ""]));
    for (const announcement of this.#findAll("[data-announce]")) {
      announcement.textContent = fillTemplate(announcement.dataset.announce ?? "", { ...trial, ...labels });
    }
  }

  #listen() {
    const listening = { signal: this.#signal };
    for (const option of this.#findAll("[data-side]")) {
      option.addEventListener("click", (event) => {
        this.choose(option, this.#presses.fromClick(event));
      });
    }
    const onKey = (/** @type {KeyboardEvent} */ event) => {
      if (!this.#keys.on || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.target instanceof Element && event.target.closest("input, textarea, select")) return;
      const meant = this.#responseScript.meant?.(this.#place) ?? this.#findAll("[data-side]");
      const option = meant[this.#keys.findOption(event)];
      if (!option || option.hidden) return;
      const { timeStamp: downMs, isTrusted: trusted } = event;
      this.choose(option, { downMs, upMs: null, method: "key", trusted }, event.code);
    };
    const onMove = (/** @type {PointerEvent} */ event) => {
      // Without movement, the pointer only happens to be over an option of the new trial.
      if (event.movementX || event.movementY) this.#place.classList.add("pointed");
    };
    document.addEventListener("keydown", onKey, listening);
    this.#place.addEventListener("pointermove", onMove, listening);
  }

  /**
   * Takes a press of an option; one that comes too early, or completes nothing, answers nothing.
   * @param {HTMLElement} option
   * @param {Press} press
   * @param {string} [code] The code of the key that is still down.
   */
  choose(option, press, code) {
    const trial = this.#trial;
    if (!trial) return;
    const onset = this.#clock.onset;
    this.#checkDisplay(trial);
    const rtMs = press.downMs - onset.ms;
    const reason = Presses.whyEarly(rtMs, this.#settings.lockout_ms);
    this.#presses.showRefusal(Boolean(reason));
    if (reason) return this.#conditions.recordPremature(reason, rtMs, press.method);
    if (this.#responseScript.completes?.(option) === false) return;
    const sincePainting = (/** @type {number} */ ms) => Math.min(ms - onset.ms, DAY_MS);
    const choice = {
      ...this.#responseScript.answer(option),
      // After a day the participant was away: the time means nothing.
      rt_ms: rtMs < DAY_MS ? rtMs : null,
      release_ms: press.upMs === null ? null : sincePainting(press.upMs),
      input_method: press.method,
      onset_source: onset.source,
      onset_uncertainty_ms: onset.uncertaintyMs,
      trusted: press.trusted,
      ...this.#presses.pointerData,
      // The pointer may have stopped between drawing and painting; for keys there is no movement.
      ...(press.stoppedMs != null && {
        pointer_stopped_ms: Math.floor(Math.max(0, sincePainting(press.stoppedMs))),
      }),
      ...this.#conditions.fields,
    };
    this.#deadline.recordAnswer(rtMs);
    this.close();
    option.classList.add("chosen");
    const lateMeasures = code
      ? waitForRelease(code, LONGEST_HOLD_MS).then((upMs) => ({
          release_ms: upMs === null ? null : sincePainting(upMs),
        }))
      : undefined;
    this.#onChoice(trial, choice, lateMeasures);
  }

  /**
   * @param {string} selector
   * @returns {NodeListOf<HTMLElement>}
   */
  #findAll(selector) {
    return this.#place.querySelectorAll(selector);
  }
}

/**
 * Replaces names in braces in a text by their values.
 * @param {string} text
 * @param {Record<string, string | number>} values
 */
export function fillTemplate(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => toSpokenText(String(values[name] ?? "")));
}
