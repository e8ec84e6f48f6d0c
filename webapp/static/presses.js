// @ts-check
/**
 * Where each press began and how: a choice counts from its beginning, and one that began before
 * the options were there was meant for something else.
 *
 * @typedef {object} Press
 * @property {number} downMs When it began, on the clock of performance.now().
 * @property {number | null} upMs When it ended; null while a key is held.
 * @property {"key" | "pointer" | "touch"} method
 * @property {boolean} trusted Whether the browser itself saw it.
 * @property {number | null} [stoppedMs] When the pointer that pressed had last moved; null where it
 *   had not.
 */

import { Trace } from "./trace.js";

// How far a finger may slip in a tap; browsers allow about as much.
const SLIP_PX = 15;

/** @typedef {{ downMs: number, x: number, y: number, option: HTMLElement | null, beside: boolean }} Finger */

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
  /** @type {Map<number, Finger>} The fingers on the screen, and which had another beside it. */
  #fingers = new Map();
  /** @type {Trace | undefined} Only where the study asks for it. */
  #trace;
  #moves = 0;
  #path = 0;
  /** @type {number | null} */
  #stoppedMs = null;
  /** @type {[number, number] | undefined} */
  #at;
  #place;

  /**
   * @param {HTMLElement} place Where pointers press.
   * @param {AbortSignal} signal Aborted when the page is left.
   * @param {(option: HTMLElement, press: Press) => void} [onTap] Takes a tap beside another finger.
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
    // A press that ended elsewhere must not lend its beginning to a later click of a voice or a switch.
    const forgetPointer = () => (this.#pointer = undefined);
    const forgetKey = () => setTimeout(() => (this.#keyMs = undefined));
    const onMove = (/** @type {PointerEvent} */ event) => this.#move(event);
    const onKey = (/** @type {KeyboardEvent} */ event) => {
      const presses = event.key === "Enter" || event.key === " ";
      const onOption = event.target instanceof Element && event.target.closest("[data-side]");
      if (!presses || !onOption) return;
      // A key that is held presses its button again and again.
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

  /** How often and how far the pointer moved since the last call of ``forget``. */
  get path() {
    const path = { pointer_moves: this.#moves, pointer_path_px: Math.round(this.#path) };
    return this.#trace ? { ...path, trace: this.#trace.text } : path;
  }

  forget() {
    this.#trace?.begin();
    this.#moves = 0;
    this.#path = 0;
    this.#stoppedMs = null;
  }

  /**
   * Says that a press was not taken, until one is.
   * @param {boolean} isRefused
   */
  sayRefused(isRefused) {
    /** @type {HTMLElement | null} */
    const uncounted = this.#place.querySelector(".uncounted");
    const text = isRefused ? (uncounted?.dataset.text ?? "") : "";
    // The same words again would be read aloud again.
    if (uncounted && uncounted.textContent !== text) uncounted.textContent = text;
  }

  /**
   * The press that a click ends.
   * @param {MouseEvent} event A click that counts no press of a pointer came from the keyboard.
   * @returns {Press}
   */
  ofClick(event) {
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
   * Takes the taps of fingers that are on the screen together, such as two thumbs: browsers make no
   * click of them. What zooms or scrolls the page is no tap: the browser takes it as its own.
   * @param {AbortSignal} signal
   * @param {(option: HTMLElement, press: Press) => void} onTap
   */
  #watchFingers(signal, onTap) {
    const listening = { signal, capture: true, passive: true };
    const onDown = (/** @type {PointerEvent} */ event) => {
      if (event.pointerType !== "touch") return;
      // Without another finger on it, no screen holds one whose end was not seen.
      if (event.isPrimary) this.#fingers.clear();
      const { pointerId, timeStamp: downMs, clientX: x, clientY: y, target } = event;
      const within = target instanceof Element && this.#place.contains(target);
      /** @type {HTMLElement | null} */
      const option = within ? target.closest("[data-side]") : null;
      this.#fingers.set(pointerId, { downMs, x, y, option, beside: false });
      const together = !event.isPrimary || this.#fingers.size > 1;
      if (together) for (const finger of this.#fingers.values()) finger.beside = true;
    };
    const onUp = (/** @type {PointerEvent} */ event) => {
      const finger = this.#fingers.get(event.pointerId);
      this.#fingers.delete(event.pointerId);
      if (!finger?.beside) return;
      // No click comes that would end it.
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
  #move({ clientX, clientY, timeStamp }) {
    const [x, y] = this.#at ?? [clientX, clientY];
    if (this.#at && x === clientX && y === clientY) return;
    this.#moves += 1;
    this.#stoppedMs = timeStamp;
    this.#path += Math.hypot(clientX - x, clientY - y);
    this.#at = [clientX, clientY];
  }
}

/**
 * Resolves to when a key that is down is let go, or to null where that takes too long.
 * @param {string} code
 * @param {number} patienceMs
 * @returns {Promise<number | null>}
 */
export function released(code, patienceMs) {
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
