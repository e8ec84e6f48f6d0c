// @ts-check
/**
 * Submits the platform's form when a participant leaves the closing page open and idle: the platform
 * pays only submitted work. A participant who is still reading, or asks to stay, is not sent away.
 */

const IDLE_MS = 300_000;
const ACTIVITY_EVENTS = ["pointermove", "pointerdown", "keydown", "scroll", "focusin", "visibilitychange"];

/** @param {AbortSignal} signal Aborted when the page is left. */
export function openClosingPage(signal) {
  /** @type {HTMLFormElement | null} */
  const form = document.querySelector("form[data-submit-form]");
  if (!form) return;
  let timer = 0;
  const restartTimer = () => {
    clearTimeout(timer);
    timer = setTimeout(() => form.requestSubmit(), IDLE_MS);
  };
  const listening = new AbortController();
  const stop = () => {
    listening.abort();
    clearTimeout(timer);
  };
  for (const activity of ACTIVITY_EVENTS) {
    document.addEventListener(activity, restartTimer, { signal: listening.signal, passive: true });
  }
  document.getElementById("stay")?.addEventListener("click", () => {
    stop();
    document.getElementById("continues")?.remove();
    /** @type {HTMLElement | null} */ (document.querySelector("main h1"))?.focus();
  });
  signal.addEventListener("abort", stop);
  restartTimer();
}
