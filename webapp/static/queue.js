// @ts-check
/**
 * The answers on their way to the server: sent one by one, in order, until each is acknowledged.
 * What waits is also in a store, so that it outlives the page.
 *
 * @typedef {object} Answer
 * @property {string} uuid Made once for each answer, so that the server knows a resend.
 * @property {number} position
 * @property {"first" | "second"} side
 * @property {number | null} rt_ms
 * @property {"key" | "pointer" | "touch"} input_method
 * @property {string} client_time
 * @property {number} viewport_width_px
 * @property {number} viewport_height_px
 * @property {boolean} was_hidden
 * @property {boolean} lost_focus
 *
 * saved: the server has acknowledged everything. saving: an answer is on its way.
 * offline: an answer did not arrive and will be sent again. refused: the server will not take it.
 * @typedef {"saved" | "saving" | "offline" | "refused"} State
 *
 * arrived: the server has it. later: the same request can succeed later. never: it cannot.
 * @typedef {{ fate: "arrived", remaining: number } | { fate: "later" } | { fate: "never" }} Outcome
 *
 * @typedef {object} Hooks
 * @property {(state: State) => void} onState Told of every change of state.
 * @property {(remaining: number) => void} onSaved Told after each acknowledgement how many trials
 *   the server still has no answer to.
 */

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
const PATIENCE_MS = 20_000;

export class AnswerQueue {
  /** @type {Answer[]} */
  #waiting = [];
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
   * @param {import("./store.js").Store} store Where they wait.
   * @param {Hooks} hooks
   * @param {typeof fetch} fetch_ What sends; a test gives its own.
   */
  constructor(url, store, hooks, fetch_ = (...request) => fetch(...request)) {
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
    const left = await this.#store.all();
    this.#waiting.unshift(...left);
    if (left.length) this.wake();
    return left.map((answer) => answer.position);
  }

  /**
   * Sends an answer after those that wait before it.
   * @param {Answer} answer
   */
  add(answer) {
    void this.#store.keep(answer);
    this.#waiting.push(answer);
    this.wake();
  }

  /** Sends now what waits for a better moment, e.g. because the connection is back. */
  wake() {
    clearTimeout(this.#timer);
    if (!this.#sending && this.#state !== "refused") void this.#sendAll();
  }

  /**
   * Hands everything that waits to the browser, which delivers it even if the page is gone. No
   * acknowledgement is seen, so it keeps waiting; the server knows what it has already.
   */
  handOver() {
    if (this.#state === "refused") return;
    for (const answer of this.#waiting) navigator.sendBeacon(this.#url, JSON.stringify(answer));
  }

  async #sendAll() {
    this.#sending = true;
    while (this.#waiting.length && (await this.#sendFirst()));
    this.#sending = false;
  }

  /** Resolves to whether the server has acknowledged the first answer. */
  async #sendFirst() {
    const answer = this.#waiting[0];
    if (this.#state === "saved") this.#become("saving");
    const outcome = await this.#send(answer);
    if (outcome.fate === "later") {
      this.#become("offline");
      this.#retryLater();
      return false;
    }
    // What is refused once is refused always: kept, it would bar the way on every visit.
    await this.#store.drop(answer);
    if (outcome.fate === "never") {
      this.#become("refused");
      return false;
    }
    this.#waiting.shift();
    this.#waitMs = FIRST_WAIT_MS;
    this.#hooks.onSaved(outcome.remaining);
    this.#become(this.#waiting.length ? "saving" : "saved");
    return true;
  }

  /**
   * Only the server's own words count: a hotel's login page answers every request with 200, too.
   * @param {Answer} answer
   * @returns {Promise<Outcome>}
   */
  async #send(answer) {
    try {
      const response = await this.#fetch(this.#url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(answer),
        keepalive: true,
        signal: AbortSignal.timeout?.(PATIENCE_MS),
      });
      const reply = await response.json();
      if (response.ok && reply.saved === answer.position) {
        return { fate: "arrived", remaining: reply.remaining };
      }
      const mayPass = response.status >= 500 || [408, 429].includes(response.status);
      return { fate: reply.error && !mayPass ? "never" : "later" };
    } catch {
      // No connection, or no reply in time: the answer may have arrived, and is sent again.
      return { fate: "later" };
    }
  }

  #retryLater() {
    // A random part keeps a whole laboratory from coming back in the same instant.
    this.#timer = setTimeout(() => this.wake(), this.#waitMs * (0.75 + Math.random() / 2));
    this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_WAIT_MS);
  }

  /** @param {State} state */
  #become(state) {
    if (state === this.#state) return;
    this.#state = state;
    this.#hooks.onState(state);
  }
}
