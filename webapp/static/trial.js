// @ts-check
/** One trial on the screen: shown, announced, timed and chosen. */

import { Deadline } from "./deadline.js";
import { isOtherFont } from "./font.js";
import { OnsetClock } from "./onset.js";
import { lay, spoken, unpictured } from "./picture.js";
import { Presses, released } from "./presses.js";

/** @typedef {import("./sequence.js").Trial} Trial */
/** @typedef {import("./queue.js").Answer} Answer */
/** @typedef {import("./presses.js").Press} Press */
/**
 * What the script of a type of response exports: the answer that a button of the trial gives, and
 * whether a trial offers that button.
 * @typedef {object} ReadsAnswers
 * @property {(option: HTMLElement) => { side?: string, rating?: number }} answer
 * @property {(option: HTMLElement, trial: Trial) => boolean} offered
 * @property {(option: HTMLElement) => boolean} [completes] Takes a press, and tells whether the trial
 *   is answered with it; every press answers where this is missing.
 * @property {(place: HTMLElement) => NodeListOf<HTMLElement>} [meant] Returns the buttons that keys
 *   mean now, where these are not all of them.
 * @property {(tools: Tools) => View} [view] What shows its trials, where that is not ``TrialView``.
 * @property {(session: any, fetched: (url: string) => Promise<ReadsAnswers | undefined>) =>
 *   Promise<void>} [prepare] Fetches what it needs before the first trial.
 */
/**
 * A way of showing trials.
 * @typedef {object} View
 * @property {Trial | undefined} trial The trial on the screen; undefined when it is answered.
 * @property {boolean} late Whether the last answer came after the deadline.
 * @property {(trial: Trial) => void} show
 * @property {() => void} close Takes no press any more.
 */
/**
 * What the page gives to a view: see the parameters of ``TrialView``, and its tools.
 * @typedef {object} Tools
 * @property {HTMLElement} place
 * @property {import("./keys.js").Keys} keys
 * @property {{ lockout_ms: number, gap_ms?: number, deadline_ms?: number | null }} settings
 * @property {(trial: Trial, choice: Choice, afterwards: Afterwards | undefined) => void} onChoice
 * @property {AbortSignal} signal
 * @property {typeof OnsetClock} OnsetClock
 * @property {typeof Presses} Presses
 * @property {typeof Deadline} Deadline
 * @property {typeof isOtherFont} isOtherFont
 * @property {typeof viewOf} viewOf
 */
/** @typedef {Omit<Answer, "uuid" | "position" | "client_time" | "times_shown" | "seen_before_ms" |
 *   keyof ReturnType<import("./display.js").Display["end"]>>} Choice */

/**
 * What is settled after the choice: when the press ended.
 * @typedef {Promise<{ release_ms: number | null }>} Afterwards
 */

const DAY_MS = 86_400_000;
// Nobody holds a key for longer who goes on to the next trial.
const LONGEST_HOLD_MS = 400;
const MOST_PREMATURE = 20;

/**
 * What shows the trials of a type of response.
 * @param {ReadsAnswers} reads
 * @param {Omit<Tools, "OnsetClock" | "Presses" | "Deadline" | "isOtherFont" | "viewOf">} given
 * @returns {View}
 */
export function viewOf(reads, given) {
  if (reads.view) return reads.view({ ...given, OnsetClock, Presses, Deadline, isOtherFont, viewOf });
  const { place, keys, settings, onChoice, signal } = given;
  return new TrialView(place, keys, settings, reads, onChoice, signal);
}

export class TrialView {
  /** @type {Trial | undefined} The trial on the screen, until it is answered. */
  #trial;
  /** @type {Answer["premature"]} */
  #premature = [];
  /** @type {Set<"text" | "scroll" | "zoom" | "font">} What is not as it was sent. */
  #broken = new Set();
  #wasHidden = false;
  #lostFocus = false;
  #clock;
  #deadline;
  #presses;
  #place;
  #keys;
  #settings;
  #reads;
  #onChoice;
  #signal;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #gap;

  /**
   * @param {HTMLElement} place Where trials are shown; holds elements with data-field and data-side.
   * @param {import("./keys.js").Keys} keys
   * @param {Tools["settings"]} settings The study's.
   * @param {ReadsAnswers} reads What the study's type of response answers.
   * @param {(trial: Trial, choice: Choice, afterwards: Afterwards | undefined) => void} onChoice
   * @param {AbortSignal} signal Aborted when the page is left.
   */
  constructor(place, keys, settings, reads, onChoice, signal) {
    this.#place = place;
    this.#keys = keys;
    this.#settings = settings;
    this.#reads = reads;
    this.#onChoice = onChoice;
    this.#signal = signal;
    this.#clock = new OnsetClock(signal);
    this.#deadline = new Deadline(place, settings.deadline_ms);
    this.#presses = new Presses(place, signal, (option, press) => this.#choose(option, press));
    this.#listen();
  }

  /** The trial on the screen; undefined when it is answered. */
  get trial() {
    return this.#trial;
  }

  /** Whether the last answer came after the deadline. */
  get late() {
    return this.#deadline.late;
  }

  /**
   * Shows a trial, after the study's gap.
   * @param {Trial} trial
   */
  show(trial) {
    this.#trial = trial;
    this.#premature = [];
    this.#broken.clear();
    this.#wasHidden = document.hidden;
    this.#lostFocus = false;
    this.#clock.stop();
    this.#deadline.begin();
    clearTimeout(this.#gap);
    this.#place.classList.remove("pointed");
    for (const option of this.#all("[data-side]")) {
      option.classList.remove("chosen", "expected");
      option.removeAttribute("aria-pressed");
      option.hidden = !this.#reads.offered(option, trial);
    }
    this.#focusOptions();
    window.scrollTo(0, 0);
    const { gap_ms = 0 } = this.#settings;
    this.#place.classList.toggle("between", gap_ms > 0);
    if (gap_ms > 0) this.#gap = setTimeout(() => this.#paint(trial), gap_ms);
    else this.#paint(trial);
  }

  /** Nothing is preselected, and the next Tab leads to the first option. */
  #focusOptions() {
    this.#all("[role=group]")[0]?.focus({ preventScroll: true });
  }

  /** Takes no choice any more. */
  close() {
    clearTimeout(this.#gap);
    this.#trial = undefined;
    this.#clock.stop();
    this.#deadline.stop();
  }

  /** @param {Trial} trial */
  #paint(trial) {
    this.#place.classList.remove("between");
    // A browser takes the focus from what is hidden during the gap.
    if (document.activeElement === document.body) this.#focusOptions();
    /** @type {HTMLElement[]} */
    const texts = [];
    for (const field of this.#all("[data-field]")) {
      // Browsers tell the presentation time of new elements alone.
      const text = document.createElement("span");
      // Each text runs as its own letters do, also in a page that runs the other way.
      text.dir = "auto";
      const pictures = lay(text, String(trial[field.dataset.field ?? ""] ?? ""));
      texts.push(text, ...pictures);
      // A picture stands last and is no beginning of a sentence: no gap follows it.
      field.classList.toggle("pictured", pictures.length > 0);
      field.replaceChildren(text);
    }
    this.#presses.forget();
    this.#clock.watch(texts, () => {
      if (this.#trial !== trial) return;
      this.#examine(trial);
      this.#announce(trial);
      this.#deadline.count(this.#clock.onset.ms);
    });
  }

  /**
   * Notes what is not on the screen as it was sent: texts that a translation or an extension has
   * changed, options that lie beyond the window, a page that is zoomed in, a font still to come.
   * @param {Trial} trial
   */
  #examine(trial) {
    for (const field of this.#all("[data-field]")) {
      const sent = String(trial[field.dataset.field ?? ""] ?? "");
      if (field.textContent !== unpictured(sent)) this.#broken.add("text");
    }
    for (const option of this.#all("[data-side]:not([hidden])")) {
      const { top, bottom } = option.getBoundingClientRect();
      if (top < -1 || bottom > window.innerHeight + 1) this.#broken.add("scroll");
    }
    if ((window.visualViewport?.scale ?? 1) > 1.01) this.#broken.add("zoom");
    if (isOtherFont(this.#place, this.#all("[data-field] *"))) this.#broken.add("font");
  }

  /**
   * Screen readers say what changes in a region that is already there, hence not before painting.
   * @param {Trial} trial
   */
  #announce(trial) {
    for (const announcement of this.#all("[data-announce]")) {
      announcement.textContent = fill(announcement.dataset.announce ?? "", trial);
    }
  }

  #listen() {
    const listening = { signal: this.#signal };
    for (const option of this.#all("[data-side]")) {
      option.addEventListener("click", (event) => {
        this.#choose(option, this.#presses.ofClick(event));
      });
    }
    const onKey = (/** @type {KeyboardEvent} */ event) => {
      if (!this.#keys.on || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.target instanceof Element && event.target.closest("input, textarea, select")) return;
      const meant = this.#reads.meant?.(this.#place) ?? this.#all("[data-side]");
      const option = meant[this.#keys.optionOf(event)];
      if (!option || option.hidden) return;
      const { timeStamp: downMs, isTrusted: trusted } = event;
      this.#choose(option, { downMs, upMs: null, method: "key", trusted }, event.code);
    };
    const onVisibility = () => (this.#wasHidden ||= document.hidden);
    const onMove = (/** @type {PointerEvent} */ event) => {
      // Only who moves the pointer over a new trial points at an option of it.
      if (event.movementX || event.movementY) this.#place.classList.add("pointed");
    };
    document.addEventListener("keydown", onKey, listening);
    document.addEventListener("visibilitychange", onVisibility, listening);
    window.addEventListener("blur", () => (this.#lostFocus = true), listening);
    this.#place.addEventListener("pointermove", onMove, listening);
  }

  /**
   * @param {HTMLElement} option
   * @param {Press} press
   * @param {string} [code] The key's that is still down.
   */
  #choose(option, press, code) {
    const trial = this.#trial;
    if (!trial) return;
    const onset = this.#clock.onset;
    this.#examine(trial);
    const rtMs = press.downMs - onset.ms;
    const reason = Presses.whyEarly(rtMs, this.#settings.lockout_ms);
    this.#presses.sayRefused(Boolean(reason));
    if (reason) return this.#keepPremature(reason, rtMs, press.method);
    if (this.#reads.completes?.(option) === false) return;
    const sincePainting = (/** @type {number} */ ms) => Math.min(ms - onset.ms, DAY_MS);
    const choice = {
      ...this.#reads.answer(option),
      // Who answers a day later was away, and such a time says nothing.
      rt_ms: rtMs < DAY_MS ? rtMs : null,
      release_ms: press.upMs === null ? null : sincePainting(press.upMs),
      input_method: press.method,
      onset_source: onset.source,
      onset_uncertainty_ms: onset.uncertaintyMs,
      trusted: press.trusted,
      ...this.#presses.path,
      // It may have stopped between the drawing and the painting; a key did not move at all.
      ...(press.stoppedMs != null && {
        pointer_stopped_ms: Math.floor(Math.max(0, sincePainting(press.stoppedMs))),
      }),
      premature: this.#premature,
      ...(this.#broken.size && { broken: [...this.#broken] }),
      viewport_width_px: Math.round(window.innerWidth),
      viewport_height_px: Math.round(window.innerHeight),
      was_hidden: this.#wasHidden,
      lost_focus: this.#lostFocus,
    };
    this.#deadline.take(rtMs);
    this.close();
    option.classList.add("chosen");
    const afterwards = code
      ? released(code, LONGEST_HOLD_MS).then((upMs) => ({
          release_ms: upMs === null ? null : sincePainting(upMs),
        }))
      : undefined;
    this.#onChoice(trial, choice, afterwards);
  }

  /**
   * @param {"before_painting" | "lockout"} reason
   * @param {number} rtMs
   * @param {Press["method"]} method
   */
  #keepPremature(reason, rtMs, method) {
    if (this.#premature.length >= MOST_PREMATURE) return;
    const ms = Number.isFinite(rtMs) ? Math.round(rtMs * 10) / 10 : null;
    this.#premature.push({ reason, input_method: method, ms });
  }

  /**
   * @param {string} selector
   * @returns {NodeListOf<HTMLElement>}
   */
  #all(selector) {
    return this.#place.querySelectorAll(selector);
  }
}

/**
 * Puts values in the places of a text that name them in braces.
 * @param {string} text
 * @param {Record<string, string | number>} values
 */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => spoken(String(values[name] ?? "")));
}
