// @ts-check
/**
 * Rating on a slider: its handle is absent until a click or a key places it, and the answer is its
 * position. The browser's own slider serves keys and screen readers; pointers press the track
 * around it, because some browsers take no taps beside the handle.
 */

/** @typedef {import("../../../static/trial_view.js").ResponseScript} ResponseScript */

const DIGIT_CODE = /^(?:Digit|Numpad)(\d)$/;
const MOVING_KEY = /^(Arrow|Page)/;
// A tap's finger may slip this far; one that moves further along the line slides the handle.
const SLIP_PX = 8;

/** @type {ResponseScript["answer"]} */
export const answer = () => ({});

/** @type {ResponseScript["offered"]} */
export const offered = () => true;

/** @type {ResponseScript["view"]} */
export const view = (tools) => {
  const { place, signal } = tools;
  const slider = new Slider(place, signal);
  const trials = tools.makeTrialView({
    answer: () => ({ rating: slider.position }),
    offered,
    keyless: true,
    shown: () => slider.clear(),
    completes: () => slider.checkPlaced(),
    closed: () => (slider.next.disabled = true),
  }, tools);
  slider.group.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.repeat || event.target instanceof HTMLButtonElement) return;
    event.preventDefault();
    const { timeStamp: downMs, isTrusted: trusted } = event;
    trials.choose?.(slider.next, { downMs, upMs: null, method: "key", trusted }, event.code);
  }, { signal });
  return trials;
};

class Slider {
  group;
  next;
  #track;
  #range;
  #number;
  #hint;
  #isPlaced = false;
  /** @type {{ id: number, x: number, slides: boolean } | undefined} */
  #pointer;

  /**
   * @param {ParentNode} place
   * @param {AbortSignal} signal
   */
  constructor(place, signal) {
    const find = (/** @type {string} */ selector) => {
      const element = place.querySelector(selector);
      if (!element) throw new Error(`The page lacks ${selector}.`);
      return /** @type {HTMLElement} */ (element);
    };
    this.group = find(".sliding");
    this.#track = find(".track");
    this.#range = /** @type {HTMLInputElement} */ (find("#slider-position"));
    this.#hint = find("#slider-hint");
    this.#number = this.group.querySelector(".number");
    this.next = /** @type {HTMLButtonElement} */ (find("[data-side]"));
    this.#listen(signal);
  }

  /** The handle's position; undefined until it is placed. */
  get position() {
    return this.#isPlaced ? Number(this.#range.value) : undefined;
  }

  /** Removes the handle. */
  clear() {
    this.#isPlaced = this.next.disabled = false;
    this.#pointer = undefined;
    this.#range.value = String(this.#positionAt(0.5));
    this.#range.classList.add("absent");
    // Screen readers would read the middle as its value.
    this.#range.setAttribute("aria-valuetext", "\u2013");
    this.#hint.textContent = "";
    if (this.#number) this.#number.textContent = "";
  }

  /** Returns whether the handle is placed; if not, a hint says so. */
  checkPlaced() {
    if (!this.#isPlaced) this.#hint.textContent = this.#hint.dataset.missing ?? "";
    return this.#isPlaced;
  }

  /** @param {number} share Of the line's length, from its low end. */
  #positionAt(share) {
    const [low, high] = [Number(this.#range.min), Number(this.#range.max)];
    return Math.round(low + (high - low) * Math.min(1, Math.max(0, share)));
  }

  /** @param {number} [share] Where to place the handle; where the browser has moved it if left out. */
  #placeHandle(share) {
    if (share !== undefined) this.#range.value = String(this.#positionAt(share));
    this.#isPlaced = true;
    this.#range.classList.remove("absent");
    this.#range.removeAttribute("aria-valuetext");
    this.#hint.textContent = "";
    if (this.#number) this.#number.textContent = this.#range.value;
  }

  /** @param {AbortSignal} signal */
  #listen(signal) {
    const listening = { signal };
    this.group.addEventListener("keydown", (event) => {
      const share = this.#findShare(event);
      if (share === undefined) return;
      event.preventDefault();
      this.#range.focus();
      this.#placeHandle(share);
    }, listening);
    this.#range.addEventListener("input", () => this.#placeHandle(), listening);
    this.#track.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      this.#pointer = { id: event.pointerId, x: event.clientX, slides: event.pointerType !== "touch" };
      this.#track.setPointerCapture(event.pointerId);
      if (this.#pointer.slides) this.#placeAt(event);
    }, listening);
    this.#track.addEventListener("pointermove", (event) => {
      const pointer = this.#pointer;
      if (pointer?.id !== event.pointerId) return;
      pointer.slides ||= Math.abs(event.clientX - pointer.x) > SLIP_PX;
      if (pointer.slides) this.#placeAt(event);
    }, listening);
    this.#track.addEventListener("pointerup", (event) => {
      if (this.#pointer?.id !== event.pointerId) return;
      this.#pointer = undefined;
      this.#placeAt(event);
      this.#range.focus({ preventScroll: true });
    }, listening);
    // A finger that scrolls the page places nothing.
    this.#track.addEventListener("pointercancel", () => (this.#pointer = undefined), listening);
  }

  /** @param {PointerEvent} event */
  #placeAt({ clientX }) {
    const { left, width } = this.#track.getBoundingClientRect();
    const { direction, blockSize } = getComputedStyle(this.#range);
    // The handle is as wide as its track is high, and its middle is what marks the position.
    const handle = parseFloat(blockSize);
    const share = (clientX - left - handle / 2) / (width - handle);
    this.#placeHandle(direction === "rtl" ? 1 - share : share);
  }

  /**
   * Returns where a key places the handle; undefined for one that the browser handles itself.
   * @param {KeyboardEvent} event
   */
  #findShare({ key, code, ctrlKey, altKey, metaKey, target }) {
    if (ctrlKey || altKey || metaKey || target instanceof HTMLButtonElement) return undefined;
    if (key === "Home") return 0;
    if (key === "End") return 1;
    if (MOVING_KEY.test(key)) return this.#isPlaced ? undefined : 0.5;
    const digit = key.length === 1 ? DIGIT_CODE.exec(code)?.[1] : undefined;
    return digit === undefined ? undefined : Number(digit) / 10;
  }
}
