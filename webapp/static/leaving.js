// @ts-check
/** The pages of somebody who stops: the wish is sent until the server has carried it out. */

import { forgetSession } from "./memory.js";
import { send } from "./navigation.js";
import { forgetOwnSession } from "./own_session.js";

/** @param {AbortSignal} signal Aborted when the page is left. */
export function openLeaving(signal) {
  document.querySelector("form")?.addEventListener(
    "submit",
    (event) => {
      event.preventDefault();
      void send(/** @type {HTMLFormElement} */ (event.target), event.submitter);
    },
    { signal },
  );
}

/**
 * The page after that: this browser forgets the session as well.
 * @param {AbortSignal} signal Aborted when the page is left.
 */
export function openWithdrawn(signal) {
  forgetSession(location.pathname);
  forgetOwnSession();
  openLeaving(signal);
}
