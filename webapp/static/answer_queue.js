// @ts-check
/**
 * The queue of answers to send: one by one, in order, until the server acknowledges each. Waiting
 * answers are also in a store that outlives the page.
 *
 * @typedef {object} Answer
 * @property {string} uuid Made once per answer, so that the server recognises a resend.
 * @property {number} position
 * @property {string} [side] The side of the chosen option.
 * @property {number} [rating] The chosen point of the scale.
 * @property {object} [steps] The measures of each step of a reading trial.
 * @property {number | null} rt_ms Reaction time: from painting to the beginning of the press.
 * @property {number | null} release_ms From painting to the end of the press.
 * @property {"key" | "pointer" | "touch"} input_method
 * @property {"presentation" | "frames" | null} onset_source The source of the onset time.
 * @property {number | null} onset_uncertainty_ms
 * @property {number} times_shown How often the trial was shown.
 * @property {number} seen_before_ms For how long the trial was visible in earlier showings.
 * @property {boolean} trusted Whether the user caused the press, not a script.
 * @property {number} pointer_moves
 * @property {number} pointer_path_px
 * @property {string} [trace] The trace of the trial, if the study records traces.
 * @property {number} [pointer_stopped_ms] From painting to the pointer's last movement before the press.
 * @property {{ reason: string, input_method: string, ms: number | null }[]} premature
 * @property {("text" | "scroll" | "zoom" | "font")[]} [broken] What was not shown as intended.
 * @property {string} client_time
 * @property {number} viewport_width_px
 * @property {number} viewport_height_px
 * @property {boolean} was_hidden
 * @property {boolean} lost_focus
 * @property {number | null} [frames_dropped] The number of dropped frames during the trial.
 * @property {number} [hidden_ms] For how long the page was hidden during the trial.
 * @property {number} [pixel_ratio] Screen pixels per CSS pixel, including zoom.
 *
 * saved: the server has acknowledged everything. saving: an answer is being sent.
 * offline: an answer did not arrive and will be sent again. refused: the server will not accept it.
 * @typedef {"saved" | "saving" | "offline" | "refused"} State
 *
 * arrived: the server has the answer. later: the same request can succeed later. expired: it can
 * succeed only if the link is renewed. never: it cannot succeed.
 * @typedef {{ fate: "arrived", remaining: number } | { fate: "later" | "expired" | "never" }} Outcome
 *
 * @typedef {object} Hooks
 * @property {(state: State) => void} onState Called at every change of state.
 * @property {(remaining: number, position: number) => void} onSaved Called after each
 *   acknowledgement with the number of trials still unanswered and the saved position.
 */

import { server } from "./server.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
const PATIENCE_MS = 20_000;

export class AnswerQueue {
  /** @type {Answer[]} */
  #waiting = [];
  /** @type {Map<string, number>} When each answer was added, by the monotonic clock. */
  #addedMs = new Map();
  /** @type {Map<string, Promise<Partial<Answer>>>} Measures that arrive after an answer. */
  #pendingMeasures = new Map();
  /** @type {number | undefined} The round trip time of the last answer. */
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
   * @param {import("./unsent_answers.js").Store} store Stores the waiting answers.
   * @param {Hooks} hooks
   * @param {typeof server.fetch} fetch_ Sends a request; replaced in tests.
   */
  constructor(url, store, hooks, fetch_ = (...request) => server.fetch(...request)) {
    this.#url = url;
    this.#store = store;
    this.#hooks = hooks;
    this.#fetch = fetch_;
  }

  /** The number of answers not yet acknowledged. */
  get length() {
    return this.#waiting.length;
  }

  get state() {
    return this.#state;
  }

  /**
   * Adds the answers that an earlier page of the session left unsent.
   * @returns {Promise<number[]>} The positions of those answers.
   */
  async restore() {
    const unsent = await this.#store.loadAll();
    this.#waiting.unshift(...unsent);
    if (unsent.length) this.sendNow();
    return unsent.map((answer) => answer.position);
  }

  /**
   * Adds an answer to the end of the queue and starts sending.
   * @param {Answer} answer
   * @param {Promise<Partial<Answer>>} [lateMeasures] Measures that follow shortly, such as the key release.
   */
  add(answer, lateMeasures) {
    void this.#store.save(answer);
    this.#waiting.push(answer);
    this.#addedMs.set(answer.uuid, performance.now());
    if (lateMeasures) this.#pendingMeasures.set(answer.uuid, lateMeasures);
    this.sendNow();
  }

  /** Sends the waiting answers now, e.g. because the connection is back. */
  sendNow() {
    clearTimeout(this.#timer);
    if (!this.#sending && this.#state !== "refused") void this.#sendAll();
  }

  /**
   * Gives all waiting answers to the browser, which sends them even after the page is closed. They stay
   * in the queue, because no acknowledgement is seen; the server recognises duplicates.
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
    // An expired link may be renewed, so its answer is kept. An answer refused for another reason is
    // refused always: if kept, it would block the queue on every visit.
    if (outcome.fate !== "expired") await this.#store.remove(answer);
    if (outcome.fate !== "arrived") {
      this.#setState("refused");
      return false;
    }
    this.#addedMs.delete(answer.uuid);
    // Answers of an earlier page may have been put in front of it meanwhile.
    this.#waiting.splice(this.#waiting.indexOf(answer), 1);
    this.#waitMs = FIRST_WAIT_MS;
    this.#hooks.onSaved(outcome.remaining, answer.position);
    this.#setState(this.#waiting.length ? "saving" : "saved");
    return true;
  }

  /**
   * Sends an answer. Only the server's own reply counts: a hotel's login page also replies with 200.
   * @param {Answer} answer
   * @returns {Promise<Outcome>}
   */
  async #send(answer) {
    const sentMs = performance.now();
    server.hasFailed = false;
    try {
      const response = await this.#fetch(this.#url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: this.#serialize(answer),
        keepalive: true,
        signal: AbortSignal.timeout?.(PATIENCE_MS),
      });
      const isTransient = response.status >= 500 || [408, 429].includes(response.status);
      server.hasFailed = isTransient;
      const reply = await response.json();
      if (response.ok && reply.saved === answer.position) {
        this.#roundTripMs = Math.round(performance.now() - sentMs);
        return { fate: "arrived", remaining: reply.remaining };
      }
      if (!reply.error || isTransient) return { fate: "later" };
      return { fate: response.status === 401 ? "expired" : "never" };
    } catch {
      // No reply that can be read, or none in time: the answer may have arrived, and is resent.
      return { fate: "later" };
    }
  }

  /**
   * Returns an answer as JSON, with its waiting time (also over page loads) and the round trip time of
   * the answer before it.
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
    // Random jitter keeps the computers of a laboratory from retrying at the same moment.
    this.#timer = setTimeout(() => this.sendNow(), this.#waitMs * (0.75 + Math.random() / 2));
    this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_WAIT_MS);
  }

  /** @param {State} state */
  #setState(state) {
    // The cause of being offline may have changed.
    if (state === this.#state && state !== "offline") return;
    this.#state = state;
    this.#hooks.onState(state);
  }
}
