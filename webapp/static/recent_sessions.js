// @ts-check
/**
 * The sessions that this browser began: the most recent one, and the one in each run. A participant
 * who returns under another assignment of the platform resumes the session with it. A visitor who
 * opens the invitation again is asked whether to resume, until the session has ended: the next
 * person at this computer may be somebody else.
 */

import { forgetSession, loadValue, saveValue, allowSession } from "./browser_storage.js";
import { resolveLink, server, findSessionPath } from "./server.js";

const LAST = "session";
/** The pages shown during a session, and those shown after its end. */
const ACTIVE_PAGES = ["assent", "screening", "comprehension", "working", "questionnaire"];
const FINAL_PAGES = ["closing", "declined", "left", "withdrawn"];

/** @type {Set<string>} Ended sessions whose URLs were removed from this window. */
const clearedSessions = new Set();

/** Stores the session of the shown page, or forgets it if it has ended. */
export function recordShownSession() {
  const session = findSessionPath();
  if (!session) return;
  const page = document.body.dataset.page ?? "";
  if (ACTIVE_PAGES.includes(page)) {
    allowSession(session);
    saveValue(runKey(), session);
  }
  if (page !== "withdrawn") saveValue(LAST, decodeURIComponent(session.split("/").at(-2) ?? ""));
  if (!FINAL_PAGES.includes(page)) return;
  forgetSession(session);
  if (getSessionOfRun() === session) saveValue(runKey(), undefined);
  if ("shared" in document.body.dataset) clearForNextPerson(session);
}

/** @returns {string} The token of the most recent session; empty if there is none. */
export function getLastSession() {
  return loadValue(LAST) ?? "";
}

/** @returns {string | undefined} The URL path of the session begun in the page's run. */
export function getSessionOfRun() {
  return loadValue(runKey());
}

/** Forgets the most recent session, as a participant who withdrew may expect. */
export function forgetLastSession() {
  saveValue(LAST, undefined);
}

/**
 * Prepares the window for the next person: the page stays visible, but its URL becomes the run's,
 * so that nothing in this window leads back to the session.
 * @param {string} session
 */
function clearForNextPerson(session) {
  clearedSessions.add(session);
  // Relative links would resolve differently from another URL.
  for (const link of document.querySelectorAll("a[href]")) {
    /** @type {HTMLAnchorElement} */ (link).href = resolveLink(link, "href");
  }
  for (const form of document.querySelectorAll("form")) form.action = resolveLink(form, "action");
  saveValue("keys", undefined);
  forgetLastSession();
  enterInvitation();
}

/** Replaces the URL of a cleared session by the run's. */
export function hideClearedSession() {
  // Clears the screen at once, however long the next page takes to load.
  if (clearedSessions.size) document.querySelector("main")?.replaceChildren();
  if (clearedSessions.has(findSessionPath() ?? "")) enterInvitation();
}

function enterInvitation() {
  history.replaceState(null, "");
  server.enterUrl(server.invitationUrl(document.body.dataset.run), true);
}

function runKey() {
  return `run ${document.body.dataset.run}`;
}
