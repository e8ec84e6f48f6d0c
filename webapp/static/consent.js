// @ts-check
/** The consent page: sends the decision, with retries until the server has it. */

import { loadValue, saveValue } from "./browser_storage.js";
import { getDeviceType, rejectDevice } from "./device.js";
import { getLastSession, getSessionOfRun } from "./recent_sessions.js";
import { sendForm } from "./navigation.js";
import { server } from "./server.js";

/**
 * Opens the consent page. Coming back with the browser's back button keeps the visitor's mark,
 * because the history entry stores it. Opening the link again makes a new entry, and so a new
 * visitor, unless a decision was sent whose reply never arrived.
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
 * Returns a field of the form, or a detached one if a content blocker removed it.
 * @param {string} name
 * @returns {HTMLInputElement}
 */
function findField(name) {
  return document.querySelector(`input[name=${name}]`) ?? document.createElement("input");
}

/** Offers to resume a session that this browser began in the run, even if the run is full. Asks the
 *  server first, because the session may have ended on another device. */
export async function offerToResume() {
  const session = getSessionOfRun();
  const offer = document.getElementById("begun-before");
  const link = offer?.querySelector("a");
  if (!session || !offer || !link) return;
  try {
    const { going_on, late } = await (await server.fetch(`${session}going-on`)).json();
    link.href = session;
    // Who is turned away may read on the session's own page that its place is gone.
    offer.hidden = !going_on && !(late && document.body.dataset.page === "turned_away");
  } catch {
    // Without a reply nothing is offered: this may be another person.
  }
}
