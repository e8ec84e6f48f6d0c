// @ts-check
/** The consent page: the decision is sent until the server has it. */

import { recall, remember } from "./memory.js";
import { kindOfDevice, refusesDevice } from "./device.js";
import { lastSession, sessionOfRun } from "./own_session.js";
import { send } from "./navigation.js";
import { server } from "./server.js";

/**
 * Who comes back to the consent page with the back button is still the same visitor: the page's
 * entry in the history keeps the mark that it was first sent with. Opening the link anew is
 * another entry, and so another visitor, unless a decision was sent and its reply never came.
 * @param {AbortSignal} signal Aborted when the page is left.
 */
export function openConsent(signal) {
  const mark = fieldOf("visit");
  const shared = "shared" in document.body.dataset;
  const deciding = `deciding ${document.body.dataset.run}`;
  const earlier = shared ? undefined : history.state?.visit;
  mark.value = earlier ?? recall(deciding) ?? mark.value;
  if (!shared) history.replaceState({ visit: mark.value }, "");
  fieldOf("session").value = lastSession();
  void offerTheWayBack();
  const form = document.querySelector("form");
  if (form) form.hidden = false;
  const device = document.querySelector("input[name=device]");
  if (device instanceof HTMLInputElement) device.value = kindOfDevice();
  if (refusesDevice()) form?.querySelector("button[value=accept]")?.remove();
  form?.addEventListener(
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

/**
 * A field of the decision; a loose one where a content blocker has taken it out.
 * @param {string} name
 * @returns {HTMLInputElement}
 */
function fieldOf(name) {
  return document.querySelector(`input[name=${name}]`) ?? document.createElement("input");
}

/** Whoever opens the invitation again in the same browser is asked whether they go on, also where
 *  the run takes nobody new. The session may have ended on another device: the server knows. */
export async function offerTheWayBack() {
  const session = sessionOfRun();
  const offer = document.getElementById("begun-before");
  const link = offer?.querySelector("a");
  if (!session || !offer || !link) return;
  try {
    const { going_on } = await (await server.fetch(`${session}going-on`)).json();
    link.href = session;
    offer.hidden = !going_on;
  } catch {
    // Without the server's word nothing is offered: who comes may be somebody else.
  }
}
