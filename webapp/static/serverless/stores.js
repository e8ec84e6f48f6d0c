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
 * @property {() => Promise<number>} [count] Draws the next number of the store's own counter.
 */

import { asSent } from "./journal.js";
import { recall, remember } from "../memory.js";

const PATIENCE_MS = 60_000;

/** The store will not take it, however often it is asked. */
export class Refused extends Error {}

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

/**
 * @param {string} url
 * @param {string} body
 * @param {Record<string, string>} headers
 */
async function posted(url, body, headers, method = "POST") {
  const response = await fetch(url, { method, body, headers, signal: AbortSignal.timeout?.(PATIENCE_MS) });
  if (response.ok) return response;
  const { status } = response;
  const text = await response.text();
  const answered = Object.assign(status >= 500 || [408, 429].includes(status) ? new Error(text) : new Refused(text), { status });
  throw answered;
}

const JSON_TYPE = { "Content-Type": "application/json", Accept: "*/*" };

/**
 * DataPipe takes whole files, each name once, and stages single trials in a database that it names.
 * @returns {Store}
 */
function datapipe(/** @type {{ url: string, experiment: string, counts: boolean, staged: boolean }} */ settings) {
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
  /** @type {Set<string>} What was sent before, and may have arrived. */
  #tried = new Set();
  #none = false;

  /** @param {(what: string, body: object) => Promise<Response>} ask */
  constructor(ask) {
    this.#ask = ask;
  }

  /**
   * @param {string} session
   * @returns {{ sessionId: string, databaseURL: string } | undefined}
   */
  of(session) {
    return recall(`staging ${session}`);
  }

  /**
   * @param {string} session
   * @param {KeptEntry[]} entries
   */
  async send(session, entries) {
    const { sessionId, databaseURL } = this.of(session) ?? (await this.#begin(session));
    for (const entry of entries) {
      const place = `${databaseURL.replace(/\/$/, "")}/staging/${sessionId}.json`;
      const trial = JSON.stringify(asSent(entry));
      const body = { [`trials/${entry.n - 1}`]: trial, "meta/lastFlushAt": { ".sv": "timestamp" } };
      const again = this.#tried.has(entry.id);
      this.#tried.add(entry.id);
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
    const begun = await this.#begun(session);
    remember(`staging ${session}`, { sessionId: begun.sessionId, databaseURL: begun.databaseURL });
    return begun;
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

/**
 * JATOS: its own program, which it serves itself, sends what is appended to the results.
 * @returns {Store}
 */
function jatos() {
  const program = loaded();
  let ended = false;
  return {
    whole: false,
    file: false,
    async send(_, { unsent, over }) {
      const api = await program;
      if (ended) throw new Refused("the study has ended in JATOS");
      const lines = unsent.map((entry) => `${JSON.stringify(asSent(entry))}\n`).join("");
      await settled(api.appendResultData(lines));
      if (!over) return;
      ended = true;
      await settled(api.endStudyWithoutRedirect(true));
    },
    async count() {
      const api = await program;
      for (;;) {
        const next = api.batchSession.get("parallax_next") ?? 0;
        try {
          // Of several that change it at once, the first alone succeeds.
          await settled(api.batchSession.set("parallax_next", next + 1));
          return next;
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 450));
        }
      }
    },
  };
}

/** @returns {Promise<any>} */
function loaded() {
  return new Promise((resolve) => {
    const { jatos: api } = /** @type {any} */ (window);
    if (api) api.onLoad(() => resolve(api));
  });
}

/**
 * @param {any} promise One of JATOS's own, which older programs made.
 * @returns {Promise<void>}
 */
function settled(promise) {
  return new Promise((resolve, reject) => {
    promise.then(resolve, (/** @type {any} */ error) => reject(new Error(String(error))));
  });
}
