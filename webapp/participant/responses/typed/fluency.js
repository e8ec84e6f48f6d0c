// @ts-check
/**
 * A list in a time limit: each Enter makes an entry of what is in the field. When the time is up,
 * what is still there is the last entry, and *Next* submits the list.
 */

/** @typedef {import("../../../static/trial_view.js").ResponseScript} ResponseScript */
/** @typedef {import("../../../static/presses.js").Press} Press */

const DAY_MS = 86_400_000;
const SECOND_MS = 1000;
// What no keyboard types: control characters, halves of characters, and marks that turn the text around them.
const UNTYPABLE = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu;
// With an input method some browsers report the key that ends a composition after it, but with this code.
const COMPOSING_KEY = 229;
const SEPARATOR = " | ";
// Who types on when the time is up does not submit the list unseen.
const SUBMITTABLE_AFTER_MS = 1000;

/** @type {ResponseScript["answer"]} */
export const answer = () => ({});

/** @type {ResponseScript["offered"]} */
export const offered = () => true;

/** @type {ResponseScript["view"]} */
export const view = (tools) => {
  const { place, signal } = tools;
  const list = new List(place, signal);
  return tools.makeTrialView({
    answer: () => /** @type {any} */ ({ details: list.details }),
    offered,
    keyless: true,
    shown: () => list.clear(),
    painted: (onsetMs) => list.start(onsetMs),
    completes: () => list.isSubmittable,
    closed: () => list.stop(),
  }, tools);
};

class List {
  #seconds;
  #mostEntries;
  #mostCharacters;
  #isOneWord;
  #input;
  #add;
  #next;
  #hint;
  #shown;
  #remaining;
  /** @type {{ text: string, ms: number }[]} */
  #entries = [];
  #onsetMs = NaN;
  #isLastUnfinished = false;
  #isPasted = false;
  #nEdits = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

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
    const { seconds, words, mostEntries, mostCharacters } = find(".listing").dataset;
    this.#seconds = Number(seconds);
    this.#isOneWord = words === "one";
    this.#mostEntries = Number(mostEntries);
    this.#mostCharacters = Number(mostCharacters);
    this.#input = /** @type {HTMLInputElement} */ (find("#typed-entry"));
    this.#add = /** @type {HTMLButtonElement} */ (find(".adding"));
    this.#next = /** @type {HTMLButtonElement} */ (find("[data-side]"));
    this.#hint = find("#typed-hint");
    this.#shown = find(".entries");
    this.#remaining = find(".remaining");
    this.#listen(signal);
  }

  /** Whether the time has been up long enough. */
  get isSubmittable() {
    return performance.now() - this.#onsetMs > this.#seconds * SECOND_MS + SUBMITTABLE_AFTER_MS;
  }

  /** The list as it is sent. */
  get details() {
    return {
      text: this.#entries.map(({ text }) => text).join(SEPARATOR),
      entry_ms: this.#entries.map(({ ms }) => (ms < DAY_MS ? Math.round(ms * 10) / 10 : null)),
      is_last_unfinished: this.#isLastUnfinished,
      pasted: this.#isPasted,
      n_edits: this.#nEdits,
    };
  }

  /** Removes the entries. The time starts when the trial is painted. */
  clear() {
    this.stop();
    this.#entries = [];
    this.#isLastUnfinished = this.#isPasted = false;
    this.#nEdits = 0;
    this.#onsetMs = NaN;
    this.#shown.replaceChildren();
    this.#hint.textContent = this.#input.value = "";
    this.#open(true);
    this.#input.focus({ preventScroll: true });
    this.#showRemaining(this.#seconds);
  }

  /** Stops the time; the list cannot be submitted again. */
  stop() {
    clearTimeout(this.#timer);
    this.#next.disabled = true;
  }

  /** @param {number} onsetMs When the trial was painted, by performance.now(). */
  start(onsetMs) {
    this.#onsetMs = onsetMs;
    this.#input.focus({ preventScroll: true });
    this.#countDown();
  }

  #countDown() {
    const leftMs = this.#onsetMs + this.#seconds * SECOND_MS - performance.now();
    if (leftMs <= 0) return this.#finish();
    this.#showRemaining(Math.ceil(leftMs / SECOND_MS));
    this.#timer = setTimeout(() => this.#countDown(), leftMs % SECOND_MS || SECOND_MS);
  }

  #finish() {
    this.#showRemaining(0);
    this.#isLastUnfinished = this.#addEntry(this.#seconds * SECOND_MS);
    this.#open(false);
    this.#hint.textContent = this.#hint.dataset.over ?? "";
  }

  /** @param {boolean} isOpen Whether entries can be made; if not, the list can be submitted. */
  #open(isOpen) {
    this.#input.readOnly = this.#add.disabled = !isOpen;
    this.#next.hidden = isOpen;
    this.#next.disabled = isOpen;
  }

  /** @param {number} seconds */
  #showRemaining(seconds) {
    this.#remaining.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }

  /** @param {AbortSignal} signal */
  #listen(signal) {
    const listening = { signal };
    this.#add.addEventListener("click", (event) => {
      this.#input.focus({ preventScroll: true });
      this.#addEntry(event.timeStamp - this.#onsetMs);
    }, listening);
    this.#input.addEventListener("keydown", (event) => {
      // The Enter that ends a composition takes a candidate, and makes no entry.
      if (event.key !== "Enter" || event.isComposing || event.keyCode === COMPOSING_KEY || event.repeat) return;
      event.preventDefault();
      this.#addEntry(event.timeStamp - this.#onsetMs);
    }, listening);
    this.#input.addEventListener("input", (event) => {
      this.#hint.textContent = "";
      const { inputType = "" } = /** @type {InputEvent} */ (event);
      this.#isPasted ||= /^insertFrom(Paste|Drop|Yank)/.test(inputType);
      this.#nEdits += Number(/^(delete(?!Composition)|history)/.test(inputType));
    }, listening);
  }

  /**
   * Makes an entry of what is in the field, and returns whether it is one.
   * @param {number} ms When, after the trial was painted.
   */
  #addEntry(ms) {
    const text = this.#input.value.replace(UNTYPABLE, "").replaceAll(SEPARATOR.trim(), " ").trim();
    if (!(ms >= 0) || !text || this.#input.readOnly) return false;
    if (this.#isOneWord && /\s/u.test(text)) {
      this.#hint.textContent = this.#hint.dataset.several ?? "";
      return false;
    }
    const entries = [...this.#entries, { text, ms }];
    const nCharacters = [...entries.map((entry) => entry.text).join(SEPARATOR)].length;
    if (entries.length > this.#mostEntries || nCharacters > this.#mostCharacters) return false;
    this.#entries = entries;
    this.#input.value = "";
    const shown = document.createElement("li");
    shown.dir = "auto";
    shown.textContent = text;
    this.#shown.append(shown);
    return true;
  }
}
