// @ts-check
/**
 * The sessions that this browser began: the last of all, and of each run. Who comes back under
 * another of the platform's assignments shows with it that the session is theirs, and goes on where
 * they were; who opens the invitation again is asked.
 */

import { recall, remember } from "./memory.js";

const KEY = "parallax-session";
const ADDRESS = /^\/p\/([^/]+)\//;
/** The pages at which somebody is in the middle of a session, or at its good end. */
const WITHIN = ["screening", "comprehension", "working", "questionnaire", "closing"];

/** Keeps the session of the page that is shown, if it is one. */
export function keepSession() {
  const found = ADDRESS.exec(location.pathname);
  if (!found) return;
  if (WITHIN.includes(document.body.dataset.page ?? "")) remember(ofRun(), found[0]);
  try {
    localStorage.setItem(KEY, decodeURIComponent(found[1]));
  } catch {
    // A frame may have no storage: then a session can be shown by its address alone.
  }
}

/** @returns {string} What stands for the session, empty where there is none. */
export function lastSession() {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

/** @returns {string | undefined} The address of the session that was begun in the page's run. */
export function sessionOfRun() {
  return recall(ofRun());
}

/** Forgets the session of the page that is shown, as somebody who withdrew may expect. */
export function forgetOwnSession() {
  if (sessionOfRun() === ADDRESS.exec(location.pathname)?.[0]) remember(ofRun(), undefined);
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Where nothing can be kept, nothing is.
  }
}

function ofRun() {
  return `run ${document.body.dataset.run}`;
}
