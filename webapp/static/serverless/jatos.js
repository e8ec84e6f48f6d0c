// @ts-check
/** JATOS as a result store, through its own script jatos.js. */

import { toSentEntry } from "./journal.js";
import { PermanentRefusal, isPermanentError } from "./store_requests.js";

/** @typedef {import("./stores.js").Store} Store */

const COUNTING_MS = 15_000;
const JATOS_PROGRAM = "jatos.js";

/**
 * Makes a store for JATOS: jatos.js sends what is appended to the results.
 * @returns {Store}
 */
export function jatos() {
  /** @type {Set<string>} The ids of the entries already in the results. */
  const appended = new Set();
  let ended = false;
  return {
    takesWholeSessions: false,
    isFile: false,
    async send(_, { unsent, over }) {
      const api = await loadJatos();
      const entries = unsent.filter(({ id }) => !appended.has(id));
      if (ended && entries.length) throw new PermanentRefusal("the study has ended in JATOS");
      const lines = entries.map((entry) => `${JSON.stringify(toSentEntry(entry))}\n`).join("");
      if (lines) await toPromise(api.appendResultData(lines));
      for (const { id } of entries) appended.add(id);
      if (!over || ended) return;
      ended = true;
      // The results have arrived. jatos.js ends a study only once, so a failure is final and harmless.
      await toPromise(api.endStudyWithoutRedirect(true)).catch(() => {});
    },
    // JATOS redirects from the link to its own URL, so the parameters come from jatos.js.
    linkParameters: async () => new URLSearchParams((await loadJatos()).urlQueryParameters),
    async drawNumber() {
      const api = await loadJatos();
      for (const deadlineMs = performance.now() + COUNTING_MS; ; ) {
        const next = api.batchSession.get("parallax_next") ?? 0;
        try {
          // Of several simultaneous changes, only the first succeeds.
          await toPromise(api.batchSession.set("parallax_next", next + 1));
          return next;
        } catch (error) {
          if (performance.now() > deadlineMs) throw error;
          await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 450));
        }
      }
    },
  };
}

/**
 * Resolves to the API of jatos.js; loads the script again if it did not load with the page.
 * @returns {Promise<any>}
 */
async function loadJatos() {
  const global = /** @type {any} */ (window);
  if (!global.jatos) {
    await new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement("script"), { src: JATOS_PROGRAM });
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${JATOS_PROGRAM} did not come`));
      document.head.append(script);
    });
  }
  return new Promise((resolve) => global.jatos.onLoad(() => resolve(global.jatos)));
}

/**
 * Converts a promise of JATOS, which rejects with a message and, after a reply, the HTTP status.
 * @param {any} promise
 * @returns {Promise<void>}
 */
function toPromise(promise) {
  return new Promise((resolve, reject) => {
    promise.then(resolve, (/** @type {any} */ reason, /** @type {number | undefined} */ status) => {
      // A run that was opened in another window accepts nothing more from this one.
      const isPermanent = (status && isPermanentError(status)) || /run is invalid/.test(String(reason));
      reject(isPermanent ? new PermanentRefusal(String(reason)) : new Error(String(reason)));
    });
  });
}
