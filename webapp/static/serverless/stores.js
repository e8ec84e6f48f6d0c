// @ts-check
/**
 * The result stores of a study without a server.
 *
 * @typedef {import("./journal.js").KeptEntry} KeptEntry
 * @typedef {{ unsent: KeptEntry[], all: KeptEntry[], over: boolean }} Load
 *
 * @typedef {object} Store
 * @property {boolean} takesWholeSessions Whether it accepts only whole sessions, at their end.
 * @property {boolean} isFile Whether the participant saves the answers as a file.
 * @property {(session: string, load: Load) => Promise<void>} send Resolves when the store has
 *   the entries; rejects with PermanentRefusal if it never will, otherwise with another error.
 * @property {() => Promise<number>} [drawNumber] Draws the next number of the store's
 *   counter; rejects with PermanentRefusal if it has none.
 * @property {() => Promise<URLSearchParams>} [linkParameters] The parameters of the link, if
 *   the page's own URL does not contain them.
 */

import { datapipe } from "./datapipe.js";
import { jatos } from "./jatos.js";
import { toSentEntry } from "./journal.js";
import { sendRequest } from "./store_requests.js";

/**
 * @param {any} settings The store's settings in the folder.
 * @returns {Store}
 */
export function makeResultStore(settings) {
  return STORES[settings.kind](settings);
}

/** @type {Record<string, (settings: any) => Store>} */
const STORES = { datapipe, file, jatos, post };

/** @returns {Store} */
function file() {
  return { takesWholeSessions: true, isFile: true, send: async () => {} };
}

/** @returns {Store} */
function post(/** @type {{ url: string }} */ { url }) {
  return {
    takesWholeSessions: false,
    isFile: false,
    async send(_, { unsent }) {
      // Sent as plain text, so that browsers make no CORS preflight request.
      await sendRequest(url, JSON.stringify(unsent.map(toSentEntry)), { "Content-Type": "text/plain;charset=utf-8" });
    },
  };
}
