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
 * @typedef {object} KeyWishes
 * @property {boolean} on
 * @property {string[]} keys
 */

/** @type {Map<string, string>} */
const otherwise = new Map();

/** @type {Set<string>} The sessions that ended in this window: nothing that comes late is kept. */
const over = new Set();

/** Where several people share a computer, a window's memory ends with the window. */
function storage() {
  return "shared" in document.body.dataset ? sessionStorage : localStorage;
}

/** Whether what is remembered outlives the page. */
export function isLasting() {
  try {
    storage().setItem("parallax", "");
    storage().removeItem("parallax");
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {string} name
 * @returns {any}
 */
export function recall(name) {
  try {
    const text = storage().getItem(`parallax ${name}`) ?? otherwise.get(name);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    const text = otherwise.get(name);
    return text === undefined ? undefined : JSON.parse(text);
  }
}

/**
 * @param {string} name
 * @param {unknown} value Forgotten where undefined.
 */
export function remember(name, value) {
  try {
    if (value === undefined) {
      otherwise.delete(name);
      storage().removeItem(`parallax ${name}`);
    } else {
      otherwise.set(name, JSON.stringify(value));
      storage().setItem(`parallax ${name}`, JSON.stringify(value));
    }
  } catch {
    // A full or a forbidden storage: the page's own memory has it.
  }
}

/**
 * @param {string} session The session's address.
 * @returns {Remembered}
 */
export function recallSession(session) {
  return recall(session) ?? {};
}

/**
 * Changes what is remembered of a session; another window of it may have changed the rest.
 * @param {string} session
 * @param {(remembered: Remembered) => void} change
 */
export function updateSession(session, change) {
  if (over.has(session)) return;
  const remembered = recallSession(session);
  change(remembered);
  remember(session, remembered);
}

/**
 * Lets a session be remembered, also one that had ended and goes on.
 * @param {string} session
 */
export function resumeSession(session) {
  over.delete(session);
}

/**
 * Forgets what was remembered of a session, for as long as it is over.
 * @param {string} session
 */
export function forgetSession(session) {
  over.add(session);
  remember(session, undefined);
}
