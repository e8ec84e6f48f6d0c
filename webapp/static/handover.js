// @ts-check
/**
 * The work of who leaves the closing page open is handed in all the same: only what the platform
 * has received can be paid. The wait leaves time to read the page.
 */

const AFTER_MS = 60_000;

setTimeout(() => {
  /** @type {HTMLFormElement} */ (document.querySelector("form[data-handover]")).requestSubmit();
}, AFTER_MS);
