// @ts-check
/**
 * Small values that this browser stores across pages, read before a page is shown. If the browser
 * refuses storage, they last as long as the page.
 *
 * @typedef {object} Remembered
 * @property {string} [mark] Identifies this browser among several that open the same session.
 * @property {boolean} [device_told] Whether the server has stored the device facts.
 * @property {number[]} [answered] The positions whose answers the server has acknowledged.
 * @property {Record<string, { times: number, ms: number }>} [shown] By position: how often a
 *   trial was shown, and for how long.
 * @property {Record<string, string>} [written] Unsent answers to the questionnaire.
 *
 * @typedef {object} KeyPreferences
 * @property {boolean} on
 * @property {string[]} keys
 */

/** @type {Map<string, string>} */
const fallback = new Map();

/** @type {Set<string>} The sessions that ended in this window: late updates are ignored. */
const endedSessions = new Set();

/** Returns the storage to use; on a shared computer it ends with the window. */
function chooseStorage() {
  return "shared" in document.body.dataset ? sessionStorage : localStorage;
}

/** Returns whether stored values outlive the page. */
export function isPersistent() {
  try {
    chooseStorage().setItem("parallax", "");
    chooseStorage().removeItem("parallax");
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns a stored value; undefined if there is none.
 * @param {string} name
 * @returns {any}
 */
export function loadValue(name) {
  try {
    const text = chooseStorage().getItem(`parallax ${name}`) ?? fallback.get(name);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    const text = fallback.get(name);
    return text === undefined ? undefined : JSON.parse(text);
  }
}

/**
 * Stores a value.
 * @param {string} name
 * @param {unknown} value Undefined removes the stored value.
 */
export function saveValue(name, value) {
  try {
    if (value === undefined) {
      fallback.delete(name);
      chooseStorage().removeItem(`parallax ${name}`);
    } else {
      fallback.set(name, JSON.stringify(value));
      chooseStorage().setItem(`parallax ${name}`, JSON.stringify(value));
    }
  } catch {
    // The storage is full or forbidden: the value stays in the page's memory.
  }
}

/**
 * Returns the stored values of a session.
 * @param {string} session The session's URL path.
 * @returns {Remembered}
 */
export function loadSession(session) {
  return loadValue(session) ?? {};
}

/**
 * Changes the stored values of a session; reads them anew, since another window may have changed them.
 * @param {string} session
 * @param {(remembered: Remembered) => void} change
 */
export function updateSession(session, change) {
  if (endedSessions.has(session)) return;
  const remembered = loadSession(session);
  change(remembered);
  saveValue(session, remembered);
}

/**
 * Allows a session to be stored again, including one that had ended and was resumed.
 * @param {string} session
 */
export function allowSession(session) {
  endedSessions.delete(session);
}

/**
 * Removes the stored values of a session, and ignores updates until it is resumed.
 * @param {string} session
 */
export function forgetSession(session) {
  endedSessions.add(session);
  saveValue(session, undefined);
}
