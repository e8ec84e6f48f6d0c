// @ts-check
/** DataPipe as a store: conditions, files, and staged saving. */

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
 * @property {number} tried The last entry that was sent, and may have arrived: also before a reload.
 */

const JSON_TYPE = { "Content-Type": "application/json", Accept: "*/*" };

/**
 * DataPipe takes whole files, each name once, and stages single trials in a database that it names.
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
      // A later file says what came later: who withdraws has handed in before.
      const filename = `${session}-${all.length}.json`;
      const data = JSON.stringify(all.map(toSentEntry));
      const sessionId = staging?.load(session)?.sessionId;
      try {
        await ask("data", { filename, data, ...(sessionId ? { sessionId } : {}) });
      } catch (error) {
        // The name is random: who has it already has it from us, and their reply was lost.
        if (!/FILE_EXISTS/.test(String(error))) throw error;
      }
    },
    ...(counts ? { drawNumber: async () => (await (await ask("condition", {})).json()).condition } : {}),
  };
}

/** DataPipe's staged saving: it recovers what is staged of a session that was never handed in. */
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
        // What is staged is never staged again: refused now, it arrived before.
        if (!(isResend && error instanceof PermanentRefusal)) throw error;
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
      // A deployment that stages nothing says so; everything is then handed in at the end.
      this.#isUnavailable = "status" in /** @type {object} */ (error);
      throw this.#isUnavailable ? new PermanentRefusal(String(error)) : error;
    }
  }
}
