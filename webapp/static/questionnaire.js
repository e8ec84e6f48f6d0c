// @ts-check
/** A page of questions: sends the answers with retries, and stores a draft that outlives the page. */

import { loadSession, updateSession } from "./browser_storage.js";
import { sendForm, showUnsent } from "./navigation.js";
import { BETWEEN_CHOICES, formTexts, openQuestions } from "./questions.js";
import { server } from "./server.js";

// The hidden field with the number of pasted characters per answer.
const PASTED = "_pasted";

/** @param {AbortSignal} signal Aborted when the page is left. */
export function openQuestionnaire(signal) {
  const form = document.querySelector("main form");
  if (form instanceof HTMLFormElement) {
    restoreDraft(form, signal);
    openQuestions(form, signal);
  }
  document.addEventListener(
    "submit",
    (event) => {
      event.preventDefault();
      void sendForm(/** @type {HTMLFormElement} */ (event.target), event.submitter, showUnsent);
    },
    { signal },
  );
}

/**
 * Restores the draft of an earlier page of the session, and stores changes to it.
 * @param {HTMLFormElement} form
 * @param {AbortSignal} signal
 */
function restoreDraft(form, signal) {
  const sessionPath = new URL(server.currentUrl).pathname;
  // Answers that the server returned with error messages are newer than the draft.
  const hasErrors = document.querySelector("main [role=alert]");
  const draft = hasErrors ? {} : (loadSession(sessionPath).written ?? {});
  for (const field of form.querySelectorAll("input, textarea")) {
    const text = draft[/** @type {HTMLInputElement} */ (field).name];
    if (text === undefined) continue;
    if (field instanceof HTMLTextAreaElement || field.getAttribute("type") === "text") {
      /** @type {HTMLTextAreaElement} */ (field).value = text;
    } else if (field instanceof HTMLInputElement && ["radio", "checkbox"].includes(field.type)) {
      const choices = field.type === "checkbox" ? text.split(BETWEEN_CHOICES) : [];
      field.checked = field.value === text || choices.includes(field.value);
    } else if (field === form.elements.namedItem(PASTED)) field.value = text;
  }
  const saveDraft = () => {
    const formData = new FormData(form);
    formData.delete("try");
    updateSession(sessionPath, (remembered) => {
      remembered.written = formTexts(formData);
    });
  };
  form.addEventListener("input", saveDraft, { signal });
  form.addEventListener("paste", (event) => countPasted(form, event), { signal });
}

/**
 * Counts characters pasted into an answer; the pasted text itself is not recorded separately.
 * @param {HTMLFormElement} form
 * @param {ClipboardEvent} event
 */
function countPasted(form, event) {
  const counts = form.elements.namedItem(PASTED);
  const { name } = /** @type {HTMLInputElement} */ (event.target);
  const length = event.clipboardData?.getData("text/plain").length ?? 0;
  if (!(counts instanceof HTMLInputElement) || !name || !length) return;
  const counted = JSON.parse(counts.value || "{}");
  counts.value = JSON.stringify({ ...counted, [name]: (counted[name] ?? 0) + length });
}
