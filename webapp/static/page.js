// @ts-check
/** Every page's program begins here. */

import { openClosing } from "./closing.js";
import { offerTheWayBack, openConsent } from "./consent.js";
import { openLeaving, openOwnData, openWithdrawn } from "./leaving.js";
import { goTo, opener, openTitle } from "./navigation.js";
import { keepSession, passOver } from "./own_session.js";
import { openQuestionnaire } from "./questionnaire.js";
import { leadsTo, server } from "./server.js";
import { openWorking } from "./working.js";

/** @type {Record<string, (signal: AbortSignal) => void | Promise<void>>} */
const PAGES = {
  assent: openQuestionnaire,
  closing: openClosing,
  comprehension: openQuestionnaire,
  consent: openConsent,
  finished_before: openOwnData,
  own_data: openOwnData,
  questionnaire: openQuestionnaire,
  screening: openQuestionnaire,
  turned_away: offerTheWayBack,
  withdraw: openLeaving,
  withdrawn: openWithdrawn,
  working: openWorking,
};

/** Ends what the page before this one listened to. */
let leaving = new AbortController();

/** Opens the page that the browser has loaded. */
export function start() {
  opener.open = open;
  window.addEventListener("popstate", () => {
    passOver();
    void goTo(server.here);
  });
  window.addEventListener("pageshow", (event) => {
    // A page that the browser took from its memory may be long out of date.
    if (event.persisted) location.reload();
  });
  document.addEventListener("click", (event) => {
    const copy = event.target instanceof Element && event.target.closest("[data-copy]");
    if (copy instanceof HTMLElement) return void copyText(copy);
    const link = event.target instanceof Element && event.target.closest("a[data-in-page]");
    if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void goTo(leadsTo(link, "href"));
  });
  open();
}

function open() {
  openTitle();
  keepSession();
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const opened = new Promise((resolve) => resolve(PAGES[document.body.dataset.page ?? ""]?.(signal)));
  opened.catch((error) => signal.aborted || sayIncomplete(error));
}

/**
 * Says that the page cannot begin: a part of it is missing. Answers that an earlier page left
 * unsent stay where they are, for the page that is loaded next.
 * @param {unknown} error
 */
function sayIncomplete(error) {
  console.error(error);
  const notice = document.getElementById("incomplete");
  if (notice) notice.hidden = false;
}

/** @param {HTMLElement} button Says what it copies, and what to say then. */
async function copyText(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? "");
    button.textContent = button.dataset.copied ?? "";
  } catch {
    // A frame or a page without https may copy nothing: then the code is marked, to be copied by hand.
    const code = button.parentElement?.querySelector("code");
    if (code) getSelection()?.selectAllChildren(code);
  }
}
