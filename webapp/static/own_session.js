// @ts-check
/**
 * The sessions that this browser began: the last of all, and of each run. Who comes back under
 * another of the platform's assignments shows with it that the session is theirs, and goes on where
 * they were; who opens the invitation again is asked, until the session has ended: the next person
 * at this computer may be somebody else.
 */

import { forgetSession, recall, remember } from "./memory.js";

const LAST = "session";
const ADDRESS = /^\/p\/([^/]+)\//;
/** The pages at which somebody is in the middle of a session, and those at which it has ended. */
const WITHIN = ["screening", "comprehension", "working", "questionnaire"];
const OVER = ["closing", "declined", "left", "withdrawn"];

/** @type {Set<string>} The sessions of people who have left this window to the next. */
const left = new Set();

/** Keeps the session of the page that is shown, if it is one, or forgets one that has ended. */
export function keepSession() {
  const found = ADDRESS.exec(location.pathname);
  if (!found) return;
  const page = document.body.dataset.page ?? "";
  if (WITHIN.includes(page)) remember(ofRun(), found[0]);
  if (page !== "withdrawn") remember(LAST, decodeURIComponent(found[1]));
  if (!OVER.includes(page)) return;
  forgetSession(found[0]);
  if (sessionOfRun() === found[0]) remember(ofRun(), undefined);
  if ("shared" in document.body.dataset) leaveToTheNext(found[0]);
}

/** @returns {string} What stands for the session, empty where there is none. */
export function lastSession() {
  return recall(LAST) ?? "";
}

/** @returns {string | undefined} The address of the session that was begun in the page's run. */
export function sessionOfRun() {
  return recall(ofRun());
}

/** Forgets the last session, as somebody who withdrew may expect. */
export function forgetLastSession() {
  remember(LAST, undefined);
}

/**
 * Leaves the window to the next person: the page stays as it is, and its address is the run's, so
 * that nothing in this window leads back to the session.
 * @param {string} session
 */
function leaveToTheNext(session) {
  left.add(session);
  // Relative links would lead elsewhere from another address.
  for (const link of document.querySelectorAll("a[href]")) {
    /** @type {HTMLAnchorElement} */ (link).href = /** @type {HTMLAnchorElement} */ (link).href;
  }
  for (const form of document.querySelectorAll("form")) form.action = form.action;
  remember("keys", undefined);
  forgetLastSession();
  history.replaceState(null, "", `/run/${document.body.dataset.run}`);
}

/** Turns the address of somebody who has left the window to the next into the run's. */
export function passOver() {
  // Whatever is on the screen goes at once, however long the next page takes to come.
  if (left.size) document.querySelector("main")?.replaceChildren();
  if (!left.has(ADDRESS.exec(location.pathname)?.[0] ?? "")) return;
  history.replaceState(null, "", `/run/${document.body.dataset.run}`);
}

function ofRun() {
  return `run ${document.body.dataset.run}`;
}
