// @ts-check
/**
 * Replaces the server in a study that is a folder of files: answers the pages' requests from the folder
 * and the journal, and delivers the journal to the result store. An answer is acknowledged when the
 * store has it, and never before.
 */

import { goTo } from "../navigation.js";
import { formTexts } from "../questions.js";
import { server } from "../server.js";
import { Journal, toSentEntry } from "./journal.js";
import { address, renderPage, showProblems, fillFields } from "./pages.js";
import { areAnswersAccepted, findProblems, readProgress } from "./session_progress.js";
import { LongRefusal, PermanentRefusal } from "./store_requests.js";
import { makeResultStore } from "./stores.js";

/** @typedef {import("./session_progress.js").Progress} Progress */

const FINAL_STAGES = ["declined", "finished", "left", "withdrawn"];
const SHOWN_AFTER_SAVING = "main > .done, main > .stored-now, main > .text > :not(h1)";
// How often the last page tries a store again that only replies with refusals.
const TRY_AGAIN_MS = 10_000;
const RANDOM = "abcdefghijklmnopqrstuvwxyz234567";

/**
 * Makes a study's folder answer its pages' requests.
 * @param {any} study The study's data in the folder.
 * @param {Record<string, any>} programs The modules that pages load by name.
 */
export function installLocalServer(study, programs) {
  const localServer = new LocalServer(study);
  document.addEventListener?.("click", showThanksAfterSaving);
  globalThis.addEventListener?.("beforeunload", warnBeforeSaving);
  Object.defineProperty(server, "currentUrl", { get: address.currentUrl });
  Object.assign(server, {
    enterUrl: address.enterUrl,
    fetch: (/** @type {string} */ url, /** @type {RequestInit} */ request) =>
      rejectOnAbort(localServer.answer(url, request), request?.signal),
    // Waiting answers are already in the journal, and no store replies after the page is closed.
    sendOnExit: () => {},
    invitationUrl: () => address.folder,
    load: async (/** @type {string} */ name) => programs[name],
  });
}

class LocalServer {
  #study;
  #journal;
  #store;
  /** @type {Promise<void>} One delivery at a time, so that the store receives entries in order. */
  #delivering = Promise.resolve();
  #isTryingAgain = false;

  /** @param {any} study */
  constructor(study) {
    this.#study = study;
    this.#journal = new Journal(study.folder);
    this.#store = makeResultStore(study.store);
  }

  /**
   * Resolves to the reply of a server; rejects as if the server could not be reached.
   * @param {string} url
   * @param {RequestInit} [request]
   * @returns {Promise<Response>}
   */
  async answer(url, { method = "GET", body } = {}) {
    const { session, step } = address.parse(url);
    const isPost = method === "POST";
    const submitted = body instanceof URLSearchParams ? formTexts(body) : JSON.parse(String(body ?? "{}"));
    if (!session) return isPost ? this.#recordConsent(submitted) : this.#showConsent();
    if (step === "going-on") return Response.json({ going_on: await this.#canResume(session) });
    const handler = isPost ? this.#postHandlers[step] : undefined;
    if (handler) return handler.call(this, session, await this.#progress(session), submitted);
    return step === "withdraw" ? this.#showWithdrawalForm(session) : this.#showCurrentPage(session);
  }

  /** @type {Record<string, (session: string, progress: Progress, submitted: any) => Promise<Response>>} */
  #postHandlers = {
    answers: this.#saveAnswer,
    comprehension: this.#saveComprehension,
    device: this.#saveDevice,
    leave: this.#recordLeaving,
    questionnaire: this.#saveQuestionnaire,
    screening: this.#saveScreening,
    withdraw: this.#recordWithdrawal,
  };

  async #progress(/** @type {string} */ session) {
    return readProgress(await this.#journal.loadEntries(session), this.#study.asked);
  }

  async #canResume(/** @type {string} */ session) {
    const { at, folder } = await this.#progress(session);
    return at !== "new" && !FINAL_STAGES.includes(at) && folder === this.#study.folder;
  }

  /** Returns the link's parameters; if a store opens the page, the store knows them. */
  async #readLinkParameters() {
    return (await this.#store.linkParameters?.()) ?? new URLSearchParams(location.search);
  }

  async #showConsent() {
    const wrong = address.findWrongParameter(await this.#readLinkParameters(), this.#study.parameters);
    if (wrong) return this.#renderPage("wrong_link");
    return this.#renderPage("consent", setVisitMark);
  }

  async #recordConsent(/** @type {Record<string, string>} */ { visit, decision, text }) {
    if (!/^[a-z0-9]{12}$/.test(visit ?? "")) return this.#showConsent();
    const { at } = await this.#progress(visit);
    const parameters = address.pickParameters(await this.#readLinkParameters(), this.#study.parameters);
    const consent = { decision, text, code: randomName(), parameters };
    if (at === "new" || (at === "declined" && decision === "accept")) {
      await this.#journal.add(visit, "consent", consent, `${visit} consent ${decision}`);
    } else if (decision === "decline" && !FINAL_STAGES.includes(at)) {
      await this.#eraseAnswers(visit);
    }
    return this.#showCurrentPage(visit);
  }

  /**
   * Shows the session's current page. The last page appears only once the store has everything.
   * @param {string} session
   * @returns {Promise<Response>}
   */
  async #showCurrentPage(session) {
    let progress = await this.#progress(session);
    if (progress.at === "new") return this.#showConsent();
    if (progress.at === "placing") progress = await this.#assignSession(session);
    if (progress.at === "answered" && !this.#getQuestions(progress).length) {
      await this.#journal.add(session, "questionnaire", {}, `${session} questionnaire`);
      progress = await this.#progress(session);
    }
    if (FINAL_STAGES.includes(progress.at)) return this.#showEnd(session, progress);
    if (progress.folder !== this.#study.folder) return this.#showRestart(session);
    void this.#deliver(session).catch(() => {});
    if (progress.at === "working") return this.#showTrials(session, progress);
    const name = progress.at === "answered" ? "questionnaire" : progress.at;
    return this.#renderPage(name, (page) => fillFields(page, { try: String(progress.tries + 1) }), progress, session);
  }

  async #showTrials(/** @type {string} */ session, /** @type {Progress} */ progress) {
    const { page: name, ...drawn } = await this.#loadDrawnSession(progress.number);
    const work = { ...this.#study.work, ...drawn, answered: [...progress.answered], device_known: progress.deviceDescribed };
    return this.#renderPage(progress.answered.size ? `${name} again` : name, (page) => {
      const data = page.getElementById("session");
      if (data) data.textContent = JSON.stringify(work);
      const bar = page.getElementById("bar");
      bar?.setAttribute("max", String(progress.total));
      bar?.setAttribute("value", String(progress.answered.size));
      if (this.#journal.isOnDisk) page.getElementById("only-here")?.remove();
      if (this.#store.takesWholeSessions) this.#showWhereSaved(page);
    }, progress, session);
  }

  /** Shows where unsent answers are: in the browser's storage, or only in this page. */
  #showWhereSaved(/** @type {Document} */ page) {
    const { kept, on_page } = this.#study.words;
    page.getElementById("indicator")?.setAttribute("data-saved", this.#journal.isOnDisk ? kept : on_page);
  }

  async #showEnd(/** @type {string} */ session, /** @type {Progress} */ progress) {
    const ending = progress.at === "left" ? ` ${progress.ending}` : progress.erased ? " erased" : "";
    const offer = await this.#deliverAndOfferFile(session, true);
    return this.#renderPage(progress.at + ending, (page) => {
      const part = offer(page);
      if (part) moveFileLinkUp(page, part);
      // Answers that a store refused are not stored, even if the participant saved the file.
      const refused = !page.getElementById("kept-here")?.hasAttribute("hidden");
      if (!part || progress.at !== "finished") return;
      part.setAttribute("data-unsaved", "");
      hideThanks(page, !this.#store.isFile && refused);
    }, progress, session);
  }

  /**
   * Shows the first page for a session of an earlier folder version: its trials no longer exist, and
   * its answers stay separate from new ones.
   * @param {string} session
   */
  async #showRestart(session) {
    const offer = await this.#deliverAndOfferFile(session, this.#store.takesWholeSessions);
    return this.#renderPage("anew", (page) => {
      setVisitMark(page);
      offer(page);
    });
  }

  /**
   * Delivers a session, and resolves to a function that adds a download link for the answers to a
   * page, if there is no store or the store refused them.
   * @param {string} session
   * @param {boolean} over
   * @returns {Promise<(page: Document) => Element | null>}
   */
  async #deliverAndOfferFile(session, over) {
    let kept = false;
    try {
      await this.#deliver(session, over);
    } catch (error) {
      if (!(error instanceof PermanentRefusal)) throw error;
      if (error instanceof LongRefusal && over) void this.#tryAgain(session);
      kept = true;
    }
    const entries = (await this.#journal.loadEntries(session)).map(toSentEntry);
    return (page) => {
      page.getElementById("kept-here")?.toggleAttribute("hidden", !kept);
      page.getElementById("on-disk")?.toggleAttribute("hidden", !this.#journal.isOnDisk);
      const part = page.getElementById("answers-file");
      if (!kept && !this.#store.isFile) part?.remove();
      const link = part?.querySelector("a");
      link?.setAttribute("download", `${session}.json`);
      link?.setAttribute("href", `data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify(entries))}`);
      return page.getElementById("answers-file");
    };
  }

  /**
   * Delivers a finished session while its last page is open, and then shows the page anew.
   * @param {string} session
   */
  async #tryAgain(session) {
    if (this.#isTryingAgain) return;
    this.#isTryingAgain = true;
    try {
      do {
        await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
        if (address.parse(address.currentUrl()).session !== session) return;
      } while (!(await this.#hasDelivered(session)));
    } finally {
      this.#isTryingAgain = false;
    }
    void goTo(server.currentUrl);
  }

  /** Delivers a finished session; resolves to whether the store has it, or never will. */
  async #hasDelivered(/** @type {string} */ session) {
    try {
      await this.#deliver(session, true);
      return true;
    } catch (error) {
      return error instanceof PermanentRefusal && !(error instanceof LongRefusal);
    }
  }

  async #showWithdrawalForm(/** @type {string} */ session) {
    const progress = await this.#progress(session);
    if (progress.at === "declined" || progress.erased) return this.#showCurrentPage(session);
    const name = FINAL_STAGES.includes(progress.at) ? "withdraw ended" : "withdraw";
    return this.#renderPage(name, () => {}, progress, session);
  }

  async #saveAnswer(/** @type {string} */ session, /** @type {Progress} */ progress, /** @type {any} */ submitted) {
    if (!["working", "answered"].includes(progress.at)) {
      return Response.json({ error: "wrong_state" }, { status: 409 });
    }
    await this.#journal.add(session, "answer", submitted, submitted.uuid);
    try {
      await this.#deliver(session);
    } catch (error) {
      // The delivery is tried again at the end; the answer is in the journal.
      if (!(error instanceof PermanentRefusal)) throw error;
      this.#showWhereSaved(document);
    }
    const { answered, total } = await this.#progress(session);
    return Response.json({ saved: submitted.position, remaining: total - answered.size });
  }

  async #saveDevice(/** @type {string} */ session, /** @type {Progress} */ progress, /** @type {any} */ submitted) {
    if (progress.at === "new" || FINAL_STAGES.includes(progress.at)) {
      return Response.json({ error: "wrong_state" }, { status: 409 });
    }
    // Entries after the end would never be sent: the last delivery is over.
    const isInTime = (/** @type {import("./journal.js").KeptEntry[]} */ entries) =>
      !FINAL_STAGES.includes(readProgress(entries, this.#study.asked).at);
    await this.#journal.add(session, "device", submitted, `${session} device ${submitted.mark}`, isInTime);
    return Response.json({ saved: true });
  }

  async #saveScreening(/** @type {string} */ session, /** @type {Progress} */ progress, /** @type {any} */ submitted) {
    const { screening } = this.#study.asked;
    if (progress.at !== "screening") return this.#showCurrentPage(session);
    const problems = this.#findProblems(screening, submitted);
    if (problems) return this.#showFormAgain("screening", session, progress, submitted, problems);
    // Screening answers of excluded people are not stored.
    if (!areAnswersAccepted(screening, submitted)) await this.#journal.add(session, "leave", { ending: "screened_out" });
    else await this.#journal.add(session, "screening", submitted, `${session} screening`);
    return this.#showCurrentPage(session);
  }

  async #saveComprehension(/** @type {string} */ session, /** @type {Progress} */ progress, /** @type {any} */ submitted) {
    const { comprehension, tries } = this.#study.asked;
    if (progress.at !== "comprehension" || submitted.try !== String(progress.tries + 1)) return this.#showCurrentPage(session);
    const problems = this.#findProblems(comprehension, submitted);
    if (problems) return this.#showFormAgain("comprehension", session, progress, submitted, problems);
    const right = areAnswersAccepted(comprehension, submitted);
    await this.#journal.add(session, "comprehension", { right, given: submitted }, `${session} try ${submitted.try}`);
    if (right || progress.tries + 1 >= tries) return this.#showCurrentPage(session);
    const wrong = { "": this.#study.words[`again_${tries - progress.tries - 1}`] };
    return this.#showFormAgain("comprehension", session, await this.#progress(session), submitted, wrong);
  }

  async #saveQuestionnaire(/** @type {string} */ session, /** @type {Progress} */ progress, /** @type {any} */ submitted) {
    if (progress.at !== "answered") return this.#showCurrentPage(session);
    const problems = this.#findProblems(this.#getQuestions(progress), submitted);
    if (problems) return this.#showFormAgain("questionnaire", session, progress, submitted, problems);
    await this.#journal.add(session, "questionnaire", submitted, `${session} questionnaire`);
    return this.#showCurrentPage(session);
  }

  /** Returns the final questionnaire; it may differ between between-subjects levels. */
  #getQuestions(/** @type {Progress} */ { edition }) {
    return this.#study.asked.questionnaires[edition];
  }

  async #recordLeaving(/** @type {string} */ session, /** @type {Progress} */ progress) {
    const ending = progress.answered.size ? "withdrawn" : "declined";
    if (!FINAL_STAGES.includes(progress.at)) await this.#journal.add(session, "leave", { ending });
    return this.#showCurrentPage(session);
  }

  async #recordWithdrawal(/** @type {string} */ session, /** @type {Progress} */ progress, /** @type {any} */ { wish }) {
    const { code } = progress;
    if (wish === "erase" && !progress.erased) await this.#eraseAnswers(session, code);
    else if (wish === "keep" && progress.at !== "withdrawn") await this.#journal.add(session, "withdraw", { wish, code });
    return this.#showCurrentPage(session);
  }

  /** Erases a session's answers, and adds an entry that tells the recipients to erase theirs. */
  async #eraseAnswers(/** @type {string} */ session, /** @type {string} */ code) {
    await this.#journal.add(session, "withdraw", { wish: "erase", code }, `${session} erase`);
    const keptKinds = ["consent", "place", "withdraw"];
    const erasable = (await this.#journal.loadEntries(session)).filter(({ kind }) => !keptKinds.includes(kind));
    await this.#journal.erase(erasable);
  }

  /** Assigns a session number, only once, because each draw may use up a number of the store. */
  async #assignSession(/** @type {string} */ session) {
    const { number, by, said } = await this.#chooseSessionNumber(session);
    const { trials, edition } = await this.#loadDrawnSession(number);
    const place = { number, by, said, total: trials.length, edition };
    await this.#journal.add(session, "place", place, `${session} place`);
    return this.#progress(session);
  }

  async #chooseSessionNumber(/** @type {string} */ session) {
    const { sessions } = this.#study;
    const named = Number((await this.#readLinkParameters()).get("session"));
    if (named >= 1 && named <= sessions && Number.isInteger(named)) {
      return { number: named, by: "link", said: named };
    }
    const kept = (await this.#journal.loadEntries(session)).find(({ kind }) => kind === "drawn");
    if (kept) return JSON.parse(kept.body);
    const said = await this.#drawStoreNumber();
    const drawn =
      said === undefined
        ? { number: 1 + (crypto.getRandomValues(new Uint32Array(1))[0] % sessions), by: "chance", said: null }
        : { number: 1 + (said % sessions), by: "counter", said };
    await this.#journal.add(session, "drawn", drawn, `${session} drawn`);
    return drawn;
  }

  /** Returns the store's next number; undefined if the store has no counter or refuses. */
  async #drawStoreNumber() {
    try {
      return await this.#store.drawNumber?.();
    } catch (error) {
      if (!(error instanceof PermanentRefusal)) throw error;
      return undefined;
    }
  }

  /** @param {number} number */
  async #loadDrawnSession(number) {
    const { drawn } = this.#study;
    if (drawn) return drawn[number - 1];
    const response = await fetch(`${address.folder}sessions/${number}.json`);
    if (!response.ok) throw new TypeError(`session ${number} did not come`);
    return response.json();
  }

  /**
   * Delivers the unsent entries; to a store that accepts only whole sessions, only at the end.
   * @param {string} session
   * @param {boolean} [over] Whether the session has ended.
   */
  #deliver(session, over = false) {
    const deliver = async () => {
      const entries = await this.#journal.loadEntries(session);
      const unsent = entries.filter(({ sent }) => !sent);
      if (!unsent.length || (this.#store.takesWholeSessions && !over)) return;
      await this.#store.send(session, { unsent, all: entries, over });
      await this.#journal.markSent(unsent);
    };
    const delivering = this.#delivering.then(deliver);
    this.#delivering = delivering.catch(() => {});
    return delivering;
  }

  /**
   * @param {any[]} questions
   * @param {Record<string, string>} submitted
   */
  #findProblems(questions, submitted) {
    const problems = findProblems(questions, submitted, this.#study.words, this.#study.longest_text);
    return Object.keys(problems).length ? problems : undefined;
  }

  /**
   * Shows a form again with its errors.
   * @param {string} name
   * @param {string} session
   * @param {Progress} progress
   * @param {Record<string, string>} submitted
   * @param {Record<string, string>} problems
   */
  #showFormAgain(name, session, progress, submitted, problems) {
    const fillForm = (/** @type {Document} */ page) => {
      fillFields(page, { ...submitted, try: String(progress.tries + 1) });
      showProblems(page, problems);
    };
    return this.#renderPage(`${name} wrong`, fillForm, progress, session, 422);
  }

  /**
   * @param {string} name
   * @param {(page: Document) => void} [fill]
   * @param {Progress} [progress]
   * @param {string} [session]
   * @param {number} [status]
   */
  #renderPage(name, fill = () => {}, progress, session, status = 200) {
    return renderPage(this.#study, name, { fill, progress, session, status });
  }
}

/**
 * Moves the download link to the top of the last page: if the page is closed before the download, the
 * answers are lost.
 * @param {Document} page
 * @param {Element | null} part
 */
function moveFileLinkUp(page, part) {
  if (part) page.querySelector("main > .text")?.after(part);
  const mayClose = page.querySelector("main > p.notice:not([data-code])");
  if (!page.querySelector("form[data-submit-form]")) mayClose?.remove();
}

/**
 * Hides the tick and the study's closing text until the answers are saved;
 * removes them if the store refused the answers.
 * @param {Document} page
 * @param {boolean} refused
 */
function hideThanks(page, refused) {
  for (const element of page.querySelectorAll(SHOWN_AFTER_SAVING)) {
    if (refused) element.remove();
    else element.toggleAttribute("hidden", true);
  }
}

/** @param {Event} event */
function showThanksAfterSaving({ target }) {
  const part = target instanceof Element && target.closest("a") && target.closest("#answers-file");
  if (!part) return;
  part.removeAttribute("data-unsaved");
  part.querySelector("#file-saved")?.removeAttribute("hidden");
  for (const element of document.querySelectorAll(SHOWN_AFTER_SAVING)) element.toggleAttribute("hidden", false);
}

/**
 * Lets the browser ask before it closes a page with a finished session that nobody saved.
 * @param {Event} event
 */
function warnBeforeSaving(event) {
  if (document.querySelector("#answers-file[data-unsaved]")) event.preventDefault();
}

/**
 * Resolves to an answer, or rejects when its request is aborted: an unresponsive store counts as
 * unreachable.
 * @template T
 * @param {Promise<T>} answer
 * @param {AbortSignal | null} [signal]
 * @returns {Promise<T>}
 */
function rejectOnAbort(answer, signal) {
  if (!signal) return answer;
  const aborted = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  return Promise.race([answer, /** @type {Promise<never>} */ (aborted)]);
}

/**
 * Writes a random visit mark into a consent page; it becomes the session's name.
 * @param {Document} page
 */
function setVisitMark(page) {
  page.querySelector("input[name=visit]")?.setAttribute("value", randomName());
}

function randomName() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => RANDOM[byte % RANDOM.length]).join("");
}
