// @ts-check
/**
 * Moves between pages without a browser navigation: requests the next page until it arrives, and
 * replaces this page's content with it. So participants never see the browser's own error page.
 */

import { resolveLink, server } from "./server.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
const PATIENCE_MS = 20_000;
// On a shared computer, the server shows an ended session only to requests with this header, which
// neither the browser history nor a restored tab sends.
const PAGE_HEADER = { "X-Parallax-Within": "1" };

/**
 * A page that the server sent.
 * @typedef {{ url: string, status: number, page: Document, html: string }} LoadedPage
 */

/** Initialises the shown page; set by page.js. */
export const pageOpener = { open: () => {} };

/** Counts requests and shown pages: only the latest request may show its page. */
let latestRequest = 0;

/**
 * Resolves to the server's page, with retries while the connection is interrupted. Ignores foreign
 * replies, such as a hotel's login page. Resolves to undefined if another page was requested since.
 * @param {string} url
 * @param {RequestInit} [request] Resent unchanged, so the server must recognise a resend.
 * @param {(waiting: boolean) => void} [onWait] Called with true while waiting for a retry, and with false at the end.
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
 * Requests a page once; resolves to undefined if no page of this server arrived.
 * @param {string} url
 * @param {RequestInit} [request]
 * @returns {Promise<LoadedPage | undefined>}
 */
export async function fetchPage(url, request = {}) {
  server.hasFailed = false;
  try {
    const signal = AbortSignal.timeout?.(PATIENCE_MS);
    const response = await server.fetch(url, { ...request, signal, headers: PAGE_HEADER });
    server.hasFailed = response.status >= 500;
    const html = await response.text();
    const page = new DOMParser().parseFromString(html, "text/html");
    if (response.status >= 500 || response.status === 429 || !page.body.dataset.page) return;
    return { url: response.url, status: response.status, page, html };
  } catch {
    return undefined;
  }
}

/**
 * Replaces this page's content with another page.
 * @param {LoadedPage} next
 * @param {boolean} [sameEntry] Whether to replace this page's history entry.
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
  // Headings in a study's own texts cannot receive focus without a tabindex.
  const beginning = /** @type {HTMLElement | null} */ (
    alert ?? findVisible("main h1") ?? document.querySelector("main")
  );
  if (beginning && !beginning.hasAttribute("tabindex")) beginning.tabIndex = -1;
  beginning?.focus({ preventScroll: !alert });
}

/**
 * Loads and shows a page of this site.
 * @param {string} url
 */
export async function goTo(url) {
  const next = await fetchUntilArrived(url);
  if (next) showPage(next);
}

/**
 * Sends a form with the value of its pressed button, and shows the reply.
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} button The button that was pressed.
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

/**
 * Resolves after a time, or earlier when the user asks for it or the browser goes online.
 * @param {number} waitMs
 */
function waitForRetry(waitMs) {
  return new Promise((resolve) => {
    const retryButton = document.querySelector("#trouble button");
    retryButton?.addEventListener("click", resolve, { once: true });
    window.addEventListener("online", resolve, { once: true });
    // Random jitter keeps the computers of a laboratory from retrying at the same moment.
    setTimeout(resolve, waitMs * (0.75 + Math.random() / 2));
  });
}

/**
 * Says whether answers wait to be sent: because of the server, or else of the connection.
 * @param {boolean} waiting
 */
export function showUnsent(waiting) {
  const notice = document.getElementById("offline");
  if (!notice) return;
  notice.hidden = !waiting;
  const [connectionLost, serverError] = /** @type {Iterable<HTMLElement>} */ (notice.children);
  connectionLost.hidden = server.hasFailed;
  serverError.hidden = !server.hasFailed;
}

/** @param {boolean} waiting */
function showConnectionTrouble(waiting) {
  const trouble = document.getElementById("trouble");
  if (trouble) trouble.hidden = !waiting;
}

// The title of the page as it was loaded.
let studyTitle = "";

/** Records the title of a page that was just loaded. */
export function recordTitle() {
  studyTitle = document.title;
  updateTitle();
}

/** Puts the heading of the visible section into the title. */
export function updateTitle() {
  const heading = document.querySelector("main h1:not([hidden] *)")?.textContent?.trim();
  document.title = heading && !studyTitle.startsWith(heading) ? `${heading} - ${studyTitle}` : studyTitle;
}
