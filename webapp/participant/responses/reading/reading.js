// @ts-check
/**
 * A sentence is read step by step. Each step is timed from the frame that painted it to the time
 * stamp of the press that ended it; a question may follow.
 *
 * @typedef {import("../../../static/trial.js").Tools} Tools
 * @typedef {import("../../../static/sequence.js").Trial} Trial
 * @typedef {import("../../../static/presses.js").Press} Press
 * @typedef {import("../../../static/onset.js").Onset} Onset
 *
 * @typedef {Trial & { steps: string[], context?: string, distractors?: string[], right?: string, question?: string,
 *   answers?: Record<string, string> }} Read
 */

const DAY_MS = 86_400_000;
const MOST_PREMATURE = 20;
// Two fingers that come within this time come together.
const ZOOM_MS = 250;

/** @type {Record<string, string[]>} What no sentence can be read or answered without. */
const ESSENTIAL = { maze: [".maze", ".asked"], self_paced: [".window", ".asked"] };

/** @type {import("../../../static/trial.js").ReadsAnswers["view"]} */
export const view = (tools) => {
  /** @type {HTMLElement | null} */
  const reader = tools.place.querySelector(".reader");
  const task = reader?.dataset.task ?? "";
  for (const selector of ESSENTIAL[task] ?? [".reader"]) {
    if (!tools.place.querySelector(selector)) throw new Error(`The page lacks ${selector}.`);
  }
  return task === "maze" ? new Maze(tools) : new SelfPaced(tools);
};

/** @type {import("../../../static/trial.js").ReadsAnswers["answer"]} */
export const answer = ({ dataset: { rating, side } }) => (rating ? { rating: Number(rating) } : { side });

/** @type {import("../../../static/trial.js").ReadsAnswers["offered"]} */
export const offered = () => true;

/** What both ways of reading have: the clock, the presses, what is measured, and the question. */
class Reader {
  /** @type {Read | undefined} The trial on the screen, until it is answered. */
  trial;
  /** The step on the screen; -1 before the first one, -2 at the context, Infinity at the question. */
  at = -1;
  /** @type {number} When the first step was painted. */
  firstMs = NaN;
  /** @type {{ onset_ms: number[], rt_ms: (number | null)[], sources: string, uncertainty_ms:
   *   number[], wrong: number[], done_ms: (number | null)[], question_ms?: number | null,
   *   wait_ms?: number | null }} */
  steps = Reader.noSteps();
  /** @type {{ reason: string, input_method: string, ms: number | null }[]} */
  #premature = [];
  #trusted = true;
  #wasHidden = false;
  #lostFocus = false;
  /** @type {Set<"text" | "scroll" | "zoom" | "font">} */
  #broken = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {Tools} tools */
  constructor(tools) {
    this.tools = tools;
    this.clock = new tools.OnsetClock(tools.signal);
    const onTap = (/** @type {HTMLElement} */ option, /** @type {Press} */ press) => this.#chosen(option, press);
    this.presses = new tools.Presses(tools.place, tools.signal, onTap);
    this.deadline = new tools.Deadline(tools.place, tools.settings.deadline_ms);
    this.reader = this.find(".reader");
    this.before = this.find(".before");
    this.asked = this.find(".asked");
    this.#listen();
  }

  /** Whether a step of the last sentence was left after the deadline. */
  get late() {
    return this.deadline.late;
  }

  static noSteps() {
    return { onset_ms: [], rt_ms: [], sources: "", uncertainty_ms: [], wrong: [], done_ms: [] };
  }

  /**
   * Shows a trial, after the study's gap.
   * @param {Trial} trial
   */
  show(trial) {
    this.close();
    this.tools.place.classList.remove("over");
    this.deadline.begin();
    this.trial = /** @type {Read} */ (trial);
    this.at = -1;
    this.firstMs = NaN;
    this.steps = Reader.noSteps();
    this.#premature = [];
    this.#trusted = true;
    this.#broken.clear();
    this.#wasHidden = document.hidden;
    this.#lostFocus = false;
    for (const option of this.all("[data-side]")) option.classList.remove("chosen", "expected");
    this.before.hidden = true;
    this.before.replaceChildren();
    this.presses.forget();
    this.asked.hidden = true;
    this.reader.hidden = false;
    this.lay(this.trial);
    this.#focusGroup(this.tools.place);
    window.scrollTo(0, 0);
    const { gap_ms = 0 } = this.tools.settings;
    this.tools.place.classList.toggle("between", gap_ms > 0);
    if (gap_ms > 0) this.later(gap_ms, () => this.#begin());
    else this.#begin();
  }

  #begin() {
    this.tools.place.classList.remove("between");
    // A browser takes the focus from what is hidden during the gap.
    if (document.activeElement === document.body) this.#focusGroup(this.tools.place);
    this.begin();
  }

  /** @param {HTMLElement} within */
  #focusGroup(within) {
    /** @type {HTMLElement | null} */ (within.querySelector("[role=group]"))?.focus({ preventScroll: true });
  }

  /** Takes no press any more. */
  close() {
    clearTimeout(this.#timer);
    this.trial = undefined;
    this.clock.stop();
    this.deadline.stop();
  }

  /**
   * Begins to time texts that are about to be painted.
   * @param {HTMLElement[]} texts New elements.
   * @param {string} said What a screen reader says of them.
   */
  watch(texts, said) {
    const trial = this.trial;
    this.clock.watch(texts, () => {
      if (this.trial !== trial) return;
      for (const text of texts) this.#examine(text);
      this.find("[data-step]").textContent = said;
      // A question has no deadline, nor what stands before the first step.
      if (this.at >= 0 && this.at < Infinity) this.deadline.count(this.clock.onset.ms);
    });
  }

  /** @param {HTMLElement} text */
  #examine(text) {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    const beyond = left < -1 || right > window.innerWidth + 1;
    if (beyond || top < -1 || bottom > window.innerHeight + 1) this.#broken.add("scroll");
    if (text.dataset.sent !== undefined && text.textContent !== text.dataset.sent) this.#broken.add("text");
    if ((window.visualViewport?.scale ?? 1) > 1.01) this.#broken.add("zoom");
    if (this.tools.isOtherFont(this.tools.place, [text])) this.#broken.add("font");
  }

  /**
   * Returns the time of a press since the painting; undefined of one that was no press of this step.
   * @param {Press} press
   * @param {number} lockoutMs
   * @returns {{ ms: number, onset: Onset } | undefined}
   */
  timed(press, lockoutMs = 0) {
    const onset = this.clock.onset;
    const ms = press.downMs - onset.ms;
    const reason = this.tools.Presses.whyEarly(ms, lockoutMs);
    if (reason) {
      this.refuse(reason, press);
      return undefined;
    }
    this.presses.sayRefused(false);
    this.#trusted &&= press.trusted;
    return { ms, onset };
  }

  /**
   * Keeps a press that is not taken, and why, and says that it was not.
   * @param {string} reason
   * @param {Press} press
   */
  refuse(reason, press) {
    this.presses.sayRefused(true);
    if (this.#premature.length >= MOST_PREMATURE) return;
    const ms = press.downMs - this.clock.onset.ms;
    const known = Number.isFinite(ms) ? tenth(ms) : null;
    this.#premature.push({ reason, input_method: press.method, ms: known });
  }

  /**
   * Keeps a step's time.
   * @param {number} ms
   * @param {Onset} onset
   */
  keep(ms, onset) {
    if (Number.isNaN(this.firstMs)) this.firstMs = onset.ms;
    this.steps.onset_ms.push(Math.max(0, Math.min(tenth(onset.ms - this.firstMs), DAY_MS)));
    this.steps.rt_ms.push(ms < DAY_MS ? tenth(ms) : null);
    this.steps.sources += onset.source === "presentation" ? "p" : "f";
    this.steps.uncertainty_ms.push(tenth(onset.uncertaintyMs ?? 0));
  }

  /**
   * Ends the sentence: asks its question, shows the scale, or gives the answer.
   * @param {Press} press The last one.
   * @param {number} endMs When it began.
   */
  end(press, endMs) {
    const { question, answers = {} } = /** @type {Read} */ (this.trial);
    this.totalMs = endMs - this.firstMs;
    const rates = this.asked.dataset.scale !== undefined;
    if (!question && !rates) return this.finish(press, {});
    this.at = Infinity;
    this.reader.hidden = true;
    this.asked.hidden = false;
    this.#focusGroup(this.asked);
    if (!question) return this.#scale();
    const texts = [shownText(this.find(".asks"), question)];
    const words = [question];
    for (const option of this.allOf(this.asked, "[data-side]")) {
      const place = /** @type {HTMLElement} */ (option.querySelector(".sentence"));
      const text = answers[option.dataset.side ?? ""] ?? place.dataset.word ?? "";
      texts.push(shownText(place, text));
      words.push(`${option.getAttribute("aria-keyshortcuts") ?? ""}: ${text}.`);
    }
    this.watch(texts, words.join(" "));
  }

  #scale() {
    const words = [];
    const texts = this.allOf(this.asked, "[data-rating]").map((option) => {
      words.push(`${option.getAttribute("aria-label") ?? option.dataset.rating}.`);
      return shownText(/** @type {HTMLElement} */ (option.querySelector(".point")), option.dataset.rating ?? "");
    });
    this.watch(texts, words.join(" "));
  }

  /**
   * Gives the answer.
   * @param {Press} press
   * @param {{ side?: string, rating?: number }} given
   */
  finish(press, given) {
    const trial = /** @type {Read} */ (this.trial);
    const { steps, totalMs = NaN } = this;
    const choice = {
      ...given,
      steps,
      rt_ms: totalMs < DAY_MS ? tenth(totalMs) : null,
      release_ms: null,
      input_method: press.method,
      onset_source: /^p+$/.test(steps.sources) ? "presentation" : "frames",
      onset_uncertainty_ms: Math.max(...steps.uncertainty_ms),
      trusted: this.#trusted,
      ...this.presses.path,
      premature: this.#premature,
      ...(this.#broken.size && { broken: [...this.#broken] }),
      viewport_width_px: Math.round(window.innerWidth),
      viewport_height_px: Math.round(window.innerHeight),
      was_hidden: this.#wasHidden,
      lost_focus: this.#lostFocus,
    };
    this.close();
    // After practice the sentence stays beside Continue, where neither word nor key does anything.
    this.tools.place.classList.add("over");
    this.tools.onChoice(trial, /** @type {any} */ (choice), undefined);
  }

  /**
   * @param {number} ms
   * @param {() => void} act
   */
  later(ms, act) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, ms);
  }

  #listen() {
    const listening = { signal: this.tools.signal };
    for (const option of this.all("[data-side]")) {
      option.addEventListener("click", (event) => {
        if (!this.endsTakenPress(event)) this.#chosen(option, this.presses.ofClick(event));
      }, listening);
    }
    const onKey = (/** @type {KeyboardEvent} */ event) => {
      if (!this.trial || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.target instanceof Element && event.target.closest("input, textarea, select, summary, a")) return;
      const { timeStamp: downMs, isTrusted: trusted } = event;
      this.onKey(event, { downMs, upMs: null, method: "key", trusted });
    };
    const onVisibility = () => (this.#wasHidden ||= document.hidden);
    document.addEventListener("keydown", onKey, listening);
    document.addEventListener("visibilitychange", onVisibility, listening);
    window.addEventListener("blur", () => (this.#lostFocus = true), listening);
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
    const group = this.at === Infinity ? this.asked : this.reader;
    const option = this.allOf(group, "[data-side]")[keys.optionOf(event)];
    if (option) this.#chosen(option, press);
  }

  /**
   * @param {HTMLElement} option
   * @param {Press} press
   */
  #chosen(option, press) {
    if (!this.trial) return;
    if (!this.asked.contains(option)) return this.choose(option, press);
    const timed = this.timed(press, this.tools.settings.lockout_ms);
    if (!timed) return;
    this.steps.question_ms = timed.ms < DAY_MS ? tenth(timed.ms) : null;
    option.classList.add("chosen");
    this.finish(press, answer(option));
  }

  /**
   * Takes a word of the Maze.
   * @param {HTMLElement} _option
   * @param {Press} _press
   */
  choose(_option, _press) {}

  /**
   * Lays a sentence out, before its first step is shown.
   * @param {Read} _trial
   */
  lay(_trial) {}

  /** Begins the sentence. */
  begin() {}

  /**
   * @param {string} selector
   * @returns {HTMLElement}
   */
  find(selector) {
    return this.tools.place.querySelector(selector) ?? document.createElement("div");
  }

  /** @param {string} selector */
  all(selector) {
    return this.allOf(this.tools.place, selector);
  }

  /**
   * @param {Element} within
   * @param {string} selector
   * @returns {HTMLElement[]}
   */
  allOf(within, selector) {
    return [...within.querySelectorAll(selector)].map((one) => /** @type {HTMLElement} */ (one));
  }
}

class SelfPaced extends Reader {
  /** @type {HTMLElement[]} */
  #places = [];
  /** Whether a pointer that is still to end in a click has shown the next step already. */
  #taken = false;
  /** When a first finger, or another pointer, went down last. */
  #fingerMs = -Infinity;
  /** @type {string | undefined} The key that is down, and has shown the next step already. */
  #held;

  /** @param {Tools} tools */
  constructor(tools) {
    super(tools);
    const stage = /** @type {HTMLElement} */ (this.reader.closest(".stage") ?? this.reader);
    // What is shown changes with the press itself, not with its end.
    stage.addEventListener("pointerdown", (event) => {
      if (event.button > 0) return;
      const beside = !event.isPrimary && event.timeStamp - this.#fingerMs < ZOOM_MS;
      if (event.isPrimary) {
        // Answers to the question are taken when they end.
        this.#taken = !this.trial || this.at !== Infinity;
        this.#fingerMs = event.timeStamp;
      }
      if (!this.trial || this.at === Infinity) return;
      const method = event.pointerType === "touch" ? "touch" : "pointer";
      const { timeStamp: downMs, isTrusted: trusted } = event;
      const press = /** @type {Press} */ ({ downMs, upMs: null, method, trusted });
      // Two fingers together may zoom the page; beside one that rests on it, another one reads.
      if (beside) return this.refuse("second_finger", press);
      event.preventDefault();
      this.#next(press);
    }, { signal: tools.signal });
    // Voices, switches and screen readers click without a pointer, and at any time between others.
    this.find("[data-next]").addEventListener("click", (event) => {
      if (this.endsTakenPress(event)) return;
      const { timeStamp: downMs, isTrusted: trusted } = event;
      this.#next({ downMs, upMs: null, method: "key", trusted });
    }, { signal: tools.signal });
    const forget = () => (this.#taken = false);
    document.addEventListener("click", forget, { signal: tools.signal });
    document.addEventListener("pointercancel", forget, { signal: tools.signal });
    // The end of a key that was taken must not press the button that has the focus once more.
    const onUp = (/** @type {KeyboardEvent} */ event) => {
      if (event.code !== this.#held) return;
      event.preventDefault();
      this.#held = undefined;
    };
    document.addEventListener("keyup", onUp, { signal: tools.signal, capture: true });
  }

  /**
   * A finger's last press of a sentence shows the question, and its end can hit an answer.
   * @param {MouseEvent} event
   */
  endsTakenPress(event) {
    return this.#taken && event.detail > 0;
  }

  /** @param {Read} trial */
  lay({ steps }) {
    const centred = this.reader.dataset.display === "centred";
    const window_ = this.find(".window");
    window_.hidden = false;
    window_.replaceChildren();
    // Letters of the other direction among the words must not turn the line round.
    window_.dir = directionOf(steps.join(" "));
    this.#places = steps.map((text, number) => {
      const place = document.createElement("span");
      place.className = "step masked";
      const room = document.createElement("span");
      room.className = "room";
      room.textContent = text;
      room.setAttribute("aria-hidden", "true");
      place.append(room);
      if (number && !centred && spaced(steps[number - 1], text)) window_.append(" ");
      window_.append(place);
      return place;
    });
  }

  begin() {
    const { context } = /** @type {Read} */ (this.trial);
    // The first press shows the first step, so that the reader is ready when it comes.
    if (!context) return this.#paint();
    this.at = -2;
    this.#showContext(true);
    this.watch([shownText(this.before, context)], context);
  }

  /**
   * Shows the context in the place of the sentence, or the sentence.
   * @param {boolean} shown
   */
  #showContext(shown) {
    this.before.hidden = !shown;
    this.find(".window").hidden = shown;
  }

  /**
   * @param {KeyboardEvent} event
   * @param {Press} press
   */
  onKey(event, press) {
    if (this.at === Infinity) return super.onKey(event, press);
    if (event.key !== " " && event.key !== "Enter") return;
    // The button that has the focus is not pressed a second time.
    event.preventDefault();
    this.#held = event.code;
    this.#next(press);
  }

  /** @param {Press} press */
  #next(press) {
    const { trial } = this;
    if (!trial || this.at === Infinity) return;
    const timed = this.timed(press);
    if (!timed) return;
    if (this.at >= 0) {
      this.deadline.take(timed.ms);
      this.keep(timed.ms, timed.onset);
    } else this.#wait(timed.ms);
    this.at += 1;
    if (this.at === -1) this.#showContext(false);
    if (this.at === trial.steps.length) return this.end(press, press.downMs);
    this.#paint();
  }

  /**
   * Adds to the wait before the first step: a context and the masked sentence are left one by one.
   * @param {number} ms
   */
  #wait(ms) {
    const whole = ms + (this.steps.wait_ms ?? 0);
    const isKnown = this.steps.wait_ms !== null && whole < DAY_MS;
    this.steps.wait_ms = isKnown ? tenth(whole) : null;
  }

  #paint() {
    const { trial, at } = this;
    if (!trial) return;
    const stays = this.reader.dataset.display === "cumulative";
    this.#places.forEach((place, number) => {
      const shown = number === at || (stays && number < at);
      place.classList.toggle("masked", !shown);
      place.classList.toggle("current", number === at);
      if (!shown) place.querySelector(".text")?.remove();
    });
    const place = this.#places[at];
    if (!place) return this.watch([], "");
    const text = document.createElement("span");
    text.className = "text";
    text.textContent = text.dataset.sent = trial.steps[at];
    place.append(text);
    this.watch([text], trial.steps[at]);
  }
}

class Maze extends Reader {
  /** When the word that is being corrected was first chosen wrongly. */
  #wrong = 0;
  /** @type {{ ms: number, onset: Onset } | undefined} */
  #first;
  #stopped = false;

  begin() {
    this.#step(0);
  }

  /** @param {number} at */
  #step(at) {
    const { steps, distractors = [], right = "" } = /** @type {Read} */ (this.trial);
    this.at = at;
    this.#wrong = 0;
    this.#first = undefined;
    this.#say(false);
    const words = [steps[at], distractors[at]];
    if (right[at] === "r") words.reverse();
    const options = this.#options();
    const texts = options.map((option, side) => {
      option.classList.remove("chosen");
      return shownText(/** @type {HTMLElement} */ (option.querySelector(".sentence")), words[side]);
    });
    this.watch(texts, words.join(", "));
  }

  lay() {
    const { context = "" } = /** @type {Read} */ (this.trial);
    this.before.hidden = !context;
    if (context) shownText(this.before, context);
    this.#say(false);
    for (const option of this.#options()) option.querySelector(".sentence")?.replaceChildren();
  }

  #options() {
    return this.allOf(this.reader, "[data-side]");
  }

  /**
   * @param {boolean} astray Whether the last choice was wrong.
   * @param {boolean} [stopped] Whether no choice counts now.
   */
  #say(astray, stopped = false) {
    this.find(".said").hidden = !astray;
    this.#stopped = stopped;
    this.reader.classList.toggle("stopped", stopped);
  }

  /**
   * @param {HTMLElement} option
   * @param {Press} press
   */
  choose(option, press) {
    const { trial, at } = this;
    if (!trial || at === Infinity) return;
    if (this.#stopped) return this.refuse("pause", press);
    const timed = this.timed(press, this.tools.settings.lockout_ms);
    if (!timed) return;
    if (!this.#first) this.deadline.take(timed.ms);
    this.#first ??= timed;
    const isRight = (this.#options()[0] === option) === (trial.right?.[at] === "l");
    if (!isRight) return this.#astray(press);
    this.#say(false);
    this.#keepStep(timed.ms);
    if (at + 1 === trial.steps.length) return this.end(press, press.downMs);
    this.#step(at + 1);
  }

  /** @param {Press} press */
  #astray(press) {
    this.#wrong += 1;
    const { onError, delay } = this.reader.dataset;
    if (onError === "end") {
      this.#keepStep(null);
      this.totalMs = press.downMs - this.firstMs;
      this.#say(true, true);
      return this.later(Number(delay), () => this.finish(press, {}));
    }
    this.#say(true, onError === "delay");
    if (onError === "delay") this.later(Number(delay), () => this.#say(true));
  }

  /** @param {number | null} doneMs */
  #keepStep(doneMs) {
    const first = /** @type {{ ms: number, onset: Onset }} */ (this.#first);
    this.keep(first.ms, first.onset);
    this.steps.wrong.push(Math.min(this.#wrong, 1000));
    this.steps.done_ms.push(doneMs === null || doneMs >= DAY_MS ? null : tenth(doneMs));
  }
}

/**
 * Puts a text into a place as a new element: browsers tell when that was painted.
 * @param {HTMLElement} place
 * @param {string} sent
 */
function shownText(place, sent) {
  const text = document.createElement("span");
  text.dir = "auto";
  text.textContent = text.dataset.sent = sent;
  place.replaceChildren(text);
  return text;
}

/** @param {number} ms */
function tenth(ms) {
  return Math.round(ms * 10) / 10;
}

/**
 * Whether a space stands between two steps: not where both are of a script that writes none.
 * @param {string} before
 * @param {string} after
 */
function spaced(before, after) {
  const spaceless = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}\u3000-\u303f\uff00-\uffef]/u;
  return !(spaceless.test(before.slice(-1)) && spaceless.test(after.slice(0, 1)));
}

/**
 * The direction of a text: that of its first letter that has one.
 * @param {string} text
 */
function directionOf(text) {
  const first = /[\p{L}]/u.exec(text)?.[0] ?? "";
  return /[\p{sc=Hebr}\p{sc=Arab}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}]/u.test(first) ? "rtl" : "ltr";
}
