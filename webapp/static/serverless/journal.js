// @ts-check
/**
 * The journal of a study without a server: everything that a server would have received, in order.
 * IndexedDB stores it, so that it outlives the page. Entries that a result store has acknowledged are
 * marked; entries are erased only at the participant's request.
 *
 * @typedef {object} Entry
 * @property {1} parallax The version of this format.
 * @property {string} folder The version of the study's folder.
 * @property {string} session
 * @property {number} n The number of the entry in the session, from 1.
 * @property {string} kind
 * @property {string} at The browser's clock.
 * @property {string} body JSON.
 * @property {string} check A checksum that reveals entries changed by hand.
 *
 * @typedef {Entry & { id: string, sent?: boolean }} KeptEntry
 */

const DATABASE = "parallax static";
const OBJECT_STORE = "entries";
// In a frame with blocked storage, some browsers neither open nor refuse a database.
const OPENED_WITHIN_MS = 2_000;

export class Journal {
  /** @type {Map<string, KeptEntry>} The entries, if the browser refuses storage. */
  #memory = new Map();
  /** @type {Promise<IDBDatabase | undefined>} */
  #database = openDatabase();
  /** @type {Promise<unknown>} Entries are added one at a time, so that each gets its own number. */
  #adding = Promise.resolve();
  #folder;
  /** Whether all entries are in the browser's storage, and so outlive the page. */
  isOnDisk = true;

  /** @param {string} folder The version of the study's folder. */
  constructor(folder) {
    this.#folder = folder;
  }

  /**
   * Resolves to a session's entries in order.
   * @param {string} session
   * @returns {Promise<KeptEntry[]>}
   */
  async loadEntries(session) {
    const stored = await this.#runTransaction("readonly", (objectStore) => objectStore.index("session").getAll(session));
    const entriesById = new Map((stored ?? []).map((/** @type {KeptEntry} */ entry) => [entry.id, entry]));
    for (const entry of this.#memory.values()) {
      if (entry.session === session && !entriesById.has(entry.id)) entriesById.set(entry.id, entry);
    }
    return [...entriesById.values()].sort((a, b) => a.n - b.n || (a.at < b.at ? -1 : 1));
  }

  /**
   * Adds an entry, unless one with the same id exists.
   * @param {string} session
   * @param {string} kind
   * @param {object} data
   * @param {string} [id] Identifies the entry.
   * @param {(entries: KeptEntry[]) => boolean} [isWanted] Whether to add it, given the
   *   session's entries so far.
   */
  async add(session, kind, data, id = `${session} ${kind} ${performance.now()}`, isWanted = () => true) {
    const add = () => this.#add(session, kind, data, id, isWanted);
    // With Web Locks, other windows of the session wait as well.
    const adding = this.#adding.then(() => navigator.locks?.request(`parallax ${session}`, add) ?? add());
    this.#adding = adding.catch(() => {});
    await adding;
  }

  /**
   * @param {string} session
   * @param {string} kind
   * @param {object} data
   * @param {string} id
   * @param {(entries: KeptEntry[]) => boolean} isWanted
   */
  async #add(session, kind, data, id, isWanted) {
    const entries = await this.loadEntries(session);
    if (entries.some((entry) => entry.id === id) || !isWanted(entries)) return;
    const n = Math.max(0, ...entries.map((entry) => entry.n)) + 1;
    const [at, body] = [new Date().toISOString(), JSON.stringify(data)];
    // A session keeps its folder version even if a newer folder was published meanwhile.
    const folder = entries[0]?.folder ?? this.#folder;
    const check = computeChecksum([folder, session, n, kind, at, body].join("\n"));
    await this.#saveEntry({ parallax: 1, folder, session, n, kind, at, body, check, id });
  }

  /** @param {KeptEntry[]} entries The entries that a store has acknowledged. */
  async markSent(entries) {
    for (const entry of entries) await this.#saveEntry({ ...entry, sent: true });
  }

  /**
   * Erases entries at the participant's request.
   * @param {KeptEntry[]} entries
   */
  async erase(entries) {
    for (const { id } of entries) {
      this.#memory.delete(id);
      await this.#runTransaction("readwrite", (objectStore) => objectStore.delete(id));
    }
  }

  /** @param {KeptEntry} entry */
  async #saveEntry(entry) {
    const key = await this.#runTransaction("readwrite", (objectStore) => objectStore.put(entry));
    // A full disk must not stop the participant: the entry stays in memory.
    if (key === undefined) this.#memory.set(entry.id, entry);
    else this.#memory.delete(entry.id);
    this.isOnDisk = this.#memory.size === 0;
  }

  /**
   * @param {IDBTransactionMode} mode
   * @param {(objectStore: IDBObjectStore) => IDBRequest} operation
   * @returns {Promise<any>} Undefined if the browser refuses storage.
   */
  async #runTransaction(mode, operation) {
    const database = await this.#database;
    if (!database) return undefined;
    try {
      const transaction = database.transaction(OBJECT_STORE, mode);
      const request = operation(transaction.objectStore(OBJECT_STORE));
      return await new Promise((resolve, reject) => {
        // A write counts once the transaction has completed.
        transaction.oncomplete = () => resolve(request.result ?? null);
        transaction.onabort = transaction.onerror = () => reject(transaction.error);
      });
    } catch {
      return undefined;
    }
  }
}

/**
 * Returns an entry without the fields used only in the browser.
 * @param {KeptEntry} entry
 * @returns {Entry}
 */
export function toSentEntry({ parallax, folder, session, n, kind, at, body, check }) {
  return { parallax, folder, session, n, kind, at, body, check };
}

/**
 * Returns the 64-bit FNV-1a hash of a text in UTF-8: it detects changes, but is no proof.
 * @param {string} text
 */
export function computeChecksum(text) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, "0");
}

/** @returns {Promise<IDBDatabase | undefined>} */
function openDatabase() {
  return new Promise((resolve) => {
    setTimeout(resolve, OPENED_WITHIN_MS, undefined);
    try {
      const request = indexedDB.open(DATABASE, 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore(OBJECT_STORE, { keyPath: "id" }).createIndex("session", "session");
      };
      request.onsuccess = () => {
        request.result.onversionchange = () => request.result.close();
        resolve(request.result);
      };
      request.onerror = () => resolve(undefined);
    } catch {
      resolve(undefined);
    }
  });
}
