// @ts-check
/** The entry point of every page's script. */

import { openClosingPage } from "./closing.js";
import { offerToResume, openConsentPage } from "./consent.js";
import { openWithdrawalForm, openDataRequests, openWithdrawnPage } from "./withdrawal.js";
import { goTo, pageOpener, recordTitle } from "./navigation.js";
import { recordShownSession, hideClearedSession } from "./recent_sessions.js";
import { openQuestionnaire } from "./questionnaire.js";
import { resolveLink, server } from "./server.js";
import { openTrialsPage } from "./trials_page.js";

/** @type {Record<string, (signal: AbortSignal) => void | Promise<void>>} */
const PAGE_OPENERS = {
  assent: openQuestionnaire,
  closing: openClosingPage,
  comprehension: openQuestionnaire,
  consent: openConsentPage,
  finished_before: openDataRequests,
  own_data: openDataRequests,
  questionnaire: openQuestionnaire,
  screening: openQuestionnaire,
  turned_away: offerToResume,
  withdraw: openWithdrawalForm,
  withdrawn: openWithdrawnPage,
  working: openTrialsPage,
};

/** Removes the previous page's event listeners. */
let pageAbort = new AbortController();

/** Initialises the page that the browser has loaded. */
export function start() {
  pageOpener.open = openPage;
  window.addEventListener("popstate", () => {
    hideClearedSession();
    void goTo(server.currentUrl);
  });
  window.addEventListener("pageshow", (event) => {
    // A page from the back-forward cache may be out of date.
    if (event.persisted) location.reload();
  });
  document.addEventListener("click", (event) => {
    const copy = event.target instanceof Element && event.target.closest("[data-copy]");
    if (copy instanceof HTMLElement) return void copyText(copy);
    const link = event.target instanceof Element && event.target.closest("a[data-in-page]");
    if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void goTo(resolveLink(link, "href"));
  });
  openPage();
}

function openPage() {
  recordTitle();
  recordShownSession();
  pageAbort.abort();
  pageAbort = new AbortController();
  const { signal } = pageAbort;
  const opening = new Promise((resolve) => resolve(PAGE_OPENERS[document.body.dataset.page ?? ""]?.(signal)));
  opening.catch((error) => signal.aborted || showIncompleteNotice(error));
}

/**
 * Shows that the page cannot start because a part of it is missing. Unsent answers of an earlier
 * page stay stored for the next page load.
 * @param {unknown} error
 */
function showIncompleteNotice(error) {
  console.error(error);
  const notice = document.getElementById("incomplete");
  if (notice) notice.hidden = false;
}

/** @param {HTMLElement} button Its data attributes hold the text to copy and the label afterwards. */
async function copyText(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? "");
    button.textContent = button.dataset.copied ?? "";
  } catch {
    // Copying fails in a frame or without https: select the code for copying by hand.
    const code = button.parentElement?.querySelector("code");
    if (code) getSelection()?.selectAllChildren(code);
  }
}
