// @ts-check
/**
 * Records when and how each press began: reaction times end at the beginning of a press, and a press
 * that began before the options appeared is no answer.
 *
 * @typedef {object} Press
 * @property {number} downMs When the press began, by performance.now().
 * @property {number | null} upMs When the press ended; null while a key is held.
 * @property {"key" | "pointer" | "touch"} method
 * @property {boolean} trusted Whether the user caused it (``Event.isTrusted``), not a script.
 * @property {number | null} [stoppedMs] When the pressing pointer last moved; null if it had not
 *   moved.
 */

import { Trace } from "./trace.js";

// How far a finger may move in a tap; browsers allow about as much.
const SLIP_PX = 15;

/** @typedef {{ downMs: number, x: number, y: number, option: HTMLElement | null, multitouch: boolean }} Finger */

export class Presses {
  /**
   * Returns why a press is too early to count: it was meant for what was on the screen before. The
   * second press of a double click is one. Empty for a press that counts.
   * @param {number} ms The time since the painting of what the press answers; NaN before it.
   * @param {number} lockoutMs
   * @returns {"" | "before_painting" | "lockout"}
   */
  static whyEarly(ms, lockoutMs) {
    if (!(ms >= 0)) return "before_painting";
    return ms < lockoutMs ? "lockout" : "";
  }

  /** @type {{ ms: number, type: string, stoppedMs: number | null } | undefined} */
  #pointer;
  /** @type {number | undefined} When a key that presses the focused button went down. */
  #keyMs;
  /** @type {Map<number, Finger>} The fingers on the screen by pointer id. */
  #fingers = new Map();
  /** @type {Trace | undefined} Only if the study records traces. */
  #trace;
  #moves = 0;
  #path = 0;
  /** @type {number | null} */
  #stoppedMs = null;
  /** @type {[number, number] | undefined} */
  #lastPoint;
  #place;

  /**
   * @param {HTMLElement} place The element in which presses are recorded.
   * @param {AbortSignal} signal Aborted when the page is left.
   * @param {(option: HTMLElement, press: Press) => void} [onTap] Called for a tap while another finger is down.
   */
  constructor(place, signal, onTap) {
    this.#place = place;
    if (onTap) this.#watchFingers(signal, onTap);
    if (place.closest("[data-traces]")) this.#trace = new Trace(signal);
    const listening = { signal, capture: true, passive: true };
    const onDown = (/** @type {PointerEvent} */ event) => {
      const { timeStamp: ms, pointerType: type } = event;
      this.#pointer = { ms, type, stoppedMs: this.#stoppedMs };
    };
    // A press that ended elsewhere must not time a later click of voice or switch control.
    const forgetPointer = () => (this.#pointer = undefined);
    const forgetKey = () => setTimeout(() => (this.#keyMs = undefined));
    const onMove = (/** @type {PointerEvent} */ event) => this.#recordMovement(event);
    const onKey = (/** @type {KeyboardEvent} */ event) => {
      const presses = event.key === "Enter" || event.key === " ";
      const onOption = event.target instanceof Element && event.target.closest("[data-side]");
      if (!presses || !onOption) return;
      // A held key would press its button repeatedly.
      if (event.repeat) event.preventDefault();
      else this.#keyMs = event.timeStamp;
    };
    place.addEventListener("pointerdown", onDown, listening);
    document.addEventListener("pointermove", onMove, listening);
    document.addEventListener("click", forgetPointer, { signal });
    document.addEventListener("pointercancel", forgetPointer, { signal });
    document.addEventListener("keyup", forgetKey, { signal });
    document.addEventListener("keydown", onKey, { signal, capture: true });
  }

  /** How often and how far the pointer moved since the last ``reset``. */
  get pointerData() {
    const path = { pointer_moves: this.#moves, pointer_path_px: Math.round(this.#path) };
    return this.#trace ? { ...path, trace: this.#trace.text } : path;
  }

  reset() {
    this.#trace?.begin();
    this.#moves = 0;
    this.#path = 0;
    this.#stoppedMs = null;
  }

  /**
   * Shows or removes the message that a press was not counted.
   * @param {boolean} isRefused
   */
  showRefusal(isRefused) {
    /** @type {HTMLElement | null} */
    const uncounted = this.#place.querySelector(".uncounted");
    const text = isRefused ? (uncounted?.dataset.text ?? "") : "";
    // Screen readers would read the same text aloud again.
    if (uncounted && uncounted.textContent !== text) uncounted.textContent = text;
  }

  /**
   * Returns the press that a click ends.
   * @param {MouseEvent} event A click with detail 0 came from the keyboard.
   * @returns {Press}
   */
  fromClick(event) {
    const { timeStamp: upMs, isTrusted: trusted } = event;
    if (event.detail === 0) {
      const downMs = this.#keyMs ?? upMs;
      this.#keyMs = undefined;
      return { downMs, upMs, method: "key", trusted };
    }
    const method = this.#pointer?.type === "touch" ? "touch" : "pointer";
    const { ms: downMs, stoppedMs } = this.#pointer ?? { ms: upMs, stoppedMs: null };
    this.#pointer = undefined;
    return { downMs, upMs, method, trusted, stoppedMs };
  }

  /**
   * Handles taps by several fingers at once, such as two thumbs: browsers send no click for them. The
   * browser handles gestures that zoom or scroll itself; these are no taps.
   * @param {AbortSignal} signal
   * @param {(option: HTMLElement, press: Press) => void} onTap
   */
  #watchFingers(signal, onTap) {
    const listening = { signal, capture: true, passive: true };
    const onDown = (/** @type {PointerEvent} */ event) => {
      if (event.pointerType !== "touch") return;
      // A primary pointer is the only finger: forget fingers whose end was missed.
      if (event.isPrimary) this.#fingers.clear();
      const { pointerId, timeStamp: downMs, clientX: x, clientY: y, target } = event;
      const isInContainer = target instanceof Element && this.#place.contains(target);
      /** @type {HTMLElement | null} */
      const option = isInContainer ? target.closest("[data-side]") : null;
      this.#fingers.set(pointerId, { downMs, x, y, option, multitouch: false });
      const together = !event.isPrimary || this.#fingers.size > 1;
      if (together) for (const finger of this.#fingers.values()) finger.multitouch = true;
    };
    const onUp = (/** @type {PointerEvent} */ event) => {
      const finger = this.#fingers.get(event.pointerId);
      this.#fingers.delete(event.pointerId);
      if (!finger?.multitouch) return;
      // No click will follow that ends this press.
      this.#pointer = undefined;
      if (!finger.option) return;
      const { timeStamp: upMs, isTrusted: trusted, clientX, clientY } = event;
      if (Math.hypot(clientX - finger.x, clientY - finger.y) > SLIP_PX) return;
      onTap(finger.option, { downMs: finger.downMs, upMs, method: "touch", trusted });
    };
    const onCancel = (/** @type {PointerEvent} */ event) => this.#fingers.delete(event.pointerId);
    document.addEventListener("pointerdown", onDown, listening);
    document.addEventListener("pointerup", onUp, listening);
    document.addEventListener("pointercancel", onCancel, listening);
  }

  /** @param {PointerEvent} event */
  #recordMovement({ clientX, clientY, timeStamp }) {
    const [x, y] = this.#lastPoint ?? [clientX, clientY];
    if (this.#lastPoint && x === clientX && y === clientY) return;
    this.#moves += 1;
    this.#stoppedMs = timeStamp;
    this.#path += Math.hypot(clientX - x, clientY - y);
    this.#lastPoint = [clientX, clientY];
  }
}

/**
 * Resolves to the time at which a held key is released, or to null after the timeout.
 * @param {string} code
 * @param {number} patienceMs
 * @returns {Promise<number | null>}
 */
export function waitForRelease(code, patienceMs) {
  return new Promise((resolve) => {
    const leaving = new AbortController();
    /** @param {number | null} ms */
    const end = (ms) => {
      leaving.abort();
      resolve(ms);
    };
    const onUp = (/** @type {KeyboardEvent} */ event) => {
      if (event.code === code) end(event.timeStamp);
    };
    document.addEventListener("keyup", onUp, { signal: leaving.signal, capture: true });
    setTimeout(end, patienceMs, null);
  });
}
