// @ts-check
/**
 * The sessions that this browser began: the last of all, and of each run. Who comes back under
 * another of the platform's assignments shows with it that the session is theirs, and goes on where
 * they were; who opens the invitation again is asked, until the session has ended: the next person
 * at this computer may be somebody else.
 */

import { forgetSession, loadValue, saveValue, allowSession } from "./browser_storage.js";
import { resolveLink, server, findSessionPath } from "./server.js";

const LAST = "session";
/** The pages at which somebody is in the middle of a session, and those at which it has ended. */
const ACTIVE_PAGES = ["assent", "screening", "comprehension", "working", "questionnaire"];
const FINAL_PAGES = ["closing", "declined", "left", "withdrawn"];

/** @type {Set<string>} The sessions of people who have left this window to the next. */
const clearedSessions = new Set();

/** Keeps the session of the page that is shown, if it is one, or forgets one that has ended. */
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

/** @returns {string} What stands for the session, empty where there is none. */
export function getLastSession() {
  return loadValue(LAST) ?? "";
}

/** @returns {string | undefined} The address of the session that was begun in the page's run. */
export function getSessionOfRun() {
  return loadValue(runKey());
}

/** Forgets the last session, as somebody who withdrew may expect. */
export function forgetLastSession() {
  saveValue(LAST, undefined);
}

/**
 * Leaves the window to the next person: the page stays as it is, and its address is the run's, so
 * that nothing in this window leads back to the session.
 * @param {string} session
 */
function clearForNextPerson(session) {
  clearedSessions.add(session);
  // Relative links would lead elsewhere from another address.
  for (const link of document.querySelectorAll("a[href]")) {
    /** @type {HTMLAnchorElement} */ (link).href = resolveLink(link, "href");
  }
  for (const form of document.querySelectorAll("form")) form.action = resolveLink(form, "action");
  saveValue("keys", undefined);
  forgetLastSession();
  enterInvitation();
}

/** Turns the address of somebody who has left the window to the next into the run's. */
export function hideClearedSession() {
  // Whatever is on the screen goes at once, however long the next page takes to come.
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
