// @ts-check
/** Records the display conditions of a trial: dropped frames, hidden time and zoom. */

// Ten minutes at 60 frames per second; longer trials are not monitored further.
const MOST_FRAMES = 36_000;
// With fewer frames the usual interval is unknown.
const FEWEST_FRAMES = 10;

export class DisplayMonitor {
  /** @type {number[]} The intervals between the trial's frames. */
  #gapsMs = [];
  #usualMs = NaN;
  /** @type {number | undefined} The time of the last frame; undefined if the next interval must be ignored. */
  #lastMs;
  #hiddenMs = 0;
  /** @type {number | undefined} When the page became hidden. */
  #hiddenSinceMs;
  #frameRequest = 0;

  /** @param {AbortSignal} signal Aborted when the page is left. */
  constructor(signal) {
    document.addEventListener("visibilitychange", () => this.#onVisibility(), { signal });
    signal.addEventListener("abort", () => cancelAnimationFrame(this.#frameRequest));
  }

  /** Starts monitoring a trial. */
  startTrial() {
    this.#gapsMs = [];
    this.#lastMs = undefined;
    this.#hiddenMs = 0;
    this.#hiddenSinceMs = document.hidden ? performance.now() : undefined;
    cancelAnimationFrame(this.#frameRequest);
    this.#recordFrame();
  }

  /**
   * Stops monitoring, and returns the values to store.
   * @returns {{ frames_dropped: number | null, hidden_ms: number, pixel_ratio: number }}
   */
  endTrial() {
    cancelAnimationFrame(this.#frameRequest);
    this.#onVisibility();
    const ratio = window.devicePixelRatio * (window.visualViewport?.scale ?? 1);
    return {
      frames_dropped: this.#countDroppedFrames(),
      hidden_ms: Math.round(this.#hiddenMs),
      pixel_ratio: Math.round(ratio * 100) / 100,
    };
  }

  #recordFrame() {
    this.#frameRequest = requestAnimationFrame((ms) => {
      if (this.#lastMs !== undefined && ms > this.#lastMs) this.#gapsMs.push(ms - this.#lastMs);
      this.#lastMs = ms;
      if (this.#gapsMs.length < MOST_FRAMES) this.#recordFrame();
    });
  }

  /** Returns the number of dropped frames, from the median interval; null with too few frames. */
  #countDroppedFrames() {
    if (this.#gapsMs.length >= FEWEST_FRAMES) {
      this.#usualMs = [...this.#gapsMs].sort((a, b) => a - b)[this.#gapsMs.length >> 1];
    }
    if (Number.isNaN(this.#usualMs)) return null;
    return this.#gapsMs.reduce((sum, gap) => sum + Math.max(0, Math.round(gap / this.#usualMs) - 1), 0);
  }

  #onVisibility() {
    const now = performance.now();
    if (this.#hiddenSinceMs !== undefined) this.#hiddenMs += now - this.#hiddenSinceMs;
    this.#hiddenSinceMs = document.hidden ? now : undefined;
    // A hidden page draws no frames; these do not count as dropped.
    this.#lastMs = undefined;
  }
}
