// @ts-check
/**
 * Records a trace of each trial, if the study asks for it: the path of mouse, pen or finger, and when
 * keys went down and up, never which ones. A text of at most MAX_LENGTH characters.
 *
 * Each moment is a letter (m a movement of mouse or pen, t of a finger, d a key down, u a key up),
 * the milliseconds since the previous moment, and for movements the distance to the right and down in
 * CSS pixels; all in base 36. The first moment counts from the drawing of the trial and from the
 * window's corner. experiment/responses/trace.py reads the text.
 *
 * @typedef {{ kind: "m" | "t" | "d" | "u", ms: number, x: number, y: number }} Moment
 */

export const MAX_LENGTH = 1500;
// About one screen frame: a screen shows at most one pointer position in this time.
const SHORTEST_MS = 16;

export class Trace {
  /** @type {Moment[]} */
  #moments = [];
  #beganMs = 0;

  /** @param {AbortSignal} signal Aborted when the page is left. */
  constructor(signal) {
    const listening = { signal, capture: true, passive: true };
    const onMove = (/** @type {PointerEvent} */ event) => {
      const { timeStamp, clientX: x, clientY: y, pointerType } = event;
      const before = this.#moments.findLast(({ kind }) => kind === "m" || kind === "t");
      if (before && timeStamp - this.#beganMs - before.ms < SHORTEST_MS) return;
      this.#addMoment(pointerType === "touch" ? "t" : "m", timeStamp, x, y);
    };
    document.addEventListener("pointermove", onMove, listening);
    document.addEventListener("keydown", (event) => event.repeat || this.#addMoment("d", event.timeStamp), listening);
    document.addEventListener("keyup", (event) => this.#addMoment("u", event.timeStamp), listening);
  }

  /** Starts the trace of a trial that is drawn now. */
  begin() {
    this.#moments = [];
    this.#beganMs = performance.now();
  }

  /** The encoded trace; drops every second moment until it is short enough. */
  get text() {
    let text = encodeMoments(this.#moments);
    while (text.length > MAX_LENGTH) {
      this.#moments = this.#moments.filter((_, n) => n % 2 === 0);
      text = encodeMoments(this.#moments);
    }
    return text;
  }

  /**
   * @param {Moment["kind"]} kind
   * @param {number} timeStamp
   * @param {number} [x]
   * @param {number} [y]
   */
  #addMoment(kind, timeStamp, x = 0, y = 0) {
    const ms = Math.round(timeStamp - this.#beganMs);
    if (ms >= 0) this.#moments.push({ kind, ms, x: Math.round(x), y: Math.round(y) });
  }
}

/** @param {Moment[]} moments */
function encodeMoments(moments) {
  let [msBefore, xBefore, yBefore] = [0, 0, 0];
  return moments
    .map(({ kind, ms, x, y }) => {
      const numbers = [ms - msBefore, ...(kind === "m" || kind === "t" ? [x - xBefore, y - yBefore] : [])];
      msBefore = ms;
      if (numbers.length > 1) [xBefore, yBefore] = [x, y];
      return kind + numbers.map((number) => number.toString(36)).join(",");
    })
    .join(";");
}
