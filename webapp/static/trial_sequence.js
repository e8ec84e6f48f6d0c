// @ts-check
/** The session's trials, and which of them are answered, in this window or another. */

/**
 * A trial as the server sends it: the position and the texts by field name (first, second, ...).
 * @typedef {{ position: number, [text: string]: string | number }} Trial
 */

export class TrialSequence {
  #trials;
  /** @type {Set<number>} */
  #answered;
  /** @type {Set<number>} */
  #pauses;

  /**
   * @param {Trial[]} trials All trials, in order.
   * @param {number[]} answered The positions already answered.
   * @param {number[]} pauses The positions before which a break is shown.
   */
  constructor(trials, answered, pauses = []) {
    this.#trials = trials;
    this.#answered = new Set(answered);
    this.#pauses = new Set(pauses);
  }

  get total() {
    return this.#trials.length;
  }

  get remaining() {
    return this.#trials.filter(({ position }) => !this.#answered.has(position)).length;
  }

  /** The next trial to be answered; undefined after the last. */
  get next() {
    return this.#trials.find(({ position }) => !this.#answered.has(position));
  }

  /**
   * Marks trials as answered.
   * @param {Iterable<number>} positions
   */
  markAnswered(positions) {
    for (const position of positions) this.#answered.add(position);
  }

  /** Returns the next trial's position if a break precedes it that was not shown yet. */
  takeBreak() {
    const position = this.next?.position;
    if (position === undefined || !this.#pauses.delete(position)) return undefined;
    return position;
  }
}
