// @ts-check
/** The pages of a static study, and their URLs. */

import { BETWEEN_CHOICES } from "../questions.js";

/**
 * URLs of pages. A folder has only one HTML file, so the URL fragment holds the session's path: it
 * survives a reload on any host, and in a local file.
 */
export const address = {
  folder: new URL(".", location.href.split("#")[0]).href,

  /**
   * The base URL of sessions, never requested over the network. It is the same wherever the folder is
   * hosted, so that stored sessions are found again even if a store such as JATOS opens the folder
   * under another URL on each visit.
   */
  root: "https://static.invalid/",

  currentUrl() {
    const sessionPath = location.hash.slice(1);
    return sessionPath.startsWith("p/") ? address.root + sessionPath : location.href.split("#")[0];
  },

  /**
   * @param {string} url
   * @param {boolean} sameEntry
   */
  enterUrl(url, sameEntry) {
    const path = url.startsWith(address.root) ? url.slice(address.root.length) : "";
    const shown = location.href.split("#")[0] + (path.startsWith("p/") ? `#${path}` : "");
    if (sameEntry) history.replaceState(history.state, "", shown);
    else history.pushState(null, "", shown);
  },

  /**
   * Returns the session and the step of a URL; the session is empty on the first page.
   * @param {string} url
   */
  parse(url) {
    const { href, pathname } = new URL(url, address.currentUrl());
    // Sessions are stored by their path alone.
    const sessionPath = href.split("#")[0] === location.href.split("#")[0] ? "" : pathname;
    const [, session = "", step = ""] = /^\/p\/([a-z0-9]{12})\/([^/]*)$/.exec(sessionPath) ?? [];
    return { session, step };
  },

  /**
   * Returns the allowed parameters of the link.
   * @param {URLSearchParams} query
   * @param {Record<string, { pattern: string }>} allowed
   * @returns {Record<string, string>}
   */
  pickParameters(query, allowed) {
    const kept = Object.keys(allowed).filter((name) => query.get(name));
    return Object.fromEntries(kept.map((name) => [name, query.get(name) ?? ""]));
  },

  /**
   * Returns the first parameter that is missing from the link or has an invalid value.
   * @param {URLSearchParams} query
   * @param {Record<string, { pattern: string, required: boolean, only: string }>} allowed
   */
  findWrongParameter(query, allowed) {
    return Object.entries(allowed).find(([name, { pattern, required, only }]) => {
      const value = query.get(name) ?? "";
      if (!value) return required;
      return !new RegExp(`^(?:${pattern})$`).test(value) || (only && value !== only);
    })?.[0];
  },
};

/**
 * Returns a page of the study as a response.
 * @param {any} study
 * @param {string} name
 * @param {{ fill: (page: Document) => void, progress?: any, session?: string, status: number }} settings
 */
export function renderPage(study, name, { fill, progress, session, status }) {
  const { title, body } = study.pages[`${name} ${progress?.edition}`] ?? study.pages[name];
  const page = new DOMParser().parseFromString(
    `<!doctype html><html lang="${study.language}" dir="${study.direction}"><head>` +
      `<title>${title}</title></head>${fillPlaces(body, progress)}</html>`,
    "text/html",
  );
  page.body.dataset.run = study.run;
  fill(page);
  const html = `<!doctype html>${page.documentElement.outerHTML}`;
  const response = new Response(html, { status });
  const url = session ? `${address.root}p/${session}/` : location.href.split("#")[0];
  Object.defineProperty(response, "url", { value: url });
  return response;
}

/**
 * Returns a page's HTML with the participant's values in its placeholders.
 * @param {string} html
 * @param {any} progress
 */
function fillPlaces(html, progress) {
  /** @type {Record<string, string>} */
  const values = {
    code: progress?.code ?? "", done: String(progress?.answered.size ?? ""), total: String(progress?.total ?? ""),
    ...progress?.parameters,
  };
  const value = (/** @type {string} */ hex) => {
    const bytes = hex.match(/../g)?.map((byte) => parseInt(byte, 16)) ?? [];
    return values[new TextDecoder().decode(new Uint8Array(bytes))] ?? "";
  };
  return html
    .replace(/(action|href)="[^"]*"/g, (link) => link.replace(PLACE, (_, name) => encodeURIComponent(value(name))))
    .replace(PLACE, (_, name) => escapeHtml(value(name)));
}

const PLACE = /0PLACE0([0-9a-f]+)0END0/g;

/** @param {string} text */
function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/**
 * Writes values into a page's form fields.
 * @param {Document} page
 * @param {Record<string, string>} values
 */
export function fillFields(page, values) {
  for (const field of page.querySelectorAll("input[name], textarea[name]")) {
    const value = values[field.getAttribute("name") ?? ""];
    if (value === undefined) continue;
    if (field instanceof HTMLTextAreaElement) field.textContent = value;
    else if (field.getAttribute("type") === "radio") field.toggleAttribute("checked", field.getAttribute("value") === value);
    else if (field.getAttribute("type") === "checkbox") {
      field.toggleAttribute("checked", value.split(BETWEEN_CHOICES).includes(field.getAttribute("value") ?? ""));
    } else if (field.closest("fieldset") === null) field.setAttribute("value", value);
  }
}

/**
 * Shows the error at each invalid question, and removes the error mark from the valid ones.
 * @param {Document} page A page on which every question is marked as invalid.
 * @param {Record<string, string>} problems By question name; the empty name is for the whole form.
 */
export function showProblems(page, problems) {
  const notice = page.querySelector("main [role=alert]");
  if (notice && problems[""]) notice.textContent = problems[""];
  for (const mark of page.querySelectorAll(".question-field")) {
    const field = mark.querySelector("[name]");
    const problem = problems[field?.getAttribute("name") ?? ""];
    const message = mark.querySelector(".problem");
    if (message && problem) message.textContent = problem;
    if (problem) continue;
    message?.remove();
    mark.classList.remove("wrong");
    for (const input of mark.querySelectorAll("[aria-invalid]")) {
      input.removeAttribute("aria-invalid");
      input.removeAttribute("aria-describedby");
    }
  }
}
