// @ts-check
/** Which option a key means, on every keyboard's layout, and whether keys mean one at all. */

import { recall, remember } from "./memory.js";

/** @typedef {import("./memory.js").KeyWishes} KeyWishes */

const WISHES = "keys";
const ASCII = /^[a-z0-9]$/;
const DIGIT = /^\p{Nd}$/u;

export class Keys {
  /** @type {KeyWishes} */
  #wishes = { on: true, keys: [] };
  /** Called when they have become those of another task. */
  onBecome = () => {};

  /** @param {string[]} study The study's keys, one for each option. */
  constructor(study) {
    this.become(study);
  }

  /**
   * Becomes the keys of a task, or those that the participant wishes in their place.
   * @param {string[]} study The task's keys, one for each option.
   */
  become(study) {
    const wishes = recall(WISHES);
    const fits = wishes?.keys?.length === study.length;
    const own = study.map((key) => key.toLowerCase());
    this.#wishes = { on: wishes?.on ?? this.on, keys: fits ? wishes.keys : own };
    this.onBecome();
  }

  get on() {
    return this.#wishes.on;
  }

  /** The keys as they are now, in the order of the options. */
  get keys() {
    return this.#wishes.keys;
  }

  /**
   * Takes other keys, or none; kept for every session in this browser.
   * @param {KeyWishes} wishes
   * @returns {boolean} Whether each is one character and another than the rest.
   */
  wish({ on, keys }) {
    const lower = keys.map((key) => key.trim().toLowerCase());
    const sound = lower.every((key) => [...key].length === 1) && new Set(lower).size === lower.length;
    if (!sound) return false;
    this.#wishes = { on, keys: lower };
    remember(WISHES, this.#wishes);
    return true;
  }

  /**
   * The option that a key means, by its number; -1 for none.
   *
   * What the key writes decides. Where that is neither a letter nor a digit of the Latin script, as
   * for the digits' row of a French keyboard or on an Arabic one, the key's place decides.
   * @param {{ key: string, code: string }} event
   */
  optionOf({ key, code }) {
    const written = key.toLowerCase();
    const found = this.keys.indexOf(written);
    if (found >= 0 || ASCII.test(written)) return found;
    if (DIGIT.test(written)) return this.keys.indexOf(String(digitOf(written)));
    const place = /^(?:Digit|Numpad|Key)(.)$/.exec(code)?.[1];
    return place ? this.keys.indexOf(place.toLowerCase()) : -1;
  }
}

/**
 * The value of a digit of any script: their ten digits stand in a row.
 * @param {string} digit
 */
function digitOf(digit) {
  let zero = /** @type {number} */ (digit.codePointAt(0));
  const value = zero;
  while (DIGIT.test(String.fromCodePoint(zero - 1)) && value - zero < 9) zero -= 1;
  return value - zero;
}
