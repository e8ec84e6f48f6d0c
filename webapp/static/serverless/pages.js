// @ts-check
/** The pages of the folder, and the addresses at which they are shown. */

import { BETWEEN_CHOICES } from "../questions.js";

/**
 * Where pages are. A folder has one page only, so a session's address stands behind its hash: it
 * outlives a reload on any host, and in a file.
 */
export const address = {
  folder: new URL(".", location.href.split("#")[0]).href,

  /**
   * Where sessions are, which nobody but the page itself is ever asked for: wherever the folder lies,
   * and also where a store opens it under another address on each visit, as JATOS does, what a
   * browser keeps of a session is found again.
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
   * The session and the step that an address stands for; the session is empty where people begin.
   * @param {string} url
   */
  parse(url) {
    const { href, pathname } = new URL(url, address.currentUrl());
    // What is remembered of a session is its path alone.
    const sessionPath = href.split("#")[0] === location.href.split("#")[0] ? "" : pathname;
    const [, session = "", step = ""] = /^\/p\/([a-z0-9]{12})\/([^/]*)$/.exec(sessionPath) ?? [];
    return { session, step };
  },

  /**
   * What the link said of who came.
   * @param {URLSearchParams} query
   * @param {Record<string, { pattern: string }>} allowed
   * @returns {Record<string, string>}
   */
  pickParameters(query, allowed) {
    const kept = Object.keys(allowed).filter((name) => query.get(name));
    return Object.fromEntries(kept.map((name) => [name, query.get(name) ?? ""]));
  },

  /**
   * The first argument that the link lacks, or that is none of the panel's.
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
 * A page of the folder as an answer to whoever asked for it.
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
 * A page's text with what is known of the person in its places.
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
 * Writes values into a page's fields.
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
 * Says at each question what must be mended, and takes the mark from those that are in order.
 * @param {Document} page On which every question is marked.
 * @param {Record<string, string>} problems By the questions' names; the empty name is the form's.
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
