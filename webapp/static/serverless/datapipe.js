// @ts-check
/** DataPipe as a store: conditions, files, and staged saving. */

import { asSent } from "./journal.js";
import { Refused, posted } from "./sending.js";
import { recall, remember } from "../memory.js";

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
    posted(`${url}/api/${what}/`, JSON.stringify({ experimentID: experiment, ...body }), JSON_TYPE);
  const staging = staged ? new Staging(ask) : undefined;
  return {
    whole: !staged,
    file: false,
    async send(session, { unsent, all, over }) {
      if (!over) {
        await staging?.send(session, unsent);
        return;
      }
      // A later file says what came later: who withdraws has handed in before.
      const filename = `${session}-${all.length}.json`;
      const data = JSON.stringify(all.map(asSent));
      const sessionId = staging?.of(session)?.sessionId;
      try {
        await ask("data", { filename, data, ...(sessionId ? { sessionId } : {}) });
      } catch (error) {
        // The name is random: who has it already has it from us, and their reply was lost.
        if (!/FILE_EXISTS/.test(String(error))) throw error;
      }
    },
    ...(counts ? { count: async () => (await (await ask("condition", {})).json()).condition } : {}),
  };
}

/** DataPipe's staged saving: it recovers what is staged of a session that was never handed in. */
class Staging {
  #ask;
  #none = false;

  /** @param {(what: string, body: object) => Promise<Response>} ask */
  constructor(ask) {
    this.#ask = ask;
  }

  /**
   * @param {string} session
   * @returns {Staged | undefined}
   */
  of(session) {
    return recall(`staging ${session}`);
  }

  /**
   * @param {string} session
   * @param {KeptEntry[]} entries
   */
  async send(session, entries) {
    const staged = this.of(session) ?? (await this.#begin(session));
    const place = `${staged.databaseURL.replace(/\/$/, "")}/staging/${staged.sessionId}.json`;
    for (const entry of entries) {
      const trial = JSON.stringify(asSent(entry));
      const body = { [`trials/${entry.n - 1}`]: trial, "meta/lastFlushAt": { ".sv": "timestamp" } };
      const again = entry.n <= staged.tried;
      if (!again) remember(`staging ${session}`, Object.assign(staged, { tried: entry.n }));
      try {
        await posted(place, JSON.stringify(body), JSON_TYPE, "PATCH");
      } catch (error) {
        // What is staged is never staged again: refused now, it arrived before.
        if (!(again && error instanceof Refused)) throw error;
      }
    }
  }

  /** @param {string} session */
  async #begin(session) {
    if (this.#none) throw new Refused("nothing is staged");
    const { sessionId, databaseURL } = await this.#begun(session);
    const staged = { sessionId, databaseURL, tried: 0 };
    remember(`staging ${session}`, staged);
    return staged;
  }

  /** @param {string} session */
  async #begun(session) {
    try {
      return await (await this.#ask("session", { filename: `${session}.json` })).json();
    } catch (error) {
      // A deployment that stages nothing says so; everything is then handed in at the end.
      this.#none = "status" in /** @type {object} */ (error);
      throw this.#none ? new Refused(String(error)) : error;
    }
  }
}
