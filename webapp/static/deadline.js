// @ts-check
/** A response deadline: the page says that the time is up, and takes the answer all the same. */

export class Deadline {
  /** Whether the answer to the trial, or to one of its steps, came after the deadline. */
  late = false;
  #place;
  #ms;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {HTMLElement} place Holds what says that the time is up.
   * @param {number | null | undefined} ms How long after a painting; nothing where there is none.
   */
  constructor(place, ms) {
    this.#place = place;
    this.#ms = ms ?? Infinity;
  }

  /** Begins a trial. */
  reset() {
    this.late = false;
    this.stop();
  }

  /**
   * Waits for an answer to what was just painted.
   * @param {number} onsetMs When, on the clock of performance.now().
   */
  startTimer(onsetMs) {
    this.stop();
    const leftMs = onsetMs + this.#ms - performance.now();
    if (Number.isFinite(leftMs)) this.#timer = setTimeout(() => this.#showOvertime(true), Math.max(0, leftMs));
  }

  /**
   * Takes an answer.
   * @param {number} rtMs When it came, after the painting.
   */
  recordAnswer(rtMs) {
    this.late ||= rtMs > this.#ms;
    this.stop();
  }

  /** Waits no more. */
  stop() {
    clearTimeout(this.#timer);
    this.#showOvertime(false);
  }

  /** @param {boolean} isUp */
  #showOvertime(isUp) {
    /** @type {HTMLElement | null} */
    const overtime = this.#place.querySelector(".overtime");
    // Its room is kept while it is empty; what a reader of the screen is told is what comes into it.
    if (overtime) overtime.textContent = isUp ? (overtime.dataset.text ?? "") : "";
  }
}
