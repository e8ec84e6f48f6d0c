// @ts-check
/** How a trial was on the screen: frames that did not come, how long the page was hidden, the zoom. */

// Ten minutes at 60 frames a second; nobody needs the frames of a longer trial.
const MOST_FRAMES = 36_000;
// So few frames do not tell how often they usually come.
const FEWEST_FRAMES = 10;

export class DisplayMonitor {
  /** @type {number[]} The times between the trial's frames. */
  #gapsMs = [];
  #usualMs = NaN;
  /** @type {number | undefined} When the last frame came; undefined where the next gap says nothing. */
  #lastMs;
  #hiddenMs = 0;
  /** @type {number | undefined} Since when the page is hidden. */
  #hiddenSinceMs;
  #frameRequest = 0;

  /** @param {AbortSignal} signal Aborted when the page is left. */
  constructor(signal) {
    document.addEventListener("visibilitychange", () => this.#onVisibility(), { signal });
    signal.addEventListener("abort", () => cancelAnimationFrame(this.#frameRequest));
  }

  /** Begins with a trial. */
  startTrial() {
    this.#gapsMs = [];
    this.#lastMs = undefined;
    this.#hiddenMs = 0;
    this.#hiddenSinceMs = document.hidden ? performance.now() : undefined;
    cancelAnimationFrame(this.#frameRequest);
    this.#recordFrame();
  }

  /**
   * Ends it, and returns what is stored of it.
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

  /** How many frames did not come, by the median time between two of them; null where few came. */
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
    // A hidden page has no frames, and these are not missed.
    this.#lastMs = undefined;
  }
}
