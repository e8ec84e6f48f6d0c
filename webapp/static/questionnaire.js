// @ts-check
/** A page of questions is sent until the server has it; what was written outlives the page. */

import { recallSession, updateSession } from "./memory.js";
import { send } from "./navigation.js";
import { BETWEEN_CHOICES, formTexts, openQuestions } from "./questions.js";
import { server } from "./server.js";

// The hidden field that says into which answers something was pasted, and how much.
const PASTED = "_pasted";

/** @param {AbortSignal} signal Aborted when the page is left. */
export function openQuestionnaire(signal) {
  const form = document.querySelector("main form");
  if (form instanceof HTMLFormElement) {
    keepWritten(form, signal);
    openQuestions(form, signal);
  }
  document.addEventListener(
    "submit",
    (event) => {
      event.preventDefault();
      void send(/** @type {HTMLFormElement} */ (event.target), event.submitter, (waiting) => {
        const offline = document.getElementById("offline");
        if (offline) offline.hidden = !waiting;
      });
    },
    { signal },
  );
}

/**
 * Puts back what an earlier page of the session had written, and keeps what is written now.
 * @param {HTMLFormElement} form
 * @param {AbortSignal} signal
 */
function keepWritten(form, signal) {
  const here = new URL(server.here).pathname;
  // What the server sends back with what must be mended is newer.
  const mended = document.querySelector("main [role=alert]");
  const written = mended ? {} : (recallSession(here).written ?? {});
  for (const field of form.querySelectorAll("input, textarea")) {
    const kept = written[/** @type {HTMLInputElement} */ (field).name];
    if (kept === undefined) continue;
    if (field instanceof HTMLTextAreaElement || field.getAttribute("type") === "text") {
      /** @type {HTMLTextAreaElement} */ (field).value = kept;
    } else if (field instanceof HTMLInputElement && ["radio", "checkbox"].includes(field.type)) {
      const several = field.type === "checkbox" ? kept.split(BETWEEN_CHOICES) : [];
      field.checked = field.value === kept || several.includes(field.value);
    } else if (field === form.elements.namedItem(PASTED)) field.value = kept;
  }
  const keep = () => {
    const now = new FormData(form);
    now.delete("try");
    updateSession(here, (remembered) => {
      remembered.written = formTexts(now);
    });
  };
  form.addEventListener("input", keep, { signal });
  form.addEventListener("paste", (event) => notePasted(form, event), { signal });
}

/**
 * Counts what is pasted into an answer; the text itself is told nowhere else than in the answer.
 * @param {HTMLFormElement} form
 * @param {ClipboardEvent} event
 */
function notePasted(form, event) {
  const counts = form.elements.namedItem(PASTED);
  const { name } = /** @type {HTMLInputElement} */ (event.target);
  const length = event.clipboardData?.getData("text/plain").length ?? 0;
  if (!(counts instanceof HTMLInputElement) || !name || !length) return;
  const told = JSON.parse(counts.value || "{}");
  counts.value = JSON.stringify({ ...told, [name]: (told[name] ?? 0) + length });
}
