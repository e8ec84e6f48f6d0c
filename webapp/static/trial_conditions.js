// @ts-check
/** Records under what conditions a trial is shown and answered. */

import { isFallbackFont } from "./font.js";

/** @typedef {import("./answer_queue.js").Answer} Answer */
/** @typedef {import("./presses.js").Press} Press */

// Ten minutes at 60 frames per second; longer trials are not monitored further.
const MOST_FRAMES = 36_000;
// With fewer frames the usual interval is unknown.
const FEWEST_FRAMES = 10;

const MOST_PREMATURE = 20;

/** Monitors frames, hidden time and the pixel ratio during a trial. */
export class DisplayMonitor {
  /** @type {number[]} The intervals between the trial's frames. */
  #gapsMs = [];
  #usualMs = NaN;
  /** @type {number | undefined} The time of the last frame; undefined if the next interval must be ignored. */
  #lastMs;
  #hiddenMs = 0;
  /** @type {number | undefined} When the page became hidden. */
  #hiddenSinceMs;
  #frameRequest = 0;

  /** @param {AbortSignal} signal Aborted when the page is left. */
  constructor(signal) {
    document.addEventListener("visibilitychange", () => this.#onVisibility(), { signal });
    signal.addEventListener("abort", () => cancelAnimationFrame(this.#frameRequest));
  }

  /** Starts monitoring a trial. */
  startTrial() {
    this.#gapsMs = [];
    this.#lastMs = undefined;
    this.#hiddenMs = 0;
    this.#hiddenSinceMs = document.hidden ? performance.now() : undefined;
    cancelAnimationFrame(this.#frameRequest);
    this.#recordFrame();
  }

  /**
   * Stops monitoring, and returns the values to store.
   * @returns {{ frames_dropped: number | null, hidden_ms: number, pixel_ratio: number }}
   */
  endTrial() {
    cancelAnimationFrame(this.#frameRequest);
    this.#onVisibility();
    const ratio = window.devicePixelRatio * (window.visualViewport?.scale ?? 1);
    return {
      frames_dropped: this.#countDroppedFrames(),
      hidden_ms: Math.round(this.#hiddenMs),
      pixel_ratio: Math.round(ratio * 100) / 100,
    };
  }

  #recordFrame() {
    this.#frameRequest = requestAnimationFrame((ms) => {
      if (this.#lastMs !== undefined && ms > this.#lastMs) this.#gapsMs.push(ms - this.#lastMs);
      this.#lastMs = ms;
      if (this.#gapsMs.length < MOST_FRAMES) this.#recordFrame();
    });
  }

  /** Returns the number of dropped frames, from the median interval; null with too few frames. */
  #countDroppedFrames() {
    if (this.#gapsMs.length >= FEWEST_FRAMES) {
      this.#usualMs = [...this.#gapsMs].sort((a, b) => a - b)[this.#gapsMs.length >> 1];
    }
    if (Number.isNaN(this.#usualMs)) return null;
    return this.#gapsMs.reduce((sum, gap) => sum + Math.max(0, Math.round(gap / this.#usualMs) - 1), 0);
  }

  #onVisibility() {
    const now = performance.now();
    if (this.#hiddenSinceMs !== undefined) this.#hiddenMs += now - this.#hiddenSinceMs;
    this.#hiddenSinceMs = document.hidden ? now : undefined;
    // A hidden page draws no frames; these do not count as dropped.
    this.#lastMs = undefined;
  }
}

/** Keeps a trial's early presses, lost attention, and what the page does not display as intended. */
export class TrialConditions {
  /** @type {Answer["premature"]} */
  #premature = [];
  /** @type {Set<"text" | "scroll" | "zoom" | "font">} What is not shown as intended. */
  #displayFaults = new Set();
  #wasHidden = false;
  #lostFocus = false;
  #place;

  /**
   * @param {HTMLElement} place The trial element.
   * @param {AbortSignal} signal Aborted when the page is left.
   */
  constructor(place, signal) {
    this.#place = place;
    document.addEventListener("visibilitychange", () => (this.#wasHidden ||= document.hidden), { signal });
    window.addEventListener("blur", () => (this.#lostFocus = true), { signal });
  }

  /** Starts a trial. */
  reset() {
    this.#premature = [];
    this.#displayFaults.clear();
    this.#wasHidden = document.hidden;
    this.#lostFocus = false;
  }

  /**
   * Records a press that does not count.
   * @param {string} reason
   * @param {number} ms The time since the painting of what the press answers; NaN before it.
   * @param {Press["method"]} method
   */
  recordPremature(reason, ms, method) {
    if (this.#premature.length >= MOST_PREMATURE) return;
    this.#premature.push({ reason, input_method: method, ms: Number.isFinite(ms) ? Math.round(ms * 10) / 10 : null });
  }

  /**
   * Records a text that differs from the one sent: a translation or an extension changed it.
   * @param {Element} element
   * @param {string | undefined} sent
   */
  checkText(element, sent) {
    if (sent !== undefined && element.textContent !== sent) this.#displayFaults.add("text");
  }

  /**
   * Records an element that is not wholly inside the window.
   * @param {Element} element
   */
  checkPlacement(element) {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const isOutside = left < -1 || right > window.innerWidth + 1 || top < -1 || bottom > window.innerHeight + 1;
    if (isOutside) this.#displayFaults.add("scroll");
  }

  /**
   * Records a zoomed page, and texts in another font than the study's.
   * @param {Iterable<Element>} texts
   */
  checkPage(texts) {
    if ((window.visualViewport?.scale ?? 1) > 1.01) this.#displayFaults.add("zoom");
    if (isFallbackFont(this.#place, texts)) this.#displayFaults.add("font");
  }

  /** The fields of an answer that describe these conditions. */
  get fields() {
    return {
      premature: this.#premature,
      ...(this.#displayFaults.size && { broken: [...this.#displayFaults] }),
      viewport_width_px: Math.round(window.innerWidth),
      viewport_height_px: Math.round(window.innerHeight),
      was_hidden: this.#wasHidden,
      lost_focus: this.#lostFocus,
    };
  }
}
