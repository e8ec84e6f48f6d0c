// @ts-check
/**
 * Requests to the server, and the URL of the shown page. A study without a server replaces these
 * functions (serverless/local_server.js); no other file depends on the difference.
 */

export const server = {
  /** @type {(url: string, request?: RequestInit) => Promise<Response>} */
  fetch: (url, request) => fetch(url, request),

  /** Whether the last reply was an error of the server's own. */
  hasFailed: false,

  /** @type {(url: string) => Promise<any>} Resolves to a module, like ``import``. */
  load: (url) => import(url),

  /** @type {(url: string, body: string) => void} Sends data without waiting for a reply. */
  sendOnExit: (url, body) => void navigator.sendBeacon(url, body),

  /** The URL of the shown page. */
  get currentUrl() {
    return location.href;
  },

  /** @type {(run: string | undefined) => string} The URL of a run's invitation. */
  invitationUrl: (run) => new URL(`/run/${run}`, location.href).href,

  /**
   * Sets the URL of the shown page.
   * @param {string} url
   * @param {boolean} sameEntry Whether to replace the current history entry.
   */
  enterUrl(url, sameEntry) {
    if (sameEntry) history.replaceState(history.state, "", url);
    else history.pushState(null, "", url);
  },
};

/**
 * Returns the absolute URL of a link or form.
 * @param {Element} element
 * @param {"href" | "action"} attribute
 */
export function resolveLink(element, attribute) {
  return new URL(element.getAttribute(attribute) ?? "", server.currentUrl).href;
}

/** Returns the URL path of the shown session; undefined on other pages. */
export function findSessionPath() {
  return /^.*\/p\/[^/]+\//.exec(new URL(server.currentUrl).pathname)?.[0];
}
