// @ts-check
/** The pages of somebody who stops: the wish is sent until the server has carried it out. */

import { sendForm } from "./navigation.js";
import { forgetLastSession } from "./recent_sessions.js";
import { openQuestions } from "./questions.js";

/** @param {AbortSignal} signal Aborted when the page is left. */
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
 * The page after that: this browser forgets the session as well.
 * @param {AbortSignal} signal Aborted when the page is left.
 */
export function openWithdrawnPage(signal) {
  forgetLastSession();
  openWithdrawalForm(signal);
}

/**
 * The page that asks for a person's code: what it leads to takes this page's place, so that nobody
 * comes back to it without the code. A file is for the browser to take.
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
