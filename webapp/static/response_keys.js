// @ts-check
/** Maps keys to options on every keyboard layout, and stores whether keys are switched on. */

import { loadValue, saveValue } from "./browser_storage.js";

/** @typedef {import("./browser_storage.js").KeyPreferences} KeyPreferences */

const PREFERENCES = "keys";
const ASCII = /^[a-z0-9]$/;
const DIGIT = /^\p{Nd}$/u;

export class ResponseKeys {
  /** @type {KeyPreferences} */
  #preferences = { on: true, keys: [] };
  /** Called when a new task's keys are set. */
  onTaskChange = () => {};

  /** @param {string[]} study The study's keys, one for each option. */
  constructor(study) {
    this.setTaskKeys(study);
  }

  /**
   * Sets the keys of a task, or the participant's own keys if they fit its number of options.
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

  /** The current keys, in the order of the options. */
  get keys() {
    return this.#preferences.keys;
  }

  /**
   * Changes the keys or switches them off; stored for all sessions in this browser.
   * @param {KeyPreferences} preferences
   * @returns {boolean} Whether every key is a single character and all keys differ.
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
   * Returns the index of the option that a key selects; -1 for none.
   *
   * The typed character decides. If it is neither a Latin letter nor a digit, as in the digit row of
   * a French keyboard or on an Arabic one, the physical key decides.
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
 * Returns the value of a digit of any script; Unicode lists the ten digits of a script in order.
 * @param {string} digit
 */
function digitValue(digit) {
  let zero = /** @type {number} */ (digit.codePointAt(0));
  const value = zero;
  while (DIGIT.test(String.fromCodePoint(zero - 1)) && value - zero < 9) zero -= 1;
  return value - zero;
}
