// @ts-check
/**
 * Stands where the server stands, in a study that is a folder of files: it answers what the pages
 * ask for from the folder and from the journal, and hands the journal to the store. An answer is
 * acknowledged when the store has it, and never before.
 */

import { formTexts } from "../questions.js";
import { server } from "../server.js";
import { Journal, asSent } from "./journal.js";
import { address, asPage, notInOrder, putIn } from "./pages.js";
import { admits, problemsOf, progressOf } from "./progress.js";
import { Refused } from "./sending.js";
import { storeOf } from "./stores.js";

/** @typedef {import("./progress.js").Progress} Progress */

const OVER = ["declined", "finished", "left", "withdrawn"];
const AFTER_SAVING = "main > .done, main > .text > :not(h1)";
const RANDOM = "abcdefghijklmnopqrstuvwxyz234567";

/**
 * Lets a study's folder answer what its pages ask for.
 * @param {any} study What the folder says of the study.
 * @param {Record<string, any>} programs Those that pages ask for by name.
 */
export function answerLocally(study, programs) {
  const local = new Local(study);
  document.addEventListener?.("click", thankOnceSaved);
  Object.defineProperty(server, "here", { get: address.here });
  Object.assign(server, {
    enter: address.enter,
    fetch: (/** @type {string} */ url, /** @type {RequestInit} */ request) =>
      inTime(local.answer(url, request), request?.signal),
    // Whatever waits is in the journal already, and nobody hears from a store after the page.
    handOver: () => {},
    invitation: () => address.folder,
    load: async (/** @type {string} */ name) => programs[name],
  });
}

class Local {
  #study;
  #journal;
  #store;
  /** @type {Promise<void>} One delivery after the other: a store is told everything in order. */
  #delivering = Promise.resolve();

  /** @param {any} study */
  constructor(study) {
    this.#study = study;
    this.#journal = new Journal(study.folder);
    this.#store = storeOf(study.store);
  }

  /**
   * Resolves to what a server would answer; fails where it could not be reached.
   * @param {string} url
   * @param {RequestInit} [request]
   * @returns {Promise<Response>}
   */
  async answer(url, { method = "GET", body } = {}) {
    const { session, step } = address.of(url);
    const posted = method === "POST";
    const given = body instanceof URLSearchParams ? formTexts(body) : JSON.parse(String(body ?? "{}"));
    if (!session) return posted ? this.#decide(given) : this.#consent();
    if (step === "going-on") return Response.json({ going_on: await this.#goesOn(session) });
    const act = posted ? this.#posted[step] : undefined;
    if (act) return act.call(this, session, await this.#progress(session), given);
    return step === "withdraw" ? this.#wayOut(session) : this.#show(session);
  }

  /** @type {Record<string, (session: string, now: Progress, given: any) => Promise<Response>>} */
  #posted = {
    answers: this.#takeAnswer,
    comprehension: this.#takeComprehension,
    device: this.#takeDevice,
    leave: this.#leave,
    questionnaire: this.#takeQuestionnaire,
    screening: this.#takeScreening,
    withdraw: this.#withdraw,
  };

  async #progress(/** @type {string} */ session) {
    return progressOf(await this.#journal.of(session), this.#study.asked);
  }

  async #goesOn(/** @type {string} */ session) {
    const { at, folder } = await this.#progress(session);
    return at !== "new" && !OVER.includes(at) && folder === this.#study.folder;
  }

  /** What the link said of who came: where a store opens the page, the store knows it. */
  async #said() {
    return (await this.#store.said?.()) ?? new URLSearchParams(location.search);
  }

  async #consent() {
    const wrong = address.wrongParameter(await this.#said(), this.#study.parameters);
    if (wrong) return this.#page("wrong_link");
    return this.#page("consent", markVisit);
  }

  async #decide(/** @type {Record<string, string>} */ { visit, decision, text }) {
    if (!/^[a-z0-9]{12}$/.test(visit ?? "")) return this.#consent();
    const { at } = await this.#progress(visit);
    const parameters = address.parameters(await this.#said(), this.#study.parameters);
    const consent = { decision, text, code: randomName(), parameters };
    if (at === "new" || (at === "declined" && decision === "accept")) {
      await this.#journal.add(visit, "consent", consent, `${visit} consent ${decision}`);
    } else if (decision === "decline" && !OVER.includes(at)) {
      await this.#erase(visit);
    }
    return this.#show(visit);
  }

  /**
   * The page of what somebody has reached. Nobody sees the end before the store has everything.
   * @param {string} session
   * @returns {Promise<Response>}
   */
  async #show(session) {
    let now = await this.#progress(session);
    if (now.at === "new") return this.#consent();
    if (now.at === "placing") now = await this.#place(session);
    if (now.at === "answered" && !this.#questionnaire(now).length) {
      await this.#journal.add(session, "questionnaire", {}, `${session} questionnaire`);
      now = await this.#progress(session);
    }
    if (OVER.includes(now.at)) return this.#over(session, now);
    if (now.folder !== this.#study.folder) return this.#beginAnew(session);
    void this.#deliver(session).catch(() => {});
    if (now.at === "working") return this.#working(session, now);
    const name = now.at === "answered" ? "questionnaire" : now.at;
    return this.#page(name, (page) => putIn(page, { try: String(now.tries + 1) }), now, session);
  }

  async #working(/** @type {string} */ session, /** @type {Progress} */ now) {
    const { page: name, ...drawn } = await this.#drawn(now.number);
    const work = { ...this.#study.work, ...drawn, answered: [...now.answered], device_known: now.told };
    return this.#page(now.answered.size ? `${name} again` : name, (page) => {
      const data = page.getElementById("session");
      if (data) data.textContent = JSON.stringify(work);
      const bar = page.getElementById("bar");
      bar?.setAttribute("max", String(now.total));
      bar?.setAttribute("value", String(now.answered.size));
      if (this.#store.whole) this.#sayKept(page);
    }, now, session);
  }

  /** Says where answers are that no store has: in the browser only where its storage took them. */
  #sayKept(/** @type {Document} */ page) {
    const { kept, on_page } = this.#study.words;
    page.getElementById("indicator")?.setAttribute("data-saved", this.#journal.isOnDisk ? kept : on_page);
  }

  async #over(/** @type {string} */ session, /** @type {Progress} */ now) {
    const ending = now.at === "left" ? ` ${now.ending}` : now.erased ? " erased" : "";
    const offer = await this.#handIn(session, true);
    return this.#page(now.at + ending, (page) => {
      const part = offer(page);
      if (part) saveFirst(page, part);
      // What a store refused is not stored, also when its person has saved it as a file.
      const refused = !page.getElementById("kept-here")?.hasAttribute("hidden");
      if (part && now.at === "finished") thankLater(page, !this.#store.file && refused);
    }, now, session);
  }

  /**
   * Shows the beginning to somebody whose session is of a folder that was here before: its trials
   * are gone, and what they gave stays apart from what they give now.
   * @param {string} session
   */
  async #beginAnew(session) {
    const offer = await this.#handIn(session, this.#store.whole);
    return this.#page("anew", (page) => {
      markVisit(page);
      offer(page);
    });
  }

  /**
   * Hands in what there is of a session, and resolves to what gives a page its way to save the
   * answers: where nobody else keeps them, or the store will not.
   * @param {string} session
   * @param {boolean} over
   * @returns {Promise<(page: Document) => Element | null>}
   */
  async #handIn(session, over) {
    let kept = false;
    try {
      await this.#deliver(session, over);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      kept = true;
    }
    const entries = (await this.#journal.of(session)).map(asSent);
    return (page) => {
      page.getElementById("kept-here")?.toggleAttribute("hidden", !kept);
      page.getElementById("on-disk")?.toggleAttribute("hidden", !this.#journal.isOnDisk);
      const part = page.getElementById("answers-file");
      if (!kept && !this.#store.file) part?.remove();
      const link = part?.querySelector("a");
      link?.setAttribute("download", `${session}.json`);
      link?.setAttribute("href", `data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify(entries))}`);
      return page.getElementById("answers-file");
    };
  }

  async #wayOut(/** @type {string} */ session) {
    const now = await this.#progress(session);
    const name = now.at === "finished" ? "withdraw finished" : "withdraw";
    return this.#page(name, () => {}, now, session);
  }

  async #takeAnswer(/** @type {string} */ session, /** @type {Progress} */ now, /** @type {any} */ given) {
    if (!["working", "answered"].includes(now.at)) {
      return Response.json({ error: "wrong_state" }, { status: 409 });
    }
    await this.#journal.add(session, "answer", given, given.uuid);
    try {
      await this.#deliver(session);
    } catch (error) {
      // A store that refuses is told again at the end; the answer is in the journal.
      if (!(error instanceof Refused)) throw error;
      this.#sayKept(document);
    }
    const { answered, total } = await this.#progress(session);
    return Response.json({ saved: given.position, remaining: total - answered.size });
  }

  async #takeDevice(/** @type {string} */ session, /** @type {Progress} */ now, /** @type {any} */ given) {
    if (now.at === "new" || OVER.includes(now.at)) {
      return Response.json({ error: "wrong_state" }, { status: 409 });
    }
    // What comes after the end would lie here for good: the last delivery has passed.
    const isInTime = (/** @type {import("./journal.js").KeptEntry[]} */ entries) =>
      !OVER.includes(progressOf(entries, this.#study.asked).at);
    await this.#journal.add(session, "device", given, `${session} device ${given.mark}`, isInTime);
    return Response.json({ saved: true });
  }

  async #takeScreening(/** @type {string} */ session, /** @type {Progress} */ now, /** @type {any} */ given) {
    const { screening } = this.#study.asked;
    if (now.at !== "screening") return this.#show(session);
    const problems = this.#problems(screening, given);
    if (problems) return this.#again("screening", session, now, given, problems);
    // Of people whom the study is not for, no answer is kept.
    if (!admits(screening, given)) await this.#journal.add(session, "leave", { ending: "screened_out" });
    else await this.#journal.add(session, "screening", given, `${session} screening`);
    return this.#show(session);
  }

  async #takeComprehension(/** @type {string} */ session, /** @type {Progress} */ now, /** @type {any} */ given) {
    const { comprehension, tries } = this.#study.asked;
    if (now.at !== "comprehension" || given.try !== String(now.tries + 1)) return this.#show(session);
    const problems = this.#problems(comprehension, given);
    if (problems) return this.#again("comprehension", session, now, given, problems);
    const right = admits(comprehension, given);
    await this.#journal.add(session, "comprehension", { right, given }, `${session} try ${given.try}`);
    if (right || now.tries + 1 >= tries) return this.#show(session);
    const wrong = { "": this.#study.words.again };
    return this.#again("comprehension", session, await this.#progress(session), given, wrong);
  }

  async #takeQuestionnaire(/** @type {string} */ session, /** @type {Progress} */ now, /** @type {any} */ given) {
    if (now.at !== "answered") return this.#show(session);
    const problems = this.#problems(this.#questionnaire(now), given);
    if (problems) return this.#again("questionnaire", session, now, given, problems);
    await this.#journal.add(session, "questionnaire", given, `${session} questionnaire`);
    return this.#show(session);
  }

  /** What is asked of somebody at the end: their level may be asked other things than others are. */
  #questionnaire(/** @type {Progress} */ { edition }) {
    return this.#study.asked.questionnaires[edition];
  }

  async #leave(/** @type {string} */ session, /** @type {Progress} */ now) {
    const ending = now.answered.size ? "withdrawn" : "declined";
    if (!OVER.includes(now.at)) await this.#journal.add(session, "leave", { ending });
    return this.#show(session);
  }

  async #withdraw(/** @type {string} */ session, /** @type {Progress} */ now, /** @type {any} */ { wish }) {
    const { code } = now;
    if (wish === "erase" && !now.erased) await this.#erase(session, code);
    else if (wish === "keep" && now.at !== "withdrawn") await this.#journal.add(session, "withdraw", { wish, code });
    return this.#show(session);
  }

  /** Erases what somebody gave here, and leaves word for those who have what was sent. */
  async #erase(/** @type {string} */ session, /** @type {string} */ code) {
    await this.#journal.add(session, "withdraw", { wish: "erase", code }, `${session} erase`);
    const stays = ["consent", "place", "withdraw"];
    const given = (await this.#journal.of(session)).filter(({ kind }) => !stays.includes(kind));
    await this.#journal.erase(given);
  }

  /** Draws somebody's session: once, for each draw may use up a number of the store's. */
  async #place(/** @type {string} */ session) {
    const { number, by, said } = await this.#numberOf(session);
    const { trials, edition } = await this.#drawn(number);
    const place = { number, by, said, total: trials.length, edition };
    await this.#journal.add(session, "place", place, `${session} place`);
    return this.#progress(session);
  }

  async #numberOf(/** @type {string} */ session) {
    const { sessions } = this.#study;
    const named = Number((await this.#said()).get("session"));
    if (named >= 1 && named <= sessions && Number.isInteger(named)) {
      return { number: named, by: "link", said: named };
    }
    const kept = (await this.#journal.of(session)).find(({ kind }) => kind === "drawn");
    if (kept) return JSON.parse(kept.body);
    const said = await this.#counted();
    const drawn =
      said === undefined
        ? { number: 1 + (crypto.getRandomValues(new Uint32Array(1))[0] % sessions), by: "chance", said: null }
        : { number: 1 + (said % sessions), by: "counter", said };
    await this.#journal.add(session, "drawn", drawn, `${session} drawn`);
    return drawn;
  }

  /** The store's next number; undefined where the store has no counter, or gives it to nobody. */
  async #counted() {
    try {
      return await this.#store.count?.();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return undefined;
    }
  }

  /** @param {number} number */
  async #drawn(number) {
    const { drawn } = this.#study;
    if (drawn) return drawn[number - 1];
    const response = await fetch(`${address.folder}sessions/${number}.json`);
    if (!response.ok) throw new TypeError(`session ${number} did not come`);
    return response.json();
  }

  /**
   * Hands the store what it does not have; where it takes only whole sessions, at the end alone.
   * @param {string} session
   * @param {boolean} [over] Whether nothing is to come.
   */
  #deliver(session, over = false) {
    const deliver = async () => {
      const entries = await this.#journal.of(session);
      const unsent = entries.filter(({ sent }) => !sent);
      if (!unsent.length || (this.#store.whole && !over)) return;
      await this.#store.send(session, { unsent, all: entries, over });
      await this.#journal.acknowledge(unsent);
    };
    const delivering = this.#delivering.then(deliver);
    this.#delivering = delivering.catch(() => {});
    return delivering;
  }

  /**
   * @param {any[]} questions
   * @param {Record<string, string>} given
   */
  #problems(questions, given) {
    const problems = problemsOf(questions, given, this.#study.words, this.#study.longest_text);
    return Object.keys(problems).length ? problems : undefined;
  }

  /**
   * A form again, with what must be mended.
   * @param {string} name
   * @param {string} session
   * @param {Progress} now
   * @param {Record<string, string>} given
   * @param {Record<string, string>} problems
   */
  #again(name, session, now, given, problems) {
    const mend = (/** @type {Document} */ page) => {
      putIn(page, { ...given, try: String(now.tries + 1) });
      notInOrder(page, problems);
    };
    return this.#page(`${name} wrong`, mend, now, session, 422);
  }

  /**
   * @param {string} name
   * @param {(page: Document) => void} [fill]
   * @param {Progress} [now]
   * @param {string} [session]
   * @param {number} [status]
   */
  #page(name, fill = () => {}, now, session, status = 200) {
    return asPage(this.#study, name, { fill, now, session, status });
  }
}

/**
 * Puts the way to save answers before everything else that the last page says: whoever closes the
 * page before has given nothing.
 * @param {Document} page
 * @param {Element | null} part
 */
function saveFirst(page, part) {
  if (part) page.querySelector("main > .text")?.after(part);
  const mayClose = page.querySelector("main > p.notice:not([data-code])");
  if (!page.querySelector("form[data-submit-form]")) mayClose?.remove();
}

/**
 * Leaves the tick and the researchers' words ("your answers are stored") for when the answers are
 * saved: nobody else has them yet. Where the store refused them, they are never said.
 * @param {Document} page
 * @param {boolean} refused
 */
function thankLater(page, refused) {
  for (const said of page.querySelectorAll(AFTER_SAVING)) {
    if (refused) said.remove();
    else said.toggleAttribute("hidden", true);
  }
}

/** @param {Event} event */
function thankOnceSaved({ target }) {
  if (!(target instanceof Element && target.closest("#answers-file a"))) return;
  for (const said of document.querySelectorAll(AFTER_SAVING)) said.toggleAttribute("hidden", false);
}

/**
 * An answer, unless whoever asked has given up: a store that never answers is one that is away.
 * @template T
 * @param {Promise<T>} answer
 * @param {AbortSignal | null} [signal]
 * @returns {Promise<T>}
 */
function inTime(answer, signal) {
  if (!signal) return answer;
  const givenUp = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  return Promise.race([answer, /** @type {Promise<never>} */ (givenUp)]);
}

/**
 * Gives a consent page the mark of a visit, which becomes the session's name.
 * @param {Document} page
 */
function markVisit(page) {
  page.querySelector("input[name=visit]")?.setAttribute("value", randomName());
}

function randomName() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => RANDOM[byte % RANDOM.length]).join("");
}
