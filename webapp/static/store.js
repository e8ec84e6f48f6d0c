// @ts-check
/**
 * Where answers that the server has not acknowledged outlive the page: the browser's own database.
 *
 * @typedef {import("./queue.js").Answer} Answer
 *
 * @typedef {object} Store
 * @property {() => Promise<Answer[]>} all The session's answers, in the order of their trials.
 * @property {(answer: Answer) => Promise<void>} keep
 * @property {(answer: Answer) => Promise<void>} drop
 */

const DATABASE = "parallax";
const SHELF = "answers";
// Some browsers neither open nor refuse a database in a frame whose storage is blocked, and one that
// is busy elsewhere, or a full disk, can leave a wish without any answer.
const WITHIN_MS = 2_000;

/**
 * A store for a browser that keeps nothing: the queue's own memory is then all there is.
 * @type {Store}
 */
export const noStore = { all: async () => [], keep: async () => {}, drop: async () => {} };

/**
 * Resolves to the session's store, or to one that keeps nothing where the browser refuses.
 * @param {string} session What tells this session from the others of the same browser.
 * @returns {Promise<Store>}
 */
export async function openStore(session) {
  try {
    return storeIn(await inTime(opened()), session);
  } catch {
    return noStore;
  }
}

/** @returns {Promise<IDBDatabase>} */
async function opened() {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => {
    const shelf = request.result.createObjectStore(SHELF, { keyPath: "answer.uuid" });
    shelf.createIndex("session", "session");
  };
  const database = await outcome(request);
  database.onversionchange = () => database.close();
  return database;
}

/**
 * @param {IDBDatabase} database
 * @param {string} session
 * @returns {Store}
 */
function storeIn(database, session) {
  /** @param {IDBTransactionMode} mode */
  const shelf = (mode) => database.transaction(SHELF, mode).objectStore(SHELF);
  return {
    all: withoutFailing([], async () => {
      const kept = await outcome(shelf("readonly").index("session").getAll(session));
      return kept.map(({ answer }) => answer).sort((a, b) => a.position - b.position);
    }),
    keep: withoutFailing(undefined, async (answer) => {
      const put = shelf("readwrite").put({ session, answer });
      // A page that goes away at once takes what is not committed with it.
      put.transaction?.commit?.();
      await outcome(put);
    }),
    drop: withoutFailing(undefined, async (answer) => {
      await outcome(shelf("readwrite").delete(answer.uuid));
    }),
  };
}

/**
 * A disk that is full, a database that the browser closed or one that never answers must not stop the
 * participant: the answers stay in the page's memory and go to the server all the same.
 * @template {unknown[]} Given, Result
 * @param {Result} otherwise
 * @param {(...given: Given) => Promise<Result>} act
 * @returns {(...given: Given) => Promise<Result>}
 */
function withoutFailing(otherwise, act) {
  return async (...given) => {
    try {
      return await inTime(act(...given));
    } catch {
      return otherwise;
    }
  };
}

/**
 * Resolves as another promise does, and rejects where that takes too long.
 * @template Result
 * @param {Promise<Result>} wished
 * @returns {Promise<Result>}
 */
function inTime(wished) {
  /** @type {Promise<never>} */
  const tooLong = new Promise((_, reject) => setTimeout(reject, WITHIN_MS));
  return Promise.race([wished, tooLong]);
}

/**
 * @template Result
 * @param {IDBRequest<Result>} request
 * @returns {Promise<Result>}
 */
function outcome(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
