// @ts-check
/**
 * The session that this browser began last. Who comes back under another of the platform's
 * assignments shows with it that the session is theirs, and goes on where they were.
 */

const KEY = "parallax-session";
const ADDRESS = /^\/p\/([^/]+)\//;

/** Keeps the session of the page that is shown, if it is one. */
export function keepSession() {
  const found = ADDRESS.exec(location.pathname);
  try {
    if (found) localStorage.setItem(KEY, decodeURIComponent(found[1]));
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

/** Forgets the session, as somebody who withdrew may expect. */
export function forgetOwnSession() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Where nothing can be kept, nothing is.
  }
}
