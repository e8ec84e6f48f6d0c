// @ts-check
/**
 * The answers on their way to the server: sent one by one, in order, until each is acknowledged.
 * What waits is also in a store, so that it outlives the page.
 *
 * @typedef {object} Answer
 * @property {string} uuid Made once for each answer, so that the server knows a resend.
 * @property {number} position
 * @property {string} [side] Where the chosen option stood.
 * @property {number} [rating] Or the point of the scale.
 * @property {object} [steps] Or what was measured of each step of what was read.
 * @property {number | null} rt_ms From painting to the beginning of the press.
 * @property {number | null} release_ms From painting to its end.
 * @property {"key" | "pointer" | "touch"} input_method
 * @property {"presentation" | "frames" | null} onset_source What the painting's time is known from.
 * @property {number | null} onset_uncertainty_ms
 * @property {number} times_shown How often the trial was on the screen.
 * @property {number} seen_before_ms For how long it was, before it was shown again.
 * @property {boolean} trusted Whether the browser itself saw the press.
 * @property {number} pointer_moves
 * @property {number} pointer_path_px
 * @property {string} [trace] What happened within the trial, where the study asks for it.
 * @property {number} [pointer_stopped_ms] From painting to its last movement before its press.
 * @property {{ reason: string, input_method: string, ms: number | null }[]} premature
 * @property {("text" | "scroll" | "zoom" | "font")[]} [broken] What was otherwise on the screen.
 * @property {string} client_time
 * @property {number} viewport_width_px
 * @property {number} viewport_height_px
 * @property {boolean} was_hidden
 * @property {boolean} lost_focus
 * @property {number | null} [frames_dropped] How many frames did not come during the trial.
 * @property {number} [hidden_ms] For how long the page was hidden during it.
 * @property {number} [pixel_ratio] Pixels of the screen to a CSS pixel, with the zoom.
 *
 * saved: the server has acknowledged everything. saving: an answer is on its way.
 * offline: an answer did not arrive and will be sent again. refused: the server will not take it.
 * @typedef {"saved" | "saving" | "offline" | "refused"} State
 *
 * arrived: the server has it. later: the same request can succeed later. expired: only if the link
 * is made good again. never: it cannot.
 * @typedef {{ fate: "arrived", remaining: number } | { fate: "later" | "expired" | "never" }} Outcome
 *
 * @typedef {object} Hooks
 * @property {(state: State) => void} onState Told of every change of state.
 * @property {(remaining: number, position: number) => void} onSaved Told after each acknowledgement
 *   how many trials the server still has no answer to, and which one it now has.
 */

import { server } from "./server.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
const PATIENCE_MS = 20_000;

export class AnswerQueue {
  /** @type {Answer[]} */
  #waiting = [];
  /** @type {Map<string, number>} When each was added, on a clock that nobody sets. */
  #addedMs = new Map();
  /** @type {Map<string, Promise<Partial<Answer>>>} What is still being measured of an answer. */
  #pendingMeasures = new Map();
  /** @type {number | undefined} How long the last answer and its reply travelled. */
  #roundTripMs;
  /** @type {State} */
  #state = "saved";
  #sending = false;
  #waitMs = FIRST_WAIT_MS;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #url;
  #store;
  #hooks;
  #fetch;

  /**
   * @param {string} url Where answers are sent.
   * @param {import("./unsent_answers.js").Store} store Where they wait.
   * @param {Hooks} hooks
   * @param {typeof server.fetch} fetch_ What sends; a test gives its own.
   */
  constructor(url, store, hooks, fetch_ = (...request) => server.fetch(...request)) {
    this.#url = url;
    this.#store = store;
    this.#hooks = hooks;
    this.#fetch = fetch_;
  }

  /** How many answers are not yet acknowledged. */
  get length() {
    return this.#waiting.length;
  }

  get state() {
    return this.#state;
  }

  /**
   * Takes up what an earlier page of the session left unsent.
   * @returns {Promise<number[]>} The positions of those answers.
   */
  async restore() {
    const unsent = await this.#store.loadAll();
    this.#waiting.unshift(...unsent);
    if (unsent.length) this.sendNow();
    return unsent.map((answer) => answer.position);
  }

  /**
   * Sends an answer after those that wait before it.
   * @param {Answer} answer
   * @param {Promise<Partial<Answer>>} [lateMeasures] What is measured of it within a moment.
   */
  add(answer, lateMeasures) {
    void this.#store.save(answer);
    this.#waiting.push(answer);
    this.#addedMs.set(answer.uuid, performance.now());
    if (lateMeasures) this.#pendingMeasures.set(answer.uuid, lateMeasures);
    this.sendNow();
  }

  /** Sends now what waits for a better moment, e.g. because the connection is back. */
  sendNow() {
    clearTimeout(this.#timer);
    if (!this.#sending && this.#state !== "refused") void this.#sendAll();
  }

  /**
   * Hands everything that waits to the browser, which delivers it even if the page is gone. No
   * acknowledgement is seen, so it keeps waiting; the server knows what it has already.
   */
  sendAllOnExit() {
    if (this.#state === "refused") return;
    for (const answer of this.#waiting) server.sendOnExit(this.#url, this.#serialize(answer));
  }

  async #sendAll() {
    this.#sending = true;
    while (this.#waiting.length && (await this.#sendFirst()));
    this.#sending = false;
  }

  /** Resolves to whether the server has acknowledged the first answer. */
  async #sendFirst() {
    const answer = this.#waiting[0];
    const lateMeasures = this.#pendingMeasures.get(answer.uuid);
    if (lateMeasures) {
      Object.assign(answer, await lateMeasures);
      this.#pendingMeasures.delete(answer.uuid);
    }
    if (this.#state === "saved") this.#setState("saving");
    const outcome = await this.#send(answer);
    if (outcome.fate === "later") {
      this.#setState("offline");
      this.#retryLater();
      return false;
    }
    // A link that is too old may be made good again, so what was answered is kept. What is refused
    // for any other reason is refused always: kept, it would bar the way on every visit.
    if (outcome.fate !== "expired") await this.#store.remove(answer);
    if (outcome.fate !== "arrived") {
      this.#setState("refused");
      return false;
    }
    this.#addedMs.delete(answer.uuid);
    // Answers of an earlier page may have been put before it meanwhile.
    this.#waiting.splice(this.#waiting.indexOf(answer), 1);
    this.#waitMs = FIRST_WAIT_MS;
    this.#hooks.onSaved(outcome.remaining, answer.position);
    this.#setState(this.#waiting.length ? "saving" : "saved");
    return true;
  }

  /**
   * Only the server's own words count: a hotel's login page answers every request with 200, too.
   * @param {Answer} answer
   * @returns {Promise<Outcome>}
   */
  async #send(answer) {
    const sentMs = performance.now();
    try {
      const response = await this.#fetch(this.#url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: this.#serialize(answer),
        keepalive: true,
        signal: AbortSignal.timeout?.(PATIENCE_MS),
      });
      const reply = await response.json();
      if (response.ok && reply.saved === answer.position) {
        this.#roundTripMs = Math.round(performance.now() - sentMs);
        return { fate: "arrived", remaining: reply.remaining };
      }
      const isTransient = response.status >= 500 || [408, 429].includes(response.status);
      if (!reply.error || isTransient) return { fate: "later" };
      return { fate: response.status === 401 ? "expired" : "never" };
    } catch {
      // No connection, or no reply in time: the answer may have arrived, and is sent again.
      return { fate: "later" };
    }
  }

  /**
   * An answer as it travels: with the time that it waited, which an earlier page began to count, and
   * the round trip of the answer before it.
   * @param {Answer} answer
   */
  #serialize(answer) {
    const addedMs = this.#addedMs.get(answer.uuid);
    const waited =
      addedMs === undefined ? Date.now() - Date.parse(answer.client_time) : performance.now() - addedMs;
    const waited_ms = waited >= 0 ? Math.round(waited) : null;
    return JSON.stringify({ ...answer, waited_ms, round_trip_ms: this.#roundTripMs });
  }

  #retryLater() {
    // A random part keeps a whole laboratory from coming back in the same instant.
    this.#timer = setTimeout(() => this.sendNow(), this.#waitMs * (0.75 + Math.random() / 2));
    this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_WAIT_MS);
  }

  /** @param {State} state */
  #setState(state) {
    if (state === this.#state) return;
    this.#state = state;
    this.#hooks.onState(state);
  }
}
