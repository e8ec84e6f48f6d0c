// @ts-check
/**
 * What answers the pages, and where a page is: the server, and the browser's address. A study
 * without a server puts its own in their place (serverless/local_server.js); no other file knows of it.
 */

export const server = {
  /** @type {(url: string, request?: RequestInit) => Promise<Response>} */
  fetch: (url, request) => fetch(url, request),

  /** @type {(url: string) => Promise<any>} Resolves to a program, as ``import`` does. */
  load: (url) => import(url),

  /** @type {(url: string, body: string) => void} Sends what nobody waits for. */
  sendOnExit: (url, body) => void navigator.sendBeacon(url, body),

  /** The address of the page that is shown. */
  get currentUrl() {
    return location.href;
  },

  /** @type {(run: string | undefined) => string} The address under which a run takes people. */
  invitationUrl: (run) => new URL(`/run/${run}`, location.href).href,

  /**
   * Makes an address the one of the page that is shown.
   * @param {string} url
   * @param {boolean} sameEntry Whether it takes the entry of the history that is there.
   */
  enterUrl(url, sameEntry) {
    if (sameEntry) history.replaceState(history.state, "", url);
    else history.pushState(null, "", url);
  },
};

/**
 * Where something leads, read from what the page's writer wrote.
 * @param {Element} element
 * @param {"href" | "action"} attribute
 */
export function resolveLink(element, attribute) {
  return new URL(element.getAttribute(attribute) ?? "", server.currentUrl).href;
}

/** The address of the session that is shown; undefined on other pages. */
export function findSessionPath() {
  return /^.*\/p\/[^/]+\//.exec(new URL(server.currentUrl).pathname)?.[0];
}
