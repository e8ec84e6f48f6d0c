// @ts-check
/** One trial on the screen: shown, announced, timed and chosen. */

/** @typedef {import("./sequence.js").Trial} Trial */
/** @typedef {import("./queue.js").Answer} Answer */
/** @typedef {Omit<Answer, "uuid" | "position" | "client_time">} Choice */

const DAY_MS = 86_400_000;

export class TrialView {
  /** @type {Trial | undefined} The trial on the screen, until it is answered. */
  #trial;
  #paintedMs = Infinity;
  #wasHidden = false;
  #lostFocus = false;
  #pointerType = "";
  #place;
  #keys;
  #lockoutMs;
  #onChoice;

  /**
   * @param {HTMLElement} place Where trials are shown; holds elements with data-field and data-side.
   * @param {{ keys: string[], lockout_ms: number }} settings The study's.
   * @param {(trial: Trial, choice: Choice) => void} onChoice
   */
  constructor(place, settings, onChoice) {
    this.#place = place;
    this.#keys = settings.keys.map((key) => key.toLowerCase());
    this.#lockoutMs = settings.lockout_ms;
    this.#onChoice = onChoice;
    this.#listen();
  }

  /** The trial on the screen; undefined when it is answered. */
  get trial() {
    return this.#trial;
  }

  /** @param {Trial} trial */
  show(trial) {
    this.#trial = trial;
    this.#paintedMs = Infinity;
    this.#wasHidden = document.hidden;
    this.#lostFocus = false;
    for (const field of this.#all("[data-field]")) {
      field.textContent = String(trial[field.dataset.field ?? ""] ?? "");
    }
    for (const option of this.#all("[data-side]")) option.classList.remove("chosen");
    // Nothing is preselected, and the next Tab leads to the first option.
    this.#all("[role=group]")[0]?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    afterPainting((timeMs) => {
      if (this.#trial !== trial) return;
      this.#paintedMs = timeMs;
      this.#announce(trial);
    });
  }

  /** Takes no choice any more. */
  close() {
    this.#trial = undefined;
  }

  /**
   * Screen readers say what changes in a region that is already there, hence not before painting.
   * @param {Trial} trial
   */
  #announce(trial) {
    for (const announcement of this.#all("[data-announce]")) {
      announcement.textContent = fill(announcement.dataset.announce ?? "", trial);
    }
  }

  #listen() {
    this.#place.addEventListener("pointerdown", (event) => (this.#pointerType = event.pointerType));
    for (const option of this.#all("[data-side]")) {
      option.addEventListener("click", (event) => this.#choose(option, event, this.#method(event)));
    }
    document.addEventListener("keydown", (event) => {
      const option = this.#all("[data-side]")[this.#keys.indexOf(event.key.toLowerCase())];
      if (!option || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
      this.#choose(option, event, "key");
    });
    document.addEventListener("visibilitychange", () => (this.#wasHidden ||= document.hidden));
    window.addEventListener("blur", () => (this.#lostFocus = true));
  }

  /**
   * @param {HTMLElement} option
   * @param {Event} event
   * @param {Answer["input_method"]} method
   */
  #choose(option, event, method) {
    const trial = this.#trial;
    const rtMs = event.timeStamp - this.#paintedMs;
    // A press so soon after the options were painted was meant for the trial before.
    if (!trial || !(rtMs >= this.#lockoutMs)) return;
    this.close();
    option.classList.add("chosen");
    this.#onChoice(trial, {
      side: /** @type {Answer["side"]} */ (option.dataset.side),
      // Who answers a day later was away, and the server takes no such time.
      rt_ms: rtMs < DAY_MS ? rtMs : null,
      input_method: method,
      viewport_width_px: Math.round(window.innerWidth),
      viewport_height_px: Math.round(window.innerHeight),
      was_hidden: this.#wasHidden,
      lost_focus: this.#lostFocus,
    });
  }

  /**
   * A click that no press of a pointer caused counts zero presses: it came from the keyboard.
   * @param {MouseEvent} event
   * @returns {Answer["input_method"]}
   */
  #method(event) {
    if (event.detail === 0) return "key";
    return this.#pointerType === "touch" ? "touch" : "pointer";
  }

  /**
   * @param {string} selector
   * @returns {NodeListOf<HTMLElement>}
   */
  #all(selector) {
    return this.#place.querySelectorAll(selector);
  }
}

/**
 * Puts values in the places of a text that name them in braces.
 * @param {string} text
 * @param {Record<string, string | number>} values
 */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

/**
 * Calls back when what the page shows now has been painted: the first frame callback comes before
 * the painting, the second after it.
 * @param {(timeMs: number) => void} callback
 */
function afterPainting(callback) {
  requestAnimationFrame(() => requestAnimationFrame(() => callback(performance.now())));
}
