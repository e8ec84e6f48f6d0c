// @ts-check
/**
 * Stores answers that the server has not acknowledged in IndexedDB, so that they outlive the page.
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
// In a frame with blocked storage, some browsers neither open nor refuse a database; a busy database
// or a full disk can leave a request without a reply.
const TIMEOUT_MS = 2_000;

/**
 * A store for a browser without storage: the answers are then only in the queue's memory.
 * @type {Store}
 */
export const emptyStore = { loadAll: async () => [], save: async () => {}, remove: async () => {} };

/**
 * Resolves to the session's store, or to an empty store if the browser refuses.
 * @param {string} session Identifies the session among others in the same browser.
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
      // Without a commit, closing the page at once would lose the answer.
      put.transaction?.commit?.();
      await waitForRequest(put);
    }),
    remove: ignoreFailure(undefined, async (answer) => {
      await waitForRequest(objectStore("readwrite").delete(answer.uuid));
    }),
  };
}

/**
 * Makes an operation return a fallback on failure: a full disk or a closed or unresponsive database
 * must not stop the participant, whose answers stay in memory and are sent anyway.
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
 * Resolves like another promise, but rejects after the timeout.
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
 * Turns a database request into a promise.
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
