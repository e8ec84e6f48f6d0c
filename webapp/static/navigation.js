// @ts-check
/**
 * From one page to the next without leaving: the next page is asked for until the server has sent
 * it, and takes the place of this one. So no browser's error page ever stands between two pages.
 */

import { resolveLink, server } from "./server.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
const PATIENCE_MS = 20_000;
// Where several people share a computer, an address alone shows nothing of a session that has
// ended: neither the list of visited pages nor a tab that is restored sends this.
const PAGE_HEADER = { "X-Parallax-Within": "1" };

/**
 * A page as the server sent it.
 * @typedef {{ url: string, status: number, page: Document, html: string }} LoadedPage
 */

/** What opens the page that is shown now; set by page.js. */
export const pageOpener = { open: () => {} };

/** Counts what was asked for and what was shown: only the newest request shows its page. */
let latestRequest = 0;

/**
 * Resolves to the server's page, however long the connection is interrupted before. A hotel's
 * login page is not one. Resolves to nothing where the reader asked for another page meanwhile.
 * @param {string} url
 * @param {RequestInit} [request] Sent again as it is, so the server must know a resend.
 * @param {(waiting: boolean) => void} [onWait] Told when the reader must be told.
 * @returns {Promise<LoadedPage | undefined>}
 */
async function fetchUntilArrived(url, request = {}, onWait = showConnectionTrouble) {
  latestRequest += 1;
  const requestNumber = latestRequest;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    const loaded = await fetchPage(url, request);
    if (requestNumber !== latestRequest) return undefined;
    if (loaded) {
      onWait(false);
      return loaded;
    }
    onWait(true);
    await waitForRetry(waitMs);
    if (requestNumber !== latestRequest) return undefined;
  }
}

/**
 * Resolves to the server's page, or to nothing where none of the server's own came.
 * @param {string} url
 * @param {RequestInit} [request]
 * @returns {Promise<LoadedPage | undefined>}
 */
export async function fetchPage(url, request = {}) {
  try {
    const signal = AbortSignal.timeout?.(PATIENCE_MS);
    const response = await server.fetch(url, { ...request, signal, headers: PAGE_HEADER });
    const html = await response.text();
    const page = new DOMParser().parseFromString(html, "text/html");
    if (response.status >= 500 || response.status === 429 || !page.body.dataset.page) return;
    return { url: response.url, status: response.status, page, html };
  } catch {
    return undefined;
  }
}

/**
 * Shows a page in place of this one.
 * @param {LoadedPage} next
 * @param {boolean} [sameEntry] Whether it takes this page's entry in the history.
 */
export function showPage({ url, page }, sameEntry = url === server.currentUrl) {
  latestRequest += 1;
  server.enterUrl(url, sameEntry);
  document.title = page.title;
  document.documentElement.lang = page.documentElement.lang;
  document.documentElement.dir = page.documentElement.dir;
  document.body.replaceWith(document.adoptNode(page.body));
  window.scrollTo(0, 0);
  pageOpener.open();
  const findVisible = (/** @type {string} */ what) =>
    [...document.querySelectorAll(what)].find((element) => element.checkVisibility?.() ?? true);
  const alert = findVisible("main [role=alert]");
  // A study's own texts have headings that nothing can focus by itself.
  const beginning = /** @type {HTMLElement | null} */ (
    alert ?? findVisible("main h1") ?? document.querySelector("main")
  );
  if (beginning && !beginning.hasAttribute("tabindex")) beginning.tabIndex = -1;
  beginning?.focus({ preventScroll: !alert });
}

/**
 * Goes to an address of this site.
 * @param {string} url
 */
export async function goTo(url) {
  const next = await fetchUntilArrived(url);
  if (next) showPage(next);
}

/**
 * Sends a form as its button says, and shows what the server replies.
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} button The one that was pressed.
 * @param {(waiting: boolean) => void} [onWait]
 * @returns {Promise<boolean>} Whether the reply was shown.
 */
export async function sendForm(form, button, onWait) {
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form)));
  if (button instanceof HTMLButtonElement && button.name) body.set(button.name, button.value);
  const buttons = [...form.querySelectorAll("button")];
  for (const control of buttons) control.disabled = true;
  const next = await fetchUntilArrived(resolveLink(form, "action"), { method: "POST", body }, onWait);
  if (next) showPage(next);
  return Boolean(next);
}

/** @param {number} waitMs */
function waitForRetry(waitMs) {
  return new Promise((resolve) => {
    const retryButton = document.querySelector("#trouble button");
    retryButton?.addEventListener("click", resolve, { once: true });
    window.addEventListener("online", resolve, { once: true });
    // A random part keeps a whole laboratory from coming back in the same instant.
    setTimeout(resolve, waitMs * (0.75 + Math.random() / 2));
  });
}

/** @param {boolean} waiting */
function showConnectionTrouble(waiting) {
  const trouble = document.getElementById("trouble");
  if (trouble) trouble.hidden = !waiting;
}

// The title that the page came with.
let studyTitle = "";

/** Takes the title that a page came with. */
export function recordTitle() {
  studyTitle = document.title;
  updateTitle();
}

/** Says in the title which part of the page is shown. */
export function updateTitle() {
  const heading = document.querySelector("main h1:not([hidden] *)")?.textContent?.trim();
  document.title = heading && !studyTitle.startsWith(heading) ? `${heading} - ${studyTitle}` : studyTitle;
}
