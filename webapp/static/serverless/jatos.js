// @ts-check
/** JATOS as a store, through the program that it serves itself. */

import { asSent } from "./journal.js";
import { Refused, refuses } from "./sending.js";

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
    whole: false,
    file: false,
    async send(_, { unsent, over }) {
      const api = await loaded();
      const entries = unsent.filter(({ id }) => !appended.has(id));
      if (ended && entries.length) throw new Refused("the study has ended in JATOS");
      const lines = entries.map((entry) => `${JSON.stringify(asSent(entry))}\n`).join("");
      if (lines) await settled(api.appendResultData(lines));
      for (const { id } of entries) appended.add(id);
      if (!over || ended) return;
      ended = true;
      // The results are there. jatos.js ends a study once only, so its failure is final, and harmless.
      await settled(api.endStudyWithoutRedirect(true)).catch(() => {});
    },
    // JATOS leads on from the link to an address of its own.
    said: async () => new URLSearchParams((await loaded()).urlQueryParameters),
    async count() {
      const api = await loaded();
      for (const patience = performance.now() + COUNTING_MS; ; ) {
        const next = api.batchSession.get("parallax_next") ?? 0;
        try {
          // Of several that change it at once, the first alone succeeds.
          await settled(api.batchSession.set("parallax_next", next + 1));
          return next;
        } catch (error) {
          if (performance.now() > patience) throw error;
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
async function loaded() {
  const place = /** @type {any} */ (window);
  if (!place.jatos) {
    await new Promise((resolve, reject) => {
      const program = Object.assign(document.createElement("script"), { src: JATOS_PROGRAM });
      program.onload = resolve;
      program.onerror = () => reject(new Error(`${JATOS_PROGRAM} did not come`));
      document.head.append(program);
    });
  }
  return new Promise((resolve) => place.jatos.onLoad(() => resolve(place.jatos)));
}

/**
 * @param {any} promise One of JATOS's own: it fails with a sentence, and with the status if there was an answer.
 * @returns {Promise<void>}
 */
function settled(promise) {
  return new Promise((resolve, reject) => {
    promise.then(resolve, (/** @type {any} */ why, /** @type {number | undefined} */ status) => {
      // A run that was opened in another window takes nothing from this one any more.
      const never = (status && refuses(status)) || /run is invalid/.test(String(why));
      reject(never ? new Refused(String(why)) : new Error(String(why)));
    });
  });
}
