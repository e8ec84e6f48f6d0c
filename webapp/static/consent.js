// @ts-check
/** The consent page: the decision is sent until the server has it. */

import { recall, remember } from "./memory.js";
import { lastSession, sessionOfRun } from "./own_session.js";
import { send } from "./navigation.js";

/**
 * Who comes back to the consent page with the back button is still the same visitor: the page's
 * entry in the history keeps the mark that it was first sent with. Opening the link anew is
 * another entry, and so another visitor, unless a decision was sent and its reply never came.
 * @param {AbortSignal} signal Aborted when the page is left.
 */
export function openConsent(signal) {
  const mark = /** @type {HTMLInputElement} */ (document.querySelector("input[name=visit]"));
  const deciding = `deciding ${document.body.dataset.run}`;
  mark.value = history.state?.visit ?? recall(deciding) ?? mark.value;
  history.replaceState({ visit: mark.value }, "");
  const begun = /** @type {HTMLInputElement} */ (document.querySelector("input[name=session]"));
  begun.value = lastSession();
  offerTheWayBack();
  document.querySelector("form")?.addEventListener(
    "submit",
    (event) => {
      event.preventDefault();
      remember(deciding, mark.value);
      const sent = send(/** @type {HTMLFormElement} */ (event.target), event.submitter);
      void sent.then((shown) => shown && remember(deciding, undefined));
    },
    { signal },
  );
}

/** Whoever opens the invitation again in the same browser is asked whether they go on, also where
 *  the run takes nobody new. */
export function offerTheWayBack() {
  const session = sessionOfRun();
  const offer = document.getElementById("begun-before");
  const link = offer?.querySelector("a");
  if (!session || !offer || !link) return;
  link.href = session;
  offer.hidden = false;
}
