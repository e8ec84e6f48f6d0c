// @ts-check
/** DataPipe as a result store: conditions, files, and staged saving. */

import { toSentEntry } from "./journal.js";
import { PermanentRefusal, sendRequest } from "./store_requests.js";
import { loadValue, saveValue } from "../browser_storage.js";

/**
 * @typedef {import("./journal.js").KeptEntry} KeptEntry
 * @typedef {import("./stores.js").Store} Store
 *
 * @typedef {object} Staged
 * @property {string} sessionId
 * @property {string} databaseURL
 * @property {number} tried The number of the last entry sent, also before a reload; it may have arrived.
 */

const JSON_TYPE = { "Content-Type": "application/json", Accept: "*/*" };

/**
 * Makes a store for DataPipe, which accepts whole files, each name once, and stages single trials in a
 * database whose URL it returns.
 * @returns {Store}
 */
export function datapipe(/** @type {{ url: string, experiment: string, counts: boolean, staged: boolean }} */ settings) {
  const { url, experiment, counts, staged } = settings;
  const ask = (/** @type {string} */ what, /** @type {object} */ body) =>
    sendRequest(`${url}/api/${what}/`, JSON.stringify({ experimentID: experiment, ...body }), JSON_TYPE);
  const staging = staged ? new Staging(ask) : undefined;
  return {
    takesWholeSessions: !staged,
    isFile: false,
    async send(session, { unsent, all, over }) {
      if (!over) {
        await staging?.send(session, unsent);
        return;
      }
      // Each delivery has its own name: a withdrawal follows an earlier file.
      const filename = `${session}-${all.length}.json`;
      const data = JSON.stringify(all.map(toSentEntry));
      const sessionId = staging?.load(session)?.sessionId;
      try {
        await ask("data", { filename, data, ...(sessionId ? { sessionId } : {}) });
      } catch (error) {
        // The name is random: if it exists, we sent the file and the reply was lost.
        if (!/FILE_EXISTS/.test(String(error))) throw error;
      }
    },
    ...(counts ? { drawNumber: async () => (await (await ask("condition", {})).json()).condition } : {}),
  };
}

/** DataPipe's staged saving, which recovers the trials of sessions that were never completed. */
class Staging {
  #ask;
  #isUnavailable = false;

  /** @param {(what: string, body: object) => Promise<Response>} ask */
  constructor(ask) {
    this.#ask = ask;
  }

  /**
   * @param {string} session
   * @returns {Staged | undefined}
   */
  load(session) {
    return loadValue(`staging ${session}`);
  }

  /**
   * @param {string} session
   * @param {KeptEntry[]} entries
   */
  async send(session, entries) {
    const staged = this.load(session) ?? (await this.#startStaging(session));
    const fileUrl = `${staged.databaseURL.replace(/\/$/, "")}/staging/${staged.sessionId}.json`;
    for (const entry of entries) {
      const trial = JSON.stringify(toSentEntry(entry));
      const body = { [`trials/${entry.n - 1}`]: trial, "meta/lastFlushAt": { ".sv": "timestamp" } };
      const isResend = entry.n <= staged.tried;
      if (!isResend) saveValue(`staging ${session}`, Object.assign(staged, { tried: entry.n }));
      try {
        await sendRequest(fileUrl, JSON.stringify(body), JSON_TYPE, "PATCH");
      } catch (error) {
        // A staged trial cannot be staged again: the refusal means that it had arrived.
        const isReply = error instanceof PermanentRefusal && "status" in error;
        if (!(isResend && isReply)) throw error;
      }
    }
  }

  /** @param {string} session */
  async #startStaging(session) {
    if (this.#isUnavailable) throw new PermanentRefusal("nothing is staged");
    const { sessionId, databaseURL } = await this.#requestStaging(session);
    const staged = { sessionId, databaseURL, tried: 0 };
    saveValue(`staging ${session}`, staged);
    return staged;
  }

  /** @param {string} session */
  async #requestStaging(session) {
    try {
      return await (await this.#ask("session", { filename: `${session}.json` })).json();
    } catch (error) {
      // A deployment without staging replies with an error; everything is then sent at the end.
      this.#isUnavailable = "status" in /** @type {object} */ (error);
      throw this.#isUnavailable ? new PermanentRefusal(String(error)) : error;
    }
  }
}
