// @ts-check
/**
 * The sessions that this browser began: the last of all, and of each run. Who comes back under
 * another of the platform's assignments shows with it that the session is theirs, and goes on where
 * they were; who opens the invitation again is asked, until the session has ended: the next person
 * at this computer may be somebody else.
 */

import { forgetSession, recall, remember, resumeSession } from "./memory.js";
import { leadsTo, server, sessionShown } from "./server.js";

const LAST = "session";
/** The pages at which somebody is in the middle of a session, and those at which it has ended. */
const WITHIN = ["assent", "screening", "comprehension", "working", "questionnaire"];
const OVER = ["closing", "declined", "left", "withdrawn"];

/** @type {Set<string>} The sessions of people who have left this window to the next. */
const left = new Set();

/** Keeps the session of the page that is shown, if it is one, or forgets one that has ended. */
export function keepSession() {
  const found = sessionShown();
  if (!found) return;
  const page = document.body.dataset.page ?? "";
  if (WITHIN.includes(page)) {
    resumeSession(found);
    remember(ofRun(), found);
  }
  if (page !== "withdrawn") remember(LAST, decodeURIComponent(found.split("/").at(-2) ?? ""));
  if (!OVER.includes(page)) return;
  forgetSession(found);
  if (sessionOfRun() === found) remember(ofRun(), undefined);
  if ("shared" in document.body.dataset) leaveToTheNext(found);
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
    /** @type {HTMLAnchorElement} */ (link).href = leadsTo(link, "href");
  }
  for (const form of document.querySelectorAll("form")) form.action = leadsTo(form, "action");
  remember("keys", undefined);
  forgetLastSession();
  takeTheRuns();
}

/** Turns the address of somebody who has left the window to the next into the run's. */
export function passOver() {
  // Whatever is on the screen goes at once, however long the next page takes to come.
  if (left.size) document.querySelector("main")?.replaceChildren();
  if (left.has(sessionShown() ?? "")) takeTheRuns();
}

function takeTheRuns() {
  history.replaceState(null, "");
  server.enter(server.invitation(document.body.dataset.run), true);
}

function ofRun() {
  return `run ${document.body.dataset.run}`;
}
