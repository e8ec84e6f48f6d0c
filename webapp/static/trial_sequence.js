// @ts-check
/** Which trials are still to be answered, whoever has answered the others. */

/**
 * A trial as the server sends it: its position and its texts by name (first, second, ...).
 * @typedef {{ position: number, [text: string]: string | number }} Trial
 */

export class TrialSequence {
  #trials;
  /** @type {Set<number>} */
  #answered;
  /** @type {Set<number>} */
  #pauses;

  /**
   * @param {Trial[]} trials All of them, in order.
   * @param {number[]} answered The positions that need no answer any more.
   * @param {number[]} pauses The positions before which a page comes.
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
   * Takes these trials for answered.
   * @param {Iterable<number>} positions
   */
  markAnswered(positions) {
    for (const position of positions) this.#answered.add(position);
  }

  /** The next trial's position if a page comes before it that was not taken yet; undefined else. */
  takeBreak() {
    const position = this.next?.position;
    if (position === undefined || !this.#pauses.delete(position)) return undefined;
    return position;
  }
}
