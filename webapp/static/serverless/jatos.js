// @ts-check
/** JATOS as a store, through the program that it serves itself. */

import { toSentEntry } from "./journal.js";
import { PermanentRefusal, isPermanentError } from "./store_requests.js";

/** @typedef {import("./stores.js").Store} Store */

const COUNTING_MS = 15_000;
const JATOS_PROGRAM = "jatos.js";

/**
 * JATOS: its own program, which it serves itself, sends what is appended to the results.
 * @returns {Store}
 */
export function jatos() {
  /** @type {Set<string>} What the results hold already. */
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
      // The results are there. jatos.js ends a study once only, so its failure is final, and harmless.
      await toPromise(api.endStudyWithoutRedirect(true)).catch(() => {});
    },
    // JATOS leads on from the link to an address of its own.
    linkParameters: async () => new URLSearchParams((await loadJatos()).urlQueryParameters),
    async drawNumber() {
      const api = await loadJatos();
      for (const deadlineMs = performance.now() + COUNTING_MS; ; ) {
        const next = api.batchSession.get("parallax_next") ?? 0;
        try {
          // Of several that change it at once, the first alone succeeds.
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
 * Resolves to JATOS's program; asks for it again where it did not come with the page.
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
 * @param {any} promise One of JATOS's own: it fails with a sentence, and with the status if there was an answer.
 * @returns {Promise<void>}
 */
function toPromise(promise) {
  return new Promise((resolve, reject) => {
    promise.then(resolve, (/** @type {any} */ reason, /** @type {number | undefined} */ status) => {
      // A run that was opened in another window takes nothing from this one any more.
      const isPermanent = (status && isPermanentError(status)) || /run is invalid/.test(String(reason));
      reject(isPermanent ? new PermanentRefusal(String(reason)) : new Error(String(reason)));
    });
  });
}
