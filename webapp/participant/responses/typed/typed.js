// @ts-check
/**
 * Typed answers: a sentence with a gap to type into, or a prompt with a line below it. The text is kept
 * as typed, with the times of its first and last change and how it came about.
 *
 * @typedef {import("../../../static/trial_view.js").Tools} Tools
 * @typedef {import("../../../static/trial_sequence.js").Trial} Trial
 * @typedef {import("../../../static/presses.js").Press} Press
 */

const DAY_MS = 86_400_000;
// What no keyboard types: control characters, halves of characters, and marks that turn the text around them.
const UNTYPABLE = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu;
// Of the browsers' names for changes, those that put in what was not typed, and those that take something away.
const PASTED = /^insertFrom(Paste|Drop|Yank)/;
const INSERTED = /^(insertReplacementText|insertDictationResult)$/;
const DELETED = /^(delete(?!Composition)|history)/;
// With an input method some browsers report the key that ends a composition after it, but with this code.
const COMPOSING_KEY = 229;

/** @type {import("../../../static/trial_view.js").ResponseScript["view"]} */
export const view = (tools) => {
  for (const selector of ["#typed-text", "[data-side]", "[data-field=before]"]) {
    if (!tools.place.querySelector(selector)) throw new Error(`The page lacks ${selector}.`);
  }
  return new TypedView(tools);
};

/** @type {import("../../../static/trial_view.js").ResponseScript["answer"]} */
export const answer = () => ({});

/** @type {import("../../../static/trial_view.js").ResponseScript["offered"]} */
export const offered = () => true;

class TypedView {
  /** @type {Trial | undefined} The shown trial, until it is answered. */
  trial;
  #tools;
  #conditions;
  #clock;
  #presses;
  #deadline;
  #group;
  #input;
  #hint;
  /** @type {{ first?: number, last?: number, edits: number, pasted: boolean, inserted: boolean, composed: boolean }} */
  #typing = makeEmptyTyping();
  #trusted = true;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #gapTimer;

  /** @param {Tools} tools */
  constructor(tools) {
    this.#tools = tools;
    const { place, signal, settings } = tools;
    this.#conditions = new tools.TrialConditions(place, signal);
    this.#clock = new tools.OnsetClock(signal);
    this.#presses = new tools.Presses(place, signal, (option, press) => this.#submit(option, press));
    this.#deadline = new tools.Deadline(place, settings.deadline_ms);
    this.#group = /** @type {HTMLElement} */ (place.querySelector(".typed"));
    this.#input = /** @type {HTMLInputElement} */ (place.querySelector("#typed-text"));
    this.#hint = /** @type {HTMLElement} */ (place.querySelector("#typed-hint"));
    this.#listen();
  }

  /** Whether the last answer came after the deadline. */
  get late() {
    return this.#deadline.late;
  }

  /**
   * Shows a trial after the study's gap between trials.
   * @param {Trial} trial
   */
  show(trial) {
    this.close();
    this.trial = trial;
    this.#deadline.reset();
    this.#typing = makeEmptyTyping();
    this.#conditions.reset();
    this.#trusted = true;
    this.#presses.showRefusal(false);
    this.#showHint("");
    this.#hideKeySettings();
    this.#enableButtons(true);
    this.#input.value = "";
    const { gap_ms = 0 } = this.#tools.settings;
    this.#tools.place.classList.toggle("between", gap_ms > 0);
    window.scrollTo(0, 0);
    if (gap_ms > 0) this.#gapTimer = setTimeout(() => this.#showTexts(trial), gap_ms);
    else this.#showTexts(trial);
  }

  /** Stops accepting answers. */
  close() {
    clearTimeout(this.#gapTimer);
    this.trial = undefined;
    this.#input.readOnly = true;
    this.#clock.stop();
    this.#deadline.stop();
  }

  /** Hides the settings of the keys: nothing is chosen by a key here. */
  #hideKeySettings() {
    const settings = /** @type {HTMLElement | null} */ (this.#tools.place.querySelector(".keys"));
    if (settings) settings.hidden = true;
  }

  /** @param {boolean} enabled */
  #enableButtons(enabled) {
    for (const button of this.#group.querySelectorAll("button")) button.disabled = !enabled;
  }

  /** @param {Trial} trial */
  #showTexts(trial) {
    this.#tools.place.classList.remove("between");
    const sentence = String(trial.first ?? "");
    const direction = findDirection(sentence);
    this.#group.dir = direction;
    // A prompt is read, and answered on a line of its own.
    this.#group.classList.toggle("prompt", !trial.gap);
    this.#input.dir = direction;
    this.#input.setAttribute("aria-label", trial.gap ? `${trial.before}[${this.#input.dataset.gap}]${trial.after}` : sentence);
    /** @type {HTMLElement[]} */
    const texts = [];
    for (const field of this.#group.querySelectorAll("[data-field]")) {
      const sent = String(trial[/** @type {HTMLElement} */ (field).dataset.field ?? ""] ?? "");
      // Browsers report presentation times of new elements only.
      const text = document.createElement("span");
      text.textContent = text.dataset.sent = sent;
      field.replaceChildren(text);
      if (sent.trim()) texts.push(text);
    }
    this.#input.readOnly = false;
    this.#input.focus({ preventScroll: true });
    this.#presses.reset();
    this.#clock.watch(texts, () => {
      if (this.trial !== trial) return;
      this.#checkDisplay();
      this.#deadline.startTimer(this.#clock.onset.ms);
    });
  }

  #checkDisplay() {
    const texts = [...this.#group.querySelectorAll("[data-sent]")].map((text) => /** @type {HTMLElement} */ (text));
    for (const text of texts) {
      this.#conditions.checkPlacement(text);
      this.#conditions.checkText(text, text.dataset.sent);
    }
    this.#conditions.checkPage(texts);
  }

  #listen() {
    const { place, signal } = this.#tools;
    const listening = { signal };
    for (const option of place.querySelectorAll("[data-side]")) {
      option.addEventListener("click", (event) => {
        this.#submit(/** @type {HTMLElement} */ (option), this.#presses.fromClick(/** @type {MouseEvent} */ (event)));
      }, listening);
    }
    this.#input.addEventListener("keydown", (event) => {
      // The Enter that ends a composition takes a candidate, and is no answer.
      if (event.key !== "Enter" || event.isComposing || event.keyCode === COMPOSING_KEY || event.repeat) return;
      event.preventDefault();
      const { timeStamp: downMs, isTrusted: trusted } = event;
      const next = /** @type {HTMLElement} */ (place.querySelector("[data-side=typed]"));
      this.#submit(next, { downMs, upMs: null, method: "key", trusted });
    }, listening);
    this.#input.addEventListener("input", (event) => this.#recordChange(/** @type {InputEvent} */ (event)), listening);
    this.#input.addEventListener("compositionstart", () => (this.#typing.composed = true), listening);
    // A phone's keyboard takes half of the page: the sentence stays in the other half.
    const onResize = () => {
      if (document.activeElement === this.#input) this.#group.scrollIntoView({ block: "nearest" });
    };
    window.visualViewport?.addEventListener("resize", onResize, listening);
  }

  /** @param {InputEvent} event */
  #recordChange(event) {
    if (!this.trial) return;
    this.#showHint("");
    const typing = this.#typing;
    const ms = event.timeStamp - this.#clock.onset.ms;
    typing.first ??= ms;
    typing.last = ms;
    this.#trusted &&= event.isTrusted;
    const { inputType = "", data } = event;
    typing.edits += Number(DELETED.test(inputType));
    typing.pasted ||= PASTED.test(inputType);
    // What fills in forms names no kind of change; a suggestion comes as a whole word.
    const isWhole = inputType === "insertText" && !event.isComposing && [...(data ?? "")].length > 1;
    typing.inserted ||= !inputType || INSERTED.test(inputType) || isWhole;
  }

  /**
   * Submits the text, or that there is none.
   * @param {HTMLElement} option
   * @param {Press} press
   */
  #submit(option, press) {
    const { trial } = this;
    if (!trial) return;
    const onset = this.#clock.onset;
    const rtMs = press.downMs - onset.ms;
    const reason = this.#tools.Presses.whyEarly(rtMs, this.#tools.settings.lockout_ms);
    this.#presses.showRefusal(Boolean(reason));
    if (reason) return this.#conditions.recordPremature(reason, rtMs, press.method);
    const isTyped = option.dataset.side === "typed";
    const text = isTyped ? this.#input.value.replace(UNTYPABLE, "") : "";
    const problem = isTyped ? this.#findProblem(text.trim()) : "";
    if (problem) {
      this.#showHint(problem);
      return this.#input.focus();
    }
    const { first, last, edits, pasted, inserted, composed } = this.#typing;
    const choice = {
      details: {
        text,
        first_key_ms: keepMs(first),
        last_key_ms: keepMs(last),
        n_edits: edits,
        pasted,
        inserted,
        composed,
      },
      rt_ms: rtMs < DAY_MS ? rtMs : null,
      release_ms: null,
      input_method: press.method,
      onset_source: onset.source,
      onset_uncertainty_ms: onset.uncertaintyMs,
      trusted: this.#trusted && press.trusted,
      ...this.#presses.pointerData,
      ...this.#conditions.fields,
    };
    this.#deadline.recordAnswer(rtMs);
    this.close();
    this.#enableButtons(false);
    this.#tools.onChoice(trial, /** @type {any} */ (choice), undefined);
  }

  /**
   * Returns which of the hints says why a text is no answer; empty if it is one.
   * @param {string} text
   */
  #findProblem(text) {
    const { words, shortest = "1" } = this.#group.dataset;
    if (!text) return "empty";
    if (words === "one" && /\s/u.test(text)) return "several";
    return [...text].length < Number(shortest) ? "short" : "";
  }

  /** @param {string} problem */
  #showHint(problem) {
    const hint = this.#hint.dataset[problem] ?? "";
    this.#hint.textContent = hint.replace("{n}", this.#group.dataset.shortest ?? "");
    this.#input.setAttribute("aria-invalid", String(Boolean(problem)));
  }
}

function makeEmptyTyping() {
  return { edits: 0, pasted: false, inserted: false, composed: false };
}

/**
 * Returns a time that can be stored, to a tenth of a millisecond; null for any other.
 * @param {number | undefined} ms
 */
function keepMs(ms) {
  const isKept = ms !== undefined && ms >= 0 && ms < DAY_MS;
  return isKept ? Math.round(ms * 10) / 10 : null;
}

/**
 * Returns the direction of a text: that of its first letter.
 * @param {string} text
 */
function findDirection(text) {
  const first = /\p{L}/u.exec(text)?.[0] ?? "";
  return /[\p{sc=Hebr}\p{sc=Arab}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}]/u.test(first) ? "rtl" : "ltr";
}
