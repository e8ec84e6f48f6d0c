// @ts-check
/**
 * Typed answers: a sentence with gaps to type into, or a prompt with a line below it. The texts are kept
 * as typed, with the times of their first and last change and how they came about.
 *
 * @typedef {import("../../../static/trial_view.js").Tools} Tools
 * @typedef {import("../../../static/trial_sequence.js").Trial} Trial
 * @typedef {import("../../../static/presses.js").Press} Press
 *
 * How a text was typed, in milliseconds after the trial's appearance.
 * @typedef {{ first?: number, last?: number, edits: number, pasted: boolean, inserted: boolean, composed: boolean }} Typing
 */

const DAY_MS = 86_400_000;
// What no keyboard types: control characters, halves of characters, and marks that turn the text around them.
const UNTYPABLE = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu;
const INVISIBLE = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu;
const APOSTROPHES = /[\u2018\u2019\u02bc\u00b4`]/gu;
const OUTER_PUNCTUATION = /^[\p{P}\s]+|[\p{P}\s]+$/gu;
// Of the browsers' names for changes, those that put in what was not typed, and those that take something away.
const PASTED = /^insertFrom(Paste|Drop|Yank)/;
const INSERTED = /^(insertReplacementText|insertDictationResult)$/;
const DELETED = /^(delete(?!Composition)|history)/;
// With an input method some browsers report the key that ends a composition after it, but with this code.
const COMPOSING_KEY = 229;
// What stays on the line of a gap that it touches: a full stop, a Hebrew prefix. More would not fit on a phone, and
// scripts without spaces may break anywhere.
const LETTER = String.raw`[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`;
const TOUCHES_BEFORE = new RegExp(`^${LETTER}{1,6}(?=\\s|$)`, "u");
const TOUCHES_AFTER = new RegExp(`(?:^|\\s)(${LETTER}{1,6})$`, "u");
// Between the texts of several gaps, which contain none themselves.
const SEPARATOR = " | ";

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
  /** @type {HTMLInputElement[]} The fields for the most gaps of a text; those that it lacks are hidden. */
  #inputs;
  #hint;
  /** @type {Map<HTMLInputElement, Typing>} */
  #typings = new Map();
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
    this.#inputs = [...this.#group.querySelectorAll("input")];
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
    this.#conditions.reset();
    this.#trusted = true;
    this.#presses.showRefusal(false);
    this.#showHint("");
    this.#hideKeySettings();
    this.#enableButtons(true);
    for (const input of this.#inputs) {
      input.value = "";
      this.#typings.set(input, makeEmptyTyping());
    }
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
    for (const input of this.#inputs) input.readOnly = true;
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
    const direction = findDirection(String(trial.first ?? ""));
    this.#group.dir = direction;
    // A prompt is read, and answered on a line of its own.
    this.#group.classList.toggle("prompt", !trial.gap);
    for (const [index, input] of this.#inputs.entries()) {
      input.hidden = index > 0 && trial[`after${index + 1}`] === undefined;
      input.dir = direction;
      input.readOnly = false;
    }
    for (const input of this.#shownInputs) input.enterKeyHint = input === this.#shownInputs.at(-1) ? "done" : "next";
    // Browsers report when a box is first painted, and a sentence that runs around gaps is in the paragraph's: a change
    // of its display makes a new one, in which the fields keep the focus.
    const sentence = /** @type {HTMLElement} */ (this.#group.querySelector(".rated"));
    sentence.classList.toggle("new-box");
    const texts = [sentence];
    for (const field of this.#group.querySelectorAll("[data-field]")) {
      const name = /** @type {HTMLElement} */ (field).dataset.field ?? "";
      const sent = String(trial[name] ?? "");
      const number = name === "before" ? 0 : Number(/^after(\d*)$/.exec(name)?.[1].padStart(1, "1"));
      const [gapBefore, gapAfter] = [this.#inputs[number - 1], this.#inputs[number]];
      const [start, middle, end] = trial.gap ? divideText(sent, Boolean(gapBefore), gapAfter?.hidden === false) : ["", sent, ""];
      if (gapBefore?.nextElementSibling) texts.push(...this.#showText(gapBefore.nextElementSibling, start));
      texts.push(...this.#showText(field, middle));
      if (gapAfter?.previousElementSibling) texts.push(...this.#showText(gapAfter.previousElementSibling, end));
    }
    for (const [index, input] of this.#inputs.entries()) input.setAttribute("aria-label", this.#describeGap(trial, index));
    this.#inputs[0].focus({ preventScroll: true });
    this.#presses.reset();
    this.#clock.watch(texts, () => {
      if (this.trial !== trial) return;
      this.#checkDisplay();
      this.#deadline.startTimer(this.#clock.onset.ms);
    });
  }

  /**
   * Shows a text, and returns the elements to be painted.
   * @param {Element} place
   * @param {string} sent
   */
  #showText(place, sent) {
    // Browsers report presentation times of new elements only.
    const text = document.createElement("span");
    const pictures = this.#tools.setTextWithPictures(text, sent);
    text.dataset.sent = pictures.length ? "" : sent;
    place.replaceChildren(text);
    return sent.trim() ? [text, ...pictures] : [];
  }

  /** The fields of the shown trial's gaps. */
  get #shownInputs() {
    return this.#inputs.filter((input) => !input.hidden);
  }

  /**
   * Returns the sentence with the place of a gap, and a line for each other one.
   * @param {Trial} trial
   * @param {number} index The gap's number, from 0.
   */
  #describeGap(trial, index) {
    const shown = [...this.#group.querySelectorAll("img")].map((picture) => picture.alt);
    if (!trial.gap) return [...shown, trial.first].join(" ");
    const parts = [trial.before, trial.after, ...this.#inputs.slice(1).map((_, number) => trial[`after${number + 2}`])];
    const sentence = parts.filter((part) => part !== undefined).map((part, number) => {
      if (number === 0) return part;
      return (number === index + 1 ? `[${this.#inputs[index].dataset.gap}]` : "___") + part;
    });
    return [...shown, sentence.join("")].join(" ");
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
    for (const input of this.#inputs) this.#listenTo(input, listening);
    // A phone's keyboard takes half of the page: the sentence stays in the other half.
    const onResize = () => {
      if (document.activeElement?.matches(".typed input")) this.#group.scrollIntoView({ block: "nearest" });
    };
    window.visualViewport?.addEventListener("resize", onResize, listening);
  }

  /**
   * @param {HTMLInputElement} input
   * @param {{ signal: AbortSignal }} listening
   */
  #listenTo(input, listening) {
    input.addEventListener("keydown", (event) => {
      // The Enter that ends a composition takes a candidate, and is no answer.
      if (event.key !== "Enter" || event.isComposing || event.keyCode === COMPOSING_KEY || event.repeat) return;
      event.preventDefault();
      const following = this.#shownInputs[this.#shownInputs.indexOf(input) + 1];
      if (following && input.value.trim()) return following.focus();
      const { timeStamp: downMs, isTrusted: trusted } = event;
      const next = /** @type {HTMLElement} */ (this.#tools.place.querySelector("[data-side=typed]"));
      this.#submit(next, { downMs, upMs: null, method: "key", trusted });
    }, listening);
    input.addEventListener("input", (event) => this.#recordChange(input, /** @type {InputEvent} */ (event)), listening);
    input.addEventListener("compositionstart", () => (this.#typingOf(input).composed = true), listening);
  }

  /**
   * @param {HTMLInputElement} input
   * @returns {Typing}
   */
  #typingOf(input) {
    return this.#typings.get(input) ?? makeEmptyTyping();
  }

  /**
   * @param {HTMLInputElement} input
   * @param {InputEvent} event
   */
  #recordChange(input, event) {
    if (!this.trial) return;
    this.#showHint("");
    const typing = this.#typingOf(input);
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
   * Submits the texts, or that there is none for a single gap, or for those of several that are empty.
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
    const inputs = this.#shownInputs;
    const isTyped = option.dataset.side === "typed";
    const texts = inputs.map((input) => this.#readText(input, isTyped));
    for (const [index, text] of texts.entries()) {
      const problem = isTyped || text ? this.#findProblem(text.trim()) : "";
      if (!problem) continue;
      this.#showHint(problem, inputs[index]);
      return inputs[index].focus();
    }
    const typings = inputs.map((input) => this.#typingOf(input));
    const choice = {
      // The server judges the answers to all trials but those of the practice.
      ...(isAccepted(texts, /** @type {any} */ (trial).accepted) && { side: trial.correct }),
      details: {
        text: texts.some(Boolean) ? texts.join(SEPARATOR) : "",
        ...describeTyping(typings.reduce(joinTypings)),
        ...(inputs.length > 1 && { gaps: typings.map(describeTyping) }),
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
   * Returns what was typed into a field. A participant without an answer to a single gap has none,
   * whatever is in its field.
   * @param {HTMLInputElement} input
   * @param {boolean} isTyped Whether the participant has an answer to each gap.
   */
  #readText(input, isTyped) {
    const typed = input.value.replace(UNTYPABLE, "");
    // Of a study with several gaps, no text has a separator, not even one with a single gap.
    const text = this.#inputs.length > 1 ? typed.replaceAll(SEPARATOR.trim(), "") : typed;
    if (isTyped) return text;
    return this.#shownInputs.length > 1 && text.trim() ? text : "";
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

  /**
   * @param {string} problem
   * @param {HTMLInputElement} [input] The field whose text it is.
   */
  #showHint(problem, input) {
    const hint = this.#hint.dataset[problem] ?? "";
    this.#hint.textContent = hint.replace("{n}", this.#group.dataset.shortest ?? "");
    for (const field of this.#inputs) field.setAttribute("aria-invalid", String(field === input));
  }
}

/**
 * Divides a text into what touches the gap before it, the rest, and what touches the gap after it.
 * @param {string} text
 * @param {boolean} followsGap
 * @param {boolean} precedesGap
 */
function divideText(text, followsGap, precedesGap) {
  const start = followsGap ? TOUCHES_BEFORE.exec(text)?.[0] ?? "" : "";
  const rest = text.slice(start.length);
  const end = precedesGap ? TOUCHES_AFTER.exec(rest)?.[1] ?? "" : "";
  return [start, rest.slice(0, rest.length - end.length), end];
}

/**
 * Returns whether each gap has an accepted answer, or accepts any.
 * @param {string[]} texts
 * @param {string[][]} [accepted] The accepted answers of each gap; only practice trials have them.
 */
function isAccepted(texts, accepted) {
  const ofGaps = accepted ?? [];
  const isRight = (/** @type {string} */ text, /** @type {number} */ gap) =>
    !ofGaps[gap].length || ofGaps[gap].map(normalise).includes(normalise(text));
  return texts.length === ofGaps.length && texts.every(isRight);
}

/**
 * Returns the form in which answers are compared, by the rules in experiment/coding/normalise.py.
 * @param {string} text
 */
function normalise(text) {
  const words = text.normalize("NFC").replace(INVISIBLE, "").trim().replace(/\s+/gu, " ").replace(APOSTROPHES, "'");
  const bare = words.replace(OUTER_PUNCTUATION, "") || words;
  // Upper case first, as it is the same for letters that have several lower cases.
  return bare.toUpperCase().toLowerCase().normalize("NFC");
}

/** @returns {Typing} */
function makeEmptyTyping() {
  return { edits: 0, pasted: false, inserted: false, composed: false };
}

/**
 * Returns how two gaps were typed together: from the first change to the last.
 * @param {Typing} one
 * @param {Typing} other
 * @returns {Typing}
 */
function joinTypings(one, other) {
  const [firsts, lasts] = [[one.first, other.first], [one.last, other.last]]
    .map((times) => times.filter((ms) => ms !== undefined));
  return {
    first: firsts.length ? Math.min(...firsts) : undefined,
    last: lasts.length ? Math.max(...lasts) : undefined,
    edits: one.edits + other.edits,
    pasted: one.pasted || other.pasted,
    inserted: one.inserted || other.inserted,
    composed: one.composed || other.composed,
  };
}

/**
 * Returns how a text was typed as it is sent.
 * @param {Typing} typing
 */
function describeTyping({ first, last, edits, pasted, inserted, composed }) {
  return { first_key_ms: keepMs(first), last_key_ms: keepMs(last), n_edits: edits, pasted, inserted, composed };
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
