// @ts-check
/**
 * Measures when a trial's texts appeared on the screen: from the browser's presentation time where
 * available (Element Timing), otherwise from two animation frames.
 *
 * @typedef {object} Onset
 * @property {number} ms By performance.now(); Infinity before the texts are painted.
 * @property {"presentation" | "frames" | null} source
 * @property {number | null} uncertaintyMs
 */

// Browsers round presentation times to this, unless the page is cross-origin isolated.
const COARSE_MS = 4;
const FINE_MS = 0.1;

/** @type {Onset} */
const UNKNOWN = { ms: Infinity, source: null, uncertaintyMs: null };

// Shared by all clocks of the page, so that each text belongs to one clock.
let clockCount = 0;

export class OnsetClock {
  /** @type {Onset} */
  #onset = UNKNOWN;
  #name = "";
  /** @type {PerformanceObserver | undefined} */
  #observer;

  /** @param {AbortSignal} signal Aborted when the page is left. */
  constructor(signal) {
    if (!globalThis.PerformanceObserver?.supportedEntryTypes?.includes("element")) return;
    this.#observer = new PerformanceObserver((list) => this.#readEntries(list.getEntries()));
    this.#observer.observe({ type: "element" });
    signal.addEventListener("abort", () => this.#observer?.disconnect());
  }

  /** The latest known onset; read at a choice, because browsers report presentation times late. */
  get onset() {
    this.#readEntries(this.#observer?.takeRecords() ?? []);
    return this.#onset;
  }

  /**
   * Starts timing texts that are about to be painted.
   * @param {Iterable<HTMLElement>} texts New elements that were never painted before.
   * @param {() => void} onPainted Called after they were painted.
   */
  watch(texts, onPainted) {
    this.#onset = UNKNOWN;
    this.#name = `trial ${(clockCount += 1)}`;
    const name = this.#name;
    for (const text of texts) text.setAttribute("elementtiming", name);
    // The first frame callback runs before painting, the second after it.
    requestAnimationFrame((before) =>
      requestAnimationFrame((after) => {
        if (this.#name !== name) return;
        const uncertaintyMs = Math.max(after - before, FINE_MS);
        if (!this.#onset.source) this.#onset = { ms: performance.now(), source: "frames", uncertaintyMs };
        onPainted();
      }),
    );
  }

  /** Stops timing: no text is on the screen. */
  stop() {
    this.#name = "";
    this.#onset = UNKNOWN;
  }

  /** @param {PerformanceEntryList} entries */
  #readEntries(entries) {
    for (const entry of /** @type {any[]} */ (entries)) {
      if (entry.identifier !== this.#name || !(entry.renderTime > 0)) continue;
      // The trial's onset is that of the last text to appear.
      const { ms, source } = this.#onset;
      const latest = source === "presentation" ? Math.max(ms, entry.renderTime) : entry.renderTime;
      const uncertaintyMs = globalThis.crossOriginIsolated ? FINE_MS : COARSE_MS;
      this.#onset = { ms: latest, source: "presentation", uncertaintyMs };
    }
  }
}
