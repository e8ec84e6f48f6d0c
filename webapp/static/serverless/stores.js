// @ts-check
/**
 * Where a study without a server keeps what people gave.
 *
 * @typedef {import("./journal.js").KeptEntry} KeptEntry
 * @typedef {{ unsent: KeptEntry[], all: KeptEntry[], over: boolean }} Load
 *
 * @typedef {object} Store
 * @property {boolean} takesWholeSessions Whether it takes whole sessions only, when they are over.
 * @property {boolean} isFile Whether the person themselves keeps the answers, as a file.
 * @property {(session: string, load: Load) => Promise<void>} send Resolves when the store has it;
 *   fails with Refused where it will never take it, and otherwise where it may later.
 * @property {() => Promise<number>} [drawNumber] Draws the next number of the store's own counter;
 *   fails with Refused where there is none.
 * @property {() => Promise<URLSearchParams>} [linkParameters] What the link said of who came, where the page's
 *   own address does not say it.
 */

import { datapipe } from "./datapipe.js";
import { jatos } from "./jatos.js";
import { toSentEntry } from "./journal.js";
import { sendRequest } from "./store_requests.js";

/**
 * @param {any} settings What the folder says of the store.
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
      // Text, so that no other site's server must be asked before whether it may be sent.
      await sendRequest(url, JSON.stringify(unsent.map(toSentEntry)), { "Content-Type": "text/plain;charset=utf-8" });
    },
  };
}
