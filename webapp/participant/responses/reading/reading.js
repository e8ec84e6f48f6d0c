// @ts-check
/**
 * Self-paced reading and Maze: a sentence in steps. Each step is timed from its painting to the press
 * that ended it; a question may follow.
 *
 * @typedef {import("../../../static/trial_view.js").Tools} Tools
 * @typedef {import("../../../static/trial_sequence.js").Trial} Trial
 * @typedef {import("../../../static/presses.js").Press} Press
 * @typedef {import("../../../static/onset.js").Onset} Onset
 *
 * @typedef {Trial & { steps: string[], context?: string, distractors?: string[], right?: string, question?: string,
 *   answers?: Record<string, string> }} ReadingTrial
 */

const DAY_MS = 86_400_000;
// Two fingers that touch within this time belong to one gesture.
const ZOOM_MS = 250;

/** @type {Record<string, string[]>} The elements that each task requires. */
const ESSENTIAL = { maze: [".maze", ".asked"], self_paced: [".window", ".asked"] };

/** @type {import("../../../static/trial_view.js").ResponseScript["view"]} */
export const view = (tools) => {
  /** @type {HTMLElement | null} */
  const reader = tools.place.querySelector(".reader");
  const task = reader?.dataset.task ?? "";
  for (const selector of ESSENTIAL[task] ?? [".reader"]) {
    if (!tools.place.querySelector(selector)) throw new Error(`The page lacks ${selector}.`);
  }
  return task === "maze" ? new Maze(tools) : new SelfPaced(tools);
};

/** @type {import("../../../static/trial_view.js").ResponseScript["answer"]} */
export const answer = ({ dataset: { rating, side } }) => (rating ? { rating: Number(rating) } : { side });

/** @type {import("../../../static/trial_view.js").ResponseScript["offered"]} */
export const offered = () => true;

/** Shared by both tasks: the clock, the presses, the measures, and the question. */
class Reader {
  /** @type {ReadingTrial | undefined} The shown trial, until it is answered. */
  trial;
  /** The shown step; -1 before the first one, -2 at the context, Infinity at the question. */
  currentStep = -1;
  /** @type {number} When the first step was painted. */
  firstMs = NaN;
  /** @type {{ onset_ms: number[], rt_ms: (number | null)[], sources: string, uncertainty_ms:
   *   number[], wrong: number[], done_ms: (number | null)[], question_ms?: number | null,
   *   wait_ms?: number | null }} */
  steps = Reader.makeEmptySteps();
  #conditions;
  #trusted = true;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {Tools} tools */
  constructor(tools) {
    this.tools = tools;
    this.#conditions = new tools.TrialConditions(tools.place, tools.signal);
    this.clock = new tools.OnsetClock(tools.signal);
    const onTap = (/** @type {HTMLElement} */ option, /** @type {Press} */ press) => this.#handlePress(option, press);
    this.presses = new tools.Presses(tools.place, tools.signal, onTap);
    this.deadline = new tools.Deadline(tools.place, tools.settings.deadline_ms);
    this.reader = this.find(".reader");
    this.contextArea = this.find(".before");
    this.questionArea = this.find(".asked");
    this.#listen();
  }

  /** Whether a step of the last sentence ended after the deadline. */
  get late() {
    return this.deadline.late;
  }

  static makeEmptySteps() {
    return { onset_ms: [], rt_ms: [], sources: "", uncertainty_ms: [], wrong: [], done_ms: [] };
  }

  /**
   * Shows a trial after the study's gap between trials.
   * @param {Trial} trial
   */
  show(trial) {
    this.close();
    this.tools.place.classList.remove("over");
    this.deadline.reset();
    this.trial = /** @type {ReadingTrial} */ (trial);
    this.currentStep = -1;
    this.firstMs = NaN;
    this.steps = Reader.makeEmptySteps();
    this.#conditions.reset();
    this.#trusted = true;
    for (const option of this.findAll("[data-side]")) option.classList.remove("chosen", "expected");
    this.contextArea.hidden = true;
    this.contextArea.replaceChildren();
    this.presses.reset();
    this.questionArea.hidden = true;
    this.reader.hidden = false;
    this.layOutSentence(this.trial);
    this.#focusGroup(this.tools.place);
    window.scrollTo(0, 0);
    const { gap_ms = 0 } = this.tools.settings;
    this.tools.place.classList.toggle("between", gap_ms > 0);
    if (gap_ms > 0) this.runAfter(gap_ms, () => this.#startAfterGap());
    else this.#startAfterGap();
  }

  #startAfterGap() {
    this.tools.place.classList.remove("between");
    // Browsers remove the focus from elements hidden during the gap.
    if (document.activeElement === document.body) this.#focusGroup(this.tools.place);
    this.startSentence();
  }

  /** @param {HTMLElement} container */
  #focusGroup(container) {
    /** @type {HTMLElement | null} */ (container.querySelector("[role=group]"))?.focus({ preventScroll: true });
  }

  /** Stops accepting presses. */
  close() {
    clearTimeout(this.#timer);
    this.presses.showRefusal(false);
    this.trial = undefined;
    this.clock.stop();
    this.deadline.stop();
  }

  /**
   * Shows or hides the settings of the keys.
   * @param {boolean} shown
   */
  showKeySettings(shown) {
    this.find(".keys").hidden = !shown;
  }

  /**
   * Starts timing texts that are about to be painted.
   * @param {HTMLElement[]} texts New elements.
   * @param {string} announcement The text for screen readers.
   */
  timeTexts(texts, announcement) {
    const trial = this.trial;
    this.clock.watch(texts, () => {
      if (this.trial !== trial) return;
      for (const text of texts) {
        this.#conditions.checkPlacement(text);
        this.#conditions.checkText(text, text.dataset.sent);
      }
      this.#conditions.checkPage(texts);
      this.find("[data-step]").textContent = announcement;
      // The question and the context have no deadline.
      if (this.currentStep >= 0 && this.currentStep < Infinity) this.deadline.startTimer(this.clock.onset.ms);
    });
  }

  /**
   * Returns the time of a press since painting; undefined if the press does not count for this step.
   * @param {Press} press
   * @param {number} lockoutMs
   * @returns {{ ms: number, onset: Onset } | undefined}
   */
  timePress(press, lockoutMs = 0) {
    const onset = this.clock.onset;
    const ms = press.downMs - onset.ms;
    const reason = this.tools.Presses.whyEarly(ms, lockoutMs);
    if (reason) {
      this.refusePress(reason, press);
      return undefined;
    }
    this.presses.showRefusal(false);
    this.#trusted &&= press.trusted;
    return { ms, onset };
  }

  /**
   * Records a press that does not count, with the reason, and shows a message.
   * @param {string} reason
   * @param {Press} press
   * @param {boolean} [shown] Whether the message appears.
   */
  refusePress(reason, press, shown = true) {
    this.presses.showRefusal(shown);
    this.#conditions.recordPremature(reason, press.downMs - this.clock.onset.ms, press.method);
  }

  /**
   * Records a step's time.
   * @param {number} ms
   * @param {Onset} onset
   */
  recordStep(ms, onset) {
    if (Number.isNaN(this.firstMs)) this.firstMs = onset.ms;
    this.steps.onset_ms.push(Math.max(0, Math.min(roundToTenth(onset.ms - this.firstMs), DAY_MS)));
    this.steps.rt_ms.push(ms < DAY_MS ? roundToTenth(ms) : null);
    this.steps.sources += onset.source === "presentation" ? "p" : "f";
    this.steps.uncertainty_ms.push(roundToTenth(onset.uncertaintyMs ?? 0));
  }

  /**
   * Ends the sentence: shows its question or scale, or submits the answer.
   * @param {Press} press The last press.
   * @param {number} endMs When the last press began.
   */
  endSentence(press, endMs) {
    const { question, answers = {} } = /** @type {ReadingTrial} */ (this.trial);
    this.totalMs = endMs - this.firstMs;
    const rates = this.questionArea.dataset.scale !== undefined;
    if (!question && !rates) return this.submitAnswer(press, {});
    this.currentStep = Infinity;
    this.reader.hidden = true;
    this.questionArea.hidden = false;
    this.showKeySettings(true);
    this.#focusGroup(this.questionArea);
    if (!question) return this.#showScale();
    const texts = [replaceText(this.find(".asks"), question)];
    const words = [question];
    for (const option of this.findAllIn(this.questionArea, "[data-side]")) {
      const element = /** @type {HTMLElement} */ (option.querySelector(".sentence"));
      const text = answers[option.dataset.side ?? ""] ?? element.dataset.word ?? "";
      texts.push(replaceText(element, text));
      const key = option.getAttribute("aria-keyshortcuts");
      words.push(key ? `${key}: ${text}.` : `${text}.`);
    }
    this.timeTexts(texts, words.join(" "));
  }

  #showScale() {
    const words = [];
    const texts = this.findAllIn(this.questionArea, "[data-rating]").map((option) => {
      words.push(`${option.getAttribute("aria-label") ?? option.dataset.rating}.`);
      return replaceText(/** @type {HTMLElement} */ (option.querySelector(".point")), option.dataset.rating ?? "");
    });
    this.timeTexts(texts, words.join(" "));
  }

  /**
   * Submits the answer.
   * @param {Press} press
   * @param {{ side?: string, rating?: number }} answerFields
   */
  submitAnswer(press, answerFields) {
    const trial = /** @type {ReadingTrial} */ (this.trial);
    const { steps, totalMs = NaN } = this;
    const choice = {
      ...answerFields,
      steps,
      rt_ms: totalMs < DAY_MS ? roundToTenth(totalMs) : null,
      release_ms: null,
      input_method: press.method,
      onset_source: /^p+$/.test(steps.sources) ? "presentation" : "frames",
      onset_uncertainty_ms: Math.max(...steps.uncertainty_ms),
      trusted: this.#trusted,
      ...this.presses.pointerData,
      ...this.#conditions.fields,
    };
    this.close();
    // After a practice trial the sentence stays visible next to Continue, but accepts no presses.
    this.tools.place.classList.add("over");
    this.tools.onChoice(trial, /** @type {any} */ (choice), undefined);
  }

  /**
   * @param {number} ms
   * @param {() => void} act
   */
  runAfter(ms, act) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, ms);
  }

  #listen() {
    const listening = { signal: this.tools.signal };
    for (const option of this.findAll("[data-side]")) {
      option.addEventListener("click", (event) => {
        if (!this.endsTakenPress(event)) this.#handlePress(option, this.presses.fromClick(event));
      }, listening);
    }
    const onKey = (/** @type {KeyboardEvent} */ event) => {
      if (!this.trial || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.target instanceof Element && event.target.closest("input, textarea, select, summary, a")) return;
      const { timeStamp: downMs, isTrusted: trusted } = event;
      this.onKey(event, { downMs, upMs: null, method: "key", trusted });
    };
    document.addEventListener("keydown", onKey, listening);
  }

  /**
   * Whether a click only ends a press that was taken when it began.
   * @param {MouseEvent} _event
   */
  endsTakenPress(_event) {
    return false;
  }

  /**
   * @param {KeyboardEvent} event
   * @param {Press} press
   */
  onKey(event, press) {
    const { keys } = this.tools;
    if (!keys.on) return;
    const group = this.currentStep === Infinity ? this.questionArea : this.reader;
    const option = this.findAllIn(group, "[data-side]")[keys.findOption(event)];
    if (option) this.#handlePress(option, press);
  }

  /**
   * @param {HTMLElement} option
   * @param {Press} press
   */
  #handlePress(option, press) {
    if (!this.trial) return;
    if (!this.questionArea.contains(option)) return this.chooseWord(option, press);
    const timing = this.timePress(press, this.tools.settings.lockout_ms);
    if (!timing) return;
    this.steps.question_ms = timing.ms < DAY_MS ? roundToTenth(timing.ms) : null;
    option.classList.add("chosen");
    this.submitAnswer(press, answer(option));
  }

  /**
   * Handles the choice of a Maze word.
   * @param {HTMLElement} _option
   * @param {Press} _press
   */
  chooseWord(_option, _press) {}

  /**
   * Lays out a sentence before its first step is shown.
   * @param {ReadingTrial} _trial
   */
  layOutSentence(_trial) {}

  /** Starts the sentence. */
  startSentence() {}

  /**
   * @param {string} selector
   * @returns {HTMLElement}
   */
  find(selector) {
    return this.tools.place.querySelector(selector) ?? document.createElement("div");
  }

  /** @param {string} selector */
  findAll(selector) {
    return this.findAllIn(this.tools.place, selector);
  }

  /**
   * @param {Element} container
   * @param {string} selector
   * @returns {HTMLElement[]}
   */
  findAllIn(container, selector) {
    return [...container.querySelectorAll(selector)].map((element) => /** @type {HTMLElement} */ (element));
  }
}

class SelfPaced extends Reader {
  /** @type {HTMLElement[]} */
  #stepElements = [];
  /** Whether the current pointer press has already shown the next step, before its click. */
  #pointerHandled = false;
  /** When a primary pointer last went down. */
  #fingerMs = -Infinity;
  /** @type {string | undefined} The held key, which has already shown the next step. */
  #heldKey;

  /** @param {Tools} tools */
  constructor(tools) {
    super(tools);
    const stage = /** @type {HTMLElement} */ (this.reader.closest(".stage") ?? this.reader);
    // The next step appears when the press begins, not when it ends.
    stage.addEventListener("pointerdown", (event) => {
      if (event.button > 0) return;
      const isSecondFinger = !event.isPrimary && event.timeStamp - this.#fingerMs < ZOOM_MS;
      if (event.isPrimary) {
        // Answers to the question count when the press ends.
        this.#pointerHandled = !this.trial || this.currentStep !== Infinity;
        this.#fingerMs = event.timeStamp;
      }
      if (!this.trial || this.currentStep === Infinity) return;
      const method = event.pointerType === "touch" ? "touch" : "pointer";
      const { timeStamp: downMs, isTrusted: trusted } = event;
      const press = /** @type {Press} */ ({ downMs, upMs: null, method, trusted });
      // Two fingers at once may zoom the page; a second finger counts only if the first one is resting.
      if (isSecondFinger) return this.refusePress("second_finger", press);
      event.preventDefault();
      this.#goToNextStep(press);
    }, { signal: tools.signal });
    // Voice control, switches and screen readers click without a pointer, at any time.
    this.find("[data-next]").addEventListener("click", (event) => {
      if (this.endsTakenPress(event)) return;
      const { timeStamp: downMs, isTrusted: trusted } = event;
      this.#goToNextStep({ downMs, upMs: null, method: "key", trusted });
    }, { signal: tools.signal });
    const reset = () => (this.#pointerHandled = false);
    document.addEventListener("click", reset, { signal: tools.signal });
    document.addEventListener("pointercancel", reset, { signal: tools.signal });
    // Releasing a handled key must not press the focused button again.
    const onUp = (/** @type {KeyboardEvent} */ event) => {
      if (event.code !== this.#heldKey) return;
      event.preventDefault();
      this.#heldKey = undefined;
    };
    document.addEventListener("keyup", onUp, { signal: tools.signal, capture: true });
  }

  /**
   * The last press of a sentence shows the question under the finger, and its click can hit an answer.
   * @param {MouseEvent} event
   */
  endsTakenPress(event) {
    return this.#pointerHandled && event.detail > 0;
  }

  /** @param {ReadingTrial} trial */
  layOutSentence({ steps }) {
    const centred = this.reader.dataset.display === "centred";
    const window_ = this.find(".window");
    window_.hidden = false;
    // The space bar, not one of these keys, shows the next step.
    this.showKeySettings(false);
    window_.replaceChildren();
    // Words of the other direction must not reverse the line.
    window_.dir = findDirection(steps.join(" "));
    this.#stepElements = steps.map((text, number) => {
      const element = document.createElement("span");
      element.className = "step masked";
      const spacer = document.createElement("span");
      spacer.className = "room";
      spacer.textContent = text;
      spacer.setAttribute("aria-hidden", "true");
      element.append(spacer);
      if (number && !centred && needsSpace(steps[number - 1], text)) window_.append(" ");
      window_.append(element);
      return element;
    });
  }

  startSentence() {
    const { context } = /** @type {ReadingTrial} */ (this.trial);
    // The first press shows the first step, so that the participant is ready for it.
    if (!context) return this.#showStep();
    this.currentStep = -2;
    this.#showContext(true);
    this.timeTexts([replaceText(this.contextArea, context)], context);
  }

  /**
   * Shows the context or the sentence.
   * @param {boolean} shown
   */
  #showContext(shown) {
    this.contextArea.hidden = !shown;
    this.find(".window").hidden = shown;
  }

  /**
   * @param {KeyboardEvent} event
   * @param {Press} press
   */
  onKey(event, press) {
    if (this.currentStep === Infinity) return super.onKey(event, press);
    if (event.key !== " " && event.key !== "Enter") return;
    // Do not also press the focused button.
    event.preventDefault();
    this.#heldKey = event.code;
    this.#goToNextStep(press);
  }

  /** @param {Press} press */
  #goToNextStep(press) {
    const { trial } = this;
    if (!trial || this.currentStep === Infinity) return;
    const timing = this.timePress(press);
    if (!timing) return;
    if (this.currentStep >= 0) {
      this.deadline.recordAnswer(timing.ms);
      this.recordStep(timing.ms, timing.onset);
    } else this.#addWait(timing.ms);
    this.currentStep += 1;
    if (this.currentStep === -1) this.#showContext(false);
    if (this.currentStep === trial.steps.length) return this.endSentence(press, press.downMs);
    this.#showStep();
  }

  /**
   * Adds to the waiting time before the first step, which includes the context and the masked sentence.
   * @param {number} ms
   */
  #addWait(ms) {
    const totalWait = ms + (this.steps.wait_ms ?? 0);
    const isKnown = this.steps.wait_ms !== null && totalWait < DAY_MS;
    this.steps.wait_ms = isKnown ? roundToTenth(totalWait) : null;
  }

  #showStep() {
    const { trial, currentStep } = this;
    if (!trial) return;
    const stays = this.reader.dataset.display === "cumulative";
    this.#stepElements.forEach((element, number) => {
      const shown = number === currentStep || (stays && number < currentStep);
      element.classList.toggle("masked", !shown);
      element.classList.toggle("current", number === currentStep);
      if (!shown) element.querySelector(".text")?.remove();
    });
    const element = this.#stepElements[currentStep];
    if (!element) return this.timeTexts([], "");
    const text = document.createElement("span");
    text.className = "text";
    text.textContent = text.dataset.sent = trial.steps[currentStep];
    element.append(text);
    this.timeTexts([text], trial.steps[currentStep]);
  }
}

class Maze extends Reader {
  /** The number of wrong choices at this step. */
  #errorCount = 0;
  /** @type {{ ms: number, onset: Onset } | undefined} */
  #firstChoice;
  #stopped = false;

  startSentence() {
    this.#showStep(0);
  }

  /** @param {number} currentStep */
  #showStep(currentStep) {
    const { steps, distractors = [], right = "" } = /** @type {ReadingTrial} */ (this.trial);
    this.currentStep = currentStep;
    this.#errorCount = 0;
    this.#firstChoice = undefined;
    this.#showError(false);
    const words = [steps[currentStep], distractors[currentStep]];
    if (right[currentStep] === "r") words.reverse();
    const options = this.#options();
    const texts = options.map((option, side) => {
      option.classList.remove("chosen");
      return replaceText(/** @type {HTMLElement} */ (option.querySelector(".sentence")), words[side]);
    });
    this.timeTexts(texts, words.join(", "));
  }

  layOutSentence() {
    const { context = "" } = /** @type {ReadingTrial} */ (this.trial);
    this.contextArea.hidden = !context;
    if (context) replaceText(this.contextArea, context);
    this.#showError(false);
    for (const option of this.#options()) option.querySelector(".sentence")?.replaceChildren();
  }

  #options() {
    return this.findAllIn(this.reader, "[data-side]");
  }

  /**
   * @param {boolean} isWrong Whether the last choice was wrong.
   * @param {boolean} [stopped] Whether choices are ignored for now.
   */
  #showError(isWrong, stopped = false) {
    this.find(".said").hidden = !isWrong;
    this.#stopped = stopped;
    this.find(".waits").hidden = !stopped;
    this.find(".goes-on").hidden = stopped;
    this.reader.classList.toggle("stopped", stopped);
  }

  /**
   * @param {HTMLElement} option
   * @param {Press} press
   */
  chooseWord(option, press) {
    const { trial, currentStep } = this;
    if (!trial || currentStep === Infinity) return;
    // The page says already that choices wait, or that the sentence has ended.
    if (this.#stopped) return this.refusePress("pause", press, false);
    const timing = this.timePress(press, this.tools.settings.lockout_ms);
    if (!timing) return;
    if (!this.#firstChoice) this.deadline.recordAnswer(timing.ms);
    this.#firstChoice ??= timing;
    const isRight = (this.#options()[0] === option) === (trial.right?.[currentStep] === "l");
    if (!isRight) return this.#handleError(press);
    this.#showError(false);
    this.#keepStep(timing.ms);
    if (currentStep + 1 === trial.steps.length) return this.endSentence(press, press.downMs);
    this.#showStep(currentStep + 1);
  }

  /** @param {Press} press */
  #handleError(press) {
    this.#errorCount += 1;
    const { onError, delay } = this.reader.dataset;
    if (onError === "end") {
      this.#keepStep(null);
      this.totalMs = press.downMs - this.firstMs;
      this.#showError(true, true);
      return this.runAfter(Number(delay), () => this.submitAnswer(press, {}));
    }
    this.#showError(true, onError === "delay");
    if (onError === "delay") this.runAfter(Number(delay), () => this.#showError(true));
  }

  /** @param {number | null} doneMs */
  #keepStep(doneMs) {
    const first = /** @type {{ ms: number, onset: Onset }} */ (this.#firstChoice);
    this.recordStep(first.ms, first.onset);
    this.steps.wrong.push(Math.min(this.#errorCount, 1000));
    this.steps.done_ms.push(doneMs === null || doneMs >= DAY_MS ? null : roundToTenth(doneMs));
  }
}

/**
 * Puts a text into an element as a new child, because browsers report when new elements are painted.
 * @param {HTMLElement} element
 * @param {string} sent
 */
function replaceText(element, sent) {
  const text = document.createElement("span");
  text.dir = "auto";
  text.textContent = text.dataset.sent = sent;
  element.replaceChildren(text);
  return text;
}

/** @param {number} ms */
function roundToTenth(ms) {
  return Math.round(ms * 10) / 10;
}

/**
 * Returns whether a space separates two steps: not if both are in a script without spaces.
 * @param {string} before
 * @param {string} after
 */
function needsSpace(before, after) {
  const spaceless = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}\u3000-\u303f\uff00-\uffef]/u;
  return !(spaceless.test(before.slice(-1)) && spaceless.test(after.slice(0, 1)));
}

/**
 * Returns the direction of a text: that of its first letter with a direction.
 * @param {string} text
 */
function findDirection(text) {
  const first = /[\p{L}]/u.exec(text)?.[0] ?? "";
  return /[\p{sc=Hebr}\p{sc=Arab}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}]/u.test(first) ? "rtl" : "ltr";
}
