// @ts-check
/** The pages for withdrawing: the request is sent, with retries until the server has carried it out. */

import { sendForm } from "./navigation.js";
import { forgetLastSession } from "./recent_sessions.js";
import { openQuestions } from "./questions.js";

/**
 * Opens a page whose form asks to leave or withdraw.
 * @param {AbortSignal} signal Aborted when the page is left.
 */
export function openWithdrawalForm(signal) {
  document.querySelector("form")?.addEventListener(
    "submit",
    (event) => {
      event.preventDefault();
      void sendForm(/** @type {HTMLFormElement} */ (event.target), event.submitter);
    },
    { signal },
  );
}

/**
 * Opens the page after a withdrawal: this browser forgets the session as well.
 * @param {AbortSignal} signal Aborted when the page is left.
 */
export function openWithdrawnPage(signal) {
  forgetLastSession();
  openWithdrawalForm(signal);
}

/**
 * Opens the page that asks for a participant's code. The reply replaces this page, so that the data
 * cannot be reopened without the code. File downloads are left to the browser.
 * @param {AbortSignal} signal Aborted when the page is left.
 */
export function openDataRequests(signal) {
  for (const form of document.querySelectorAll("form[data-code-form]")) {
    openQuestions(/** @type {HTMLFormElement} */ (form), signal);
    form.addEventListener(
      "submit",
      (/** @type {any} */ event) => {
        if (event.submitter?.value === "download") return;
        event.preventDefault();
        void sendForm(/** @type {HTMLFormElement} */ (event.target), event.submitter);
      },
      { signal },
    );
  }
}
