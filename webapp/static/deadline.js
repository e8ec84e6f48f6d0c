// @ts-check
/** A response deadline: shows that the time is up, and still accepts the answer. */

export class Deadline {
  /** Whether the answer to the trial, or to one of its steps, came after the deadline. */
  late = false;
  #place;
  #ms;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {HTMLElement} place Contains the element for the message that the time is up.
   * @param {number | null | undefined} ms The deadline after the onset, if the study has one.
   */
  constructor(place, ms) {
    this.#place = place;
    this.#ms = ms ?? Infinity;
  }

  /** Starts a new trial. */
  reset() {
    this.late = false;
    this.stop();
  }

  /**
   * Starts the countdown for texts that were just painted.
   * @param {number} onsetMs The time of painting, by performance.now().
   */
  startTimer(onsetMs) {
    this.stop();
    const leftMs = onsetMs + this.#ms - performance.now();
    if (Number.isFinite(leftMs)) this.#timer = setTimeout(() => this.#showOvertime(true), Math.max(0, leftMs));
  }

  /**
   * Records whether an answer was late, and stops the countdown.
   * @param {number} rtMs The reaction time since painting.
   */
  recordAnswer(rtMs) {
    this.late ||= rtMs > this.#ms;
    this.stop();
  }

  /** Stops the countdown and removes the message. */
  stop() {
    clearTimeout(this.#timer);
    this.#showOvertime(false);
  }

  /** @param {boolean} isUp */
  #showOvertime(isUp) {
    /** @type {HTMLElement | null} */
    const overtime = this.#place.querySelector(".overtime");
    // The empty element keeps its height; screen readers announce text that appears in it.
    if (overtime) overtime.textContent = isUp ? (overtime.dataset.text ?? "") : "";
  }
}
