// @ts-check
/** Every page's program begins here. */

import { openClosing } from "./closing.js";
import { offerTheWayBack, openConsent } from "./consent.js";
import { openLeaving, openWithdrawn } from "./leaving.js";
import { goTo, opener } from "./navigation.js";
import { keepSession } from "./own_session.js";
import { openQuestionnaire } from "./questionnaire.js";
import { openWorking } from "./working.js";

/** @type {Record<string, (signal: AbortSignal) => void | Promise<void>>} */
const PAGES = {
  closing: openClosing,
  comprehension: openQuestionnaire,
  consent: openConsent,
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
  window.addEventListener("popstate", () => void goTo(location.href));
  window.addEventListener("pageshow", (event) => {
    // A page that the browser took from its memory may be long out of date.
    if (event.persisted) location.reload();
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest("a[data-in-page]");
    if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void goTo(link.href);
  });
  open();
}

function open() {
  keepSession();
  leaving.abort();
  leaving = new AbortController();
  PAGES[document.body.dataset.page ?? ""]?.(leaving.signal);
}
