// @ts-check
/**
 * When a trial's texts came onto the screen: by the browser's own presentation time where it tells
 * one (Element Timing), by two animation frames elsewhere.
 *
 * @typedef {object} Onset
 * @property {number} ms On the clock of performance.now(); Infinity before the painting.
 * @property {"presentation" | "frames" | null} source
 * @property {number | null} uncertaintyMs
 */

// Presentation times are rounded to this where a page shares its process with other sites' pages.
const COARSE_MS = 4;
const FINE_MS = 0.1;

/** @type {Onset} */
const UNKNOWN = { ms: Infinity, source: null, uncertaintyMs: null };

// Of all clocks of the page: what one has painted is not another's.
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

  /** What is known by now; a choice asks, because what the browser has seen it tells a little late. */
  get onset() {
    this.#readEntries(this.#observer?.takeRecords() ?? []);
    return this.#onset;
  }

  /**
   * Begins anew with texts that are about to be painted.
   * @param {Iterable<HTMLElement>} texts Elements that were never painted before.
   * @param {() => void} onPainted Called after the painting.
   */
  watch(texts, onPainted) {
    this.#onset = UNKNOWN;
    this.#name = `trial ${(clockCount += 1)}`;
    const name = this.#name;
    for (const text of texts) text.setAttribute("elementtiming", name);
    // The first frame callback comes before the painting, the second after it.
    requestAnimationFrame((before) =>
      requestAnimationFrame((after) => {
        if (this.#name !== name) return;
        const uncertaintyMs = Math.max(after - before, FINE_MS);
        if (!this.#onset.source) this.#onset = { ms: performance.now(), source: "frames", uncertaintyMs };
        onPainted();
      }),
    );
  }

  /** Forgets the texts: nothing is on the screen. */
  stop() {
    this.#name = "";
    this.#onset = UNKNOWN;
  }

  /** @param {PerformanceEntryList} entries */
  #readEntries(entries) {
    for (const entry of /** @type {any[]} */ (entries)) {
      if (entry.identifier !== this.#name || !(entry.renderTime > 0)) continue;
      // The last text to arrive makes the trial whole.
      const { ms, source } = this.#onset;
      const latest = source === "presentation" ? Math.max(ms, entry.renderTime) : entry.renderTime;
      const uncertaintyMs = globalThis.crossOriginIsolated ? FINE_MS : COARSE_MS;
      this.#onset = { ms: latest, source: "presentation", uncertaintyMs };
    }
  }
}
