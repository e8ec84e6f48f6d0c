// @ts-check
/**
 * The work of who leaves the closing page open is handed in all the same: only what the platform
 * has received can be paid. The wait leaves time to read the page.
 */

import { updateSession } from "./memory.js";

const AFTER_MS = 60_000;

/** @param {AbortSignal} signal Aborted when the page is left. */
export function openClosing(signal) {
  // The server has everything, so this browser need not keep it.
  updateSession(location.pathname, (remembered) => {
    delete remembered.answered;
    delete remembered.shown;
    delete remembered.written;
  });
  /** @type {HTMLFormElement | null} */
  const form = document.querySelector("form[data-submit-form]");
  if (!form) return;
  const timer = setTimeout(() => form.requestSubmit(), AFTER_MS);
  signal.addEventListener("abort", () => clearTimeout(timer));
}
