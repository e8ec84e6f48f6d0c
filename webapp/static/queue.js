// @ts-check
/**
 * The answers on their way to the server: sent one by one, in order, until each is acknowledged.
 *
 * @typedef {object} Answer
 * @property {string} uuid Made once for each answer, so that the server knows a resend.
 * @property {number} position
 * @property {"first" | "second"} side
 * @property {number} rt_ms
 * @property {"key" | "pointer" | "touch"} input_method
 * @property {string} client_time
 *
 * saved: the server has acknowledged everything. saving: an answer is on its way.
 * offline: an answer did not arrive and will be sent again. refused: the server will not take it.
 * @typedef {"saved" | "saving" | "offline" | "refused"} State
 */

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
const PATIENCE_MS = 20_000;

/**
 * Whether a status means that the same request can succeed later.
 * @param {number} status
 */
const mayPass = (status) => status >= 500 || status === 408 || status === 429;

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
  #onState;
  #fetch;

  /**
   * @param {string} url Where answers are sent.
   * @param {(state: State) => void} onState Told of every change of state.
   * @param {typeof fetch} fetch_ What sends; a test gives its own.
   */
  constructor(url, onState, fetch_ = (...request) => fetch(...request)) {
    this.#url = url;
    this.#onState = onState;
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
   * Sends an answer after those that wait before it.
   * @param {Answer} answer
   */
  add(answer) {
    this.#waiting.push(answer);
    this.wake();
  }

  /** Sends now what waits for a better moment, e.g. because the connection is back. */
  wake() {
    clearTimeout(this.#timer);
    if (!this.#sending && this.#state !== "refused") void this.#sendAll();
  }

  async #sendAll() {
    this.#sending = true;
    while (this.#waiting.length && (await this.#sendFirst())) {
      this.#waiting.shift();
      this.#waitMs = FIRST_WAIT_MS;
      this.#become(this.#waiting.length ? "saving" : "saved");
    }
    this.#sending = false;
  }

  /** Resolves to whether the server has acknowledged the first answer. */
  async #sendFirst() {
    if (this.#state === "saved") this.#become("saving");
    try {
      const response = await this.#fetch(this.#url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(this.#waiting[0]),
        keepalive: true,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      // A reply that nobody reads keeps its connection, or ends it.
      await response.text();
      if (response.ok) return true;
      if (!mayPass(response.status)) {
        this.#become("refused");
        return false;
      }
    } catch {
      // No connection, or no reply in time: the answer may have arrived, and is sent again.
    }
    this.#become("offline");
    this.#retryLater();
    return false;
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
    this.#onState(state);
  }
}
