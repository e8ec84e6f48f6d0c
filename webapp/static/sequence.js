// @ts-check
/** Which trials are still to be answered, whoever has answered the others. */

/**
 * A trial as the server sends it: its position and its texts by name (first, second, ...).
 * @typedef {{ position: number, [text: string]: string | number }} Trial
 */

export class Sequence {
  #trials;
  /** @type {Set<number>} */
  #answered;

  /**
   * @param {Trial[]} trials All of them, in order.
   * @param {number[]} answered The positions that need no answer any more.
   */
  constructor(trials, answered) {
    this.#trials = trials;
    this.#answered = new Set(answered);
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
   * Takes these trials for answered.
   * @param {Iterable<number>} positions
   */
  settle(positions) {
    for (const position of positions) this.#answered.add(position);
  }

  /**
   * Whether a break is due before the next trial.
   * @param {number} every How many trials lie between two breaks; 0 for none.
   */
  pausesAfter(every) {
    const done = this.total - this.remaining;
    return every > 0 && done > 0 && done % every === 0 && this.remaining > 0;
  }
}
