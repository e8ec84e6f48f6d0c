// @ts-check
/**
 * Where answers that the server has not acknowledged outlive the page: the browser's own database.
 *
 * @typedef {import("./answer_queue.js").Answer} Answer
 *
 * @typedef {object} Store
 * @property {() => Promise<Answer[]>} loadAll The session's answers, in the order of their trials.
 * @property {(answer: Answer) => Promise<void>} save
 * @property {(answer: Answer) => Promise<void>} remove
 */

const DATABASE = "parallax";
const OBJECT_STORE = "answers";
// Some browsers neither open nor refuse a database in a frame whose storage is blocked, and one that
// is busy elsewhere, or a full disk, can leave a wish without any answer.
const TIMEOUT_MS = 2_000;

/**
 * A store for a browser that keeps nothing: the queue's own memory is then all there is.
 * @type {Store}
 */
export const emptyStore = { loadAll: async () => [], save: async () => {}, remove: async () => {} };

/**
 * Resolves to the session's store, or to one that keeps nothing where the browser refuses.
 * @param {string} session What tells this session from the others of the same browser.
 * @returns {Promise<Store>}
 */
export async function openUnsentAnswers(session) {
  try {
    return makeStore(await withTimeout(openDatabase()), session);
  } catch {
    return emptyStore;
  }
}

/** @returns {Promise<IDBDatabase>} */
async function openDatabase() {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => {
    const objectStore = request.result.createObjectStore(OBJECT_STORE, { keyPath: "answer.uuid" });
    objectStore.createIndex("session", "session");
  };
  const database = await waitForRequest(request);
  database.onversionchange = () => database.close();
  return database;
}

/**
 * @param {IDBDatabase} database
 * @param {string} session
 * @returns {Store}
 */
function makeStore(database, session) {
  /** @param {IDBTransactionMode} mode */
  const objectStore = (mode) => database.transaction(OBJECT_STORE, mode).objectStore(OBJECT_STORE);
  return {
    loadAll: ignoreFailure([], async () => {
      const rows = await waitForRequest(objectStore("readonly").index("session").getAll(session));
      return rows.map(({ answer }) => answer).sort((a, b) => a.position - b.position);
    }),
    save: ignoreFailure(undefined, async (answer) => {
      const put = objectStore("readwrite").put({ session, answer });
      // A page that goes away at once takes what is not committed with it.
      put.transaction?.commit?.();
      await waitForRequest(put);
    }),
    remove: ignoreFailure(undefined, async (answer) => {
      await waitForRequest(objectStore("readwrite").delete(answer.uuid));
    }),
  };
}

/**
 * A disk that is full, a database that the browser closed or one that never answers must not stop the
 * participant: the answers stay in the page's memory and go to the server all the same.
 * @template {unknown[]} Args, Result
 * @param {Result} fallback
 * @param {(...args: Args) => Promise<Result>} operation
 * @returns {(...args: Args) => Promise<Result>}
 */
function ignoreFailure(fallback, operation) {
  return async (...args) => {
    try {
      return await withTimeout(operation(...args));
    } catch {
      return fallback;
    }
  };
}

/**
 * Resolves as another promise does, and rejects where that takes too long.
 * @template Result
 * @param {Promise<Result>} promise
 * @returns {Promise<Result>}
 */
function withTimeout(promise) {
  /** @type {Promise<never>} */
  const timeout = new Promise((_, reject) => setTimeout(reject, TIMEOUT_MS));
  return Promise.race([promise, timeout]);
}

/**
 * @template Result
 * @param {IDBRequest<Result>} request
 * @returns {Promise<Result>}
 */
function waitForRequest(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
