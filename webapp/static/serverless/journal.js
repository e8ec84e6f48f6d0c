// @ts-check
/**
 * Everything that somebody did in a study without a server, in the order in which it happened: what
 * a server would have been sent. It lies in the browser's own database, so that it outlives the
 * page; what a store has acknowledged is marked, and nothing else is ever taken out but by the
 * person's own wish.
 *
 * @typedef {object} Entry
 * @property {1} parallax The version of this form.
 * @property {string} folder The version of the study's folder.
 * @property {string} session
 * @property {number} n Its place in the session, from 1.
 * @property {string} kind
 * @property {string} at The browser's clock.
 * @property {string} body JSON.
 * @property {string} check Tells an entry that was changed by hand.
 *
 * @typedef {Entry & { id: string, sent?: boolean }} KeptEntry
 */

const DATABASE = "parallax static";
const OBJECT_STORE = "entries";
// Some browsers neither open nor refuse a database in a frame whose storage is blocked.
const OPENED_WITHIN_MS = 2_000;

export class Journal {
  /** @type {Map<string, KeptEntry>} What there is where the browser keeps nothing. */
  #memory = new Map();
  /** @type {Promise<IDBDatabase | undefined>} */
  #database = openDatabase();
  /** @type {Promise<unknown>} One after the other: each has a number of its own. */
  #adding = Promise.resolve();
  #folder;
  /** Whether everything that was kept is in the browser's own storage, and survives the page. */
  isOnDisk = true;

  /** @param {string} folder The version of the study's folder. */
  constructor(folder) {
    this.#folder = folder;
  }

  /**
   * Resolves to a session's entries in their order.
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
   * Keeps something that was done; twice is once.
   * @param {string} session
   * @param {string} kind
   * @param {object} data
   * @param {string} [id] What tells it from everything else.
   * @param {(entries: KeptEntry[]) => boolean} [isWanted] Whether it is, after all that was kept
   *   before it.
   */
  async add(session, kind, data, id = `${session} ${kind} ${performance.now()}`, isWanted = () => true) {
    const add = () => this.#add(session, kind, data, id, isWanted);
    // Where the browser has locks, other windows of the session wait as well.
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
    // Where another version of the folder has come meanwhile, a session stays what it was.
    const folder = entries[0]?.folder ?? this.#folder;
    const check = computeChecksum([folder, session, n, kind, at, body].join("\n"));
    await this.#saveEntry({ parallax: 1, folder, session, n, kind, at, body, check, id });
  }

  /** @param {KeptEntry[]} entries Those that a store has acknowledged. */
  async markSent(entries) {
    for (const entry of entries) await this.#saveEntry({ ...entry, sent: true });
  }

  /**
   * Takes out what somebody wants erased.
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
    // A disk that is full must not stop anybody: the page's own memory has it.
    if (key === undefined) this.#memory.set(entry.id, entry);
    else this.#memory.delete(entry.id);
    this.isOnDisk = this.#memory.size === 0;
  }

  /**
   * @param {IDBTransactionMode} mode
   * @param {(objectStore: IDBObjectStore) => IDBRequest} operation
   * @returns {Promise<any>} Undefined where the browser keeps nothing.
   */
  async #runTransaction(mode, operation) {
    const database = await this.#database;
    if (!database) return undefined;
    try {
      const transaction = database.transaction(OBJECT_STORE, mode);
      const request = operation(transaction.objectStore(OBJECT_STORE));
      return await new Promise((resolve, reject) => {
        // What is written counts once it is on the disk.
        transaction.oncomplete = () => resolve(request.result ?? null);
        transaction.onabort = transaction.onerror = () => reject(transaction.error);
      });
    } catch {
      return undefined;
    }
  }
}

/**
 * An entry as it leaves the browser.
 * @param {KeptEntry} entry
 * @returns {Entry}
 */
export function toSentEntry({ parallax, folder, session, n, kind, at, body, check }) {
  return { parallax, folder, session, n, kind, at, body, check };
}

/**
 * The FNV-1a hash of a text in UTF-8, 64 bits: it notices a change, and proves nothing.
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
