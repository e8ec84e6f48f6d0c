// @ts-check
/** Which option a key means, on every keyboard's layout, and whether keys mean one at all. */

import { loadValue, saveValue } from "./browser_storage.js";

/** @typedef {import("./browser_storage.js").KeyPreferences} KeyPreferences */

const PREFERENCES = "keys";
const ASCII = /^[a-z0-9]$/;
const DIGIT = /^\p{Nd}$/u;

export class ResponseKeys {
  /** @type {KeyPreferences} */
  #preferences = { on: true, keys: [] };
  /** Called when they have become those of another task. */
  onTaskChange = () => {};

  /** @param {string[]} study The study's keys, one for each option. */
  constructor(study) {
    this.setTaskKeys(study);
  }

  /**
   * Becomes the keys of a task, or those that the participant wishes in their place.
   * @param {string[]} study The task's keys, one for each option.
   */
  setTaskKeys(study) {
    const preferences = loadValue(PREFERENCES);
    const fits = preferences?.keys?.length === study.length;
    const taskKeys = study.map((key) => key.toLowerCase());
    this.#preferences = { on: preferences?.on ?? this.on, keys: fits ? preferences.keys : taskKeys };
    this.onTaskChange();
  }

  get on() {
    return this.#preferences.on;
  }

  /** The keys as they are now, in the order of the options. */
  get keys() {
    return this.#preferences.keys;
  }

  /**
   * Takes other keys, or none; kept for every session in this browser.
   * @param {KeyPreferences} preferences
   * @returns {boolean} Whether each is one character and another than the rest.
   */
  setPreferences({ on, keys }) {
    const lower = keys.map((key) => key.trim().toLowerCase());
    const isValid = lower.every((key) => [...key].length === 1) && new Set(lower).size === lower.length;
    if (!isValid) return false;
    this.#preferences = { on, keys: lower };
    saveValue(PREFERENCES, this.#preferences);
    return true;
  }

  /**
   * The option that a key means, by its number; -1 for none.
   *
   * What the key writes decides. Where that is neither a letter nor a digit of the Latin script, as
   * for the digits' row of a French keyboard or on an Arabic one, the key's place decides.
   * @param {{ key: string, code: string }} event
   */
  findOption({ key, code }) {
    const written = key.toLowerCase();
    const index = this.keys.indexOf(written);
    if (index >= 0 || ASCII.test(written)) return index;
    if (DIGIT.test(written)) return this.keys.indexOf(String(digitValue(written)));
    const position = /^(?:Digit|Numpad|Key)(.)$/.exec(code)?.[1];
    return position ? this.keys.indexOf(position.toLowerCase()) : -1;
  }
}

/**
 * The value of a digit of any script: their ten digits stand in a row.
 * @param {string} digit
 */
function digitValue(digit) {
  let zero = /** @type {number} */ (digit.codePointAt(0));
  const value = zero;
  while (DIGIT.test(String.fromCodePoint(zero - 1)) && value - zero < 9) zero -= 1;
  return value - zero;
}
