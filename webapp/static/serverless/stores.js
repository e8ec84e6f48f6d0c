// @ts-check
/**
 * Where a study without a server keeps what people gave.
 *
 * @typedef {import("./journal.js").KeptEntry} KeptEntry
 * @typedef {{ unsent: KeptEntry[], all: KeptEntry[], over: boolean }} Load
 *
 * @typedef {object} Store
 * @property {boolean} whole Whether it takes whole sessions only, when they are over.
 * @property {boolean} file Whether the person themselves keeps the answers, as a file.
 * @property {(session: string, load: Load) => Promise<void>} send Resolves when the store has it;
 *   fails with Refused where it will never take it, and otherwise where it may later.
 * @property {() => Promise<number>} [count] Draws the next number of the store's own counter;
 *   fails with Refused where there is none.
 * @property {() => Promise<URLSearchParams>} [said] What the link said of who came, where the page's
 *   own address does not say it.
 */

import { datapipe } from "./datapipe.js";
import { jatos } from "./jatos.js";
import { asSent } from "./journal.js";
import { posted } from "./sending.js";

/**
 * @param {any} settings What the folder says of the store.
 * @returns {Store}
 */
export function storeOf(settings) {
  return STORES[settings.kind](settings);
}

/** @type {Record<string, (settings: any) => Store>} */
const STORES = { datapipe, file, jatos, post };

/** @returns {Store} */
function file() {
  return { whole: true, file: true, send: async () => {} };
}

/** @returns {Store} */
function post(/** @type {{ url: string }} */ { url }) {
  return {
    whole: false,
    file: false,
    async send(_, { unsent }) {
      // Text, so that no other site's server must be asked before whether it may be sent.
      await posted(url, JSON.stringify(unsent.map(asSent)), { "Content-Type": "text/plain;charset=utf-8" });
    },
  };
}
