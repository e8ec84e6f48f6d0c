// @ts-check
/** The consent page: the decision is sent until the server has it. */

import { loadValue, saveValue } from "./browser_storage.js";
import { getDeviceType, rejectDevice } from "./device.js";
import { getLastSession, getSessionOfRun } from "./recent_sessions.js";
import { sendForm } from "./navigation.js";
import { server } from "./server.js";

/**
 * Who comes back to the consent page with the back button is still the same visitor: the page's
 * entry in the history keeps the mark that it was first sent with. Opening the link anew is
 * another entry, and so another visitor, unless a decision was sent and its reply never came.
 * @param {AbortSignal} signal Aborted when the page is left.
 */
export function openConsentPage(signal) {
  const mark = findField("visit");
  const isShared = "shared" in document.body.dataset;
  const decisionKey = `deciding ${document.body.dataset.run}`;
  const storedMark = isShared ? undefined : history.state?.visit;
  mark.value = storedMark ?? loadValue(decisionKey) ?? mark.value;
  if (!isShared) history.replaceState({ visit: mark.value }, "");
  findField("session").value = getLastSession();
  void offerToResume();
  const form = document.querySelector("form");
  if (form) form.hidden = false;
  const device = document.querySelector("input[name=device]");
  if (device instanceof HTMLInputElement) device.value = getDeviceType();
  if (rejectDevice()) form?.querySelector("button[value=accept]")?.remove();
  form?.addEventListener(
    "submit",
    (event) => {
      event.preventDefault();
      saveValue(decisionKey, mark.value);
      const sending = sendForm(/** @type {HTMLFormElement} */ (event.target), event.submitter);
      void sending.then((isShown) => isShown && saveValue(decisionKey, undefined));
    },
    { signal },
  );
}

/**
 * A field of the decision; a loose one where a content blocker has taken it out.
 * @param {string} name
 * @returns {HTMLInputElement}
 */
function findField(name) {
  return document.querySelector(`input[name=${name}]`) ?? document.createElement("input");
}

/** Whoever opens the invitation again in the same browser is asked whether they go on, also where
 *  the run takes nobody new. The session may have ended on another device: the server knows. */
export async function offerToResume() {
  const session = getSessionOfRun();
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
