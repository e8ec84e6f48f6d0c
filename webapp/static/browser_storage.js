// @ts-check
/**
 * What this browser remembers of a session beyond the page: small, and read before anything is
 * shown. Where the browser denies it, a page remembers for as long as it is open.
 *
 * @typedef {object} Remembered
 * @property {string} [mark] What tells this browser from another one of the same session.
 * @property {boolean} [device_told] Whether the server has acknowledged the browser.
 * @property {number[]} [answered] The positions that the server has acknowledged.
 * @property {Record<string, { times: number, ms: number }>} [shown] By position: how often a trial
 *   was on the screen, and for how long.
 * @property {Record<string, string>} [written] What was written into the questionnaire.
 *
 * @typedef {object} KeyPreferences
 * @property {boolean} on
 * @property {string[]} keys
 */

/** @type {Map<string, string>} */
const fallback = new Map();

/** @type {Set<string>} The sessions that ended in this window: nothing that comes late is kept. */
const endedSessions = new Set();

/** Where several people share a computer, a window's memory ends with the window. */
function chooseStorage() {
  return "shared" in document.body.dataset ? sessionStorage : localStorage;
}

/** Whether what is remembered outlives the page. */
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
 * @param {string} name
 * @param {unknown} value Forgotten where undefined.
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
    // A full or a forbidden storage: the page's own memory has it.
  }
}

/**
 * @param {string} session The session's address.
 * @returns {Remembered}
 */
export function loadSession(session) {
  return loadValue(session) ?? {};
}

/**
 * Changes what is remembered of a session; another window of it may have changed the rest.
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
 * Lets a session be remembered, also one that had ended and goes on.
 * @param {string} session
 */
export function allowSession(session) {
  endedSessions.delete(session);
}

/**
 * Forgets what was remembered of a session, for as long as it is over.
 * @param {string} session
 */
export function forgetSession(session) {
  endedSessions.add(session);
  saveValue(session, undefined);
}
