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

  here() {
    const inside = location.hash.slice(1);
    return inside.startsWith("p/") ? address.root + inside : location.href.split("#")[0];
  },

  /**
   * @param {string} url
   * @param {boolean} sameEntry
   */
  enter(url, sameEntry) {
    const path = url.startsWith(address.root) ? url.slice(address.root.length) : "";
    const shown = location.href.split("#")[0] + (path.startsWith("p/") ? `#${path}` : "");
    if (sameEntry) history.replaceState(history.state, "", shown);
    else history.pushState(null, "", shown);
  },

  /**
   * The session and the step that an address stands for; the session is empty where people begin.
   * @param {string} url
   */
  of(url) {
    const { href, pathname } = new URL(url, address.here());
    // What is remembered of a session is its path alone.
    const inside = href.split("#")[0] === location.href.split("#")[0] ? "" : pathname;
    const [, session = "", step = ""] = /^\/p\/([a-z0-9]{12})\/([^/]*)$/.exec(inside) ?? [];
    return { session, step };
  },

  /**
   * What the link said of who came.
   * @param {URLSearchParams} said
   * @param {Record<string, { pattern: string }>} known
   * @returns {Record<string, string>}
   */
  parameters(said, known) {
    const kept = Object.keys(known).filter((name) => said.get(name));
    return Object.fromEntries(kept.map((name) => [name, said.get(name) ?? ""]));
  },

  /**
   * The first argument that the link lacks, or that is none of the panel's.
   * @param {URLSearchParams} said
   * @param {Record<string, { pattern: string, required: boolean, only: string }>} known
   */
  wrongParameter(said, known) {
    return Object.entries(known).find(([name, { pattern, required, only }]) => {
      const value = said.get(name) ?? "";
      if (!value) return required;
      return !new RegExp(`^(?:${pattern})$`).test(value) || (only && value !== only);
    })?.[0];
  },
};

/**
 * A page of the folder as an answer to whoever asked for it.
 * @param {any} study
 * @param {string} name
 * @param {{ fill: (page: Document) => void, now?: any, session?: string, status: number }} how
 */
export function asPage(study, name, { fill, now, session, status }) {
  const { title, body } = study.pages[`${name} ${now?.edition}`] ?? study.pages[name];
  const page = new DOMParser().parseFromString(
    `<!doctype html><html lang="${study.language}" dir="${study.direction}"><head>` +
      `<title>${title}</title></head>${filled(body, now)}</html>`,
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
 * @param {any} now
 */
function filled(html, now) {
  /** @type {Record<string, string>} */
  const known = {
    code: now?.code ?? "", done: String(now?.answered.size ?? ""), total: String(now?.total ?? ""),
    ...now?.parameters,
  };
  const value = (/** @type {string} */ hex) => {
    const bytes = hex.match(/../g)?.map((byte) => parseInt(byte, 16)) ?? [];
    return known[new TextDecoder().decode(new Uint8Array(bytes))] ?? "";
  };
  return html
    .replace(/(action|href)="[^"]*"/g, (link) => link.replace(PLACE, (_, name) => encodeURIComponent(value(name))))
    .replace(PLACE, (_, name) => escaped(value(name)));
}

const PLACE = /0PLACE0([0-9a-f]+)0END0/g;

/** @param {string} text */
function escaped(text) {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/**
 * Writes values into a page's fields.
 * @param {Document} page
 * @param {Record<string, string>} values
 */
export function putIn(page, values) {
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
export function notInOrder(page, problems) {
  const notice = page.querySelector("main [role=alert]");
  if (notice && problems[""]) notice.textContent = problems[""];
  for (const mark of page.querySelectorAll(".question-field")) {
    const field = mark.querySelector("[name]");
    const problem = problems[field?.getAttribute("name") ?? ""];
    const words = mark.querySelector(".problem");
    if (words && problem) words.textContent = problem;
    if (problem) continue;
    words?.remove();
    mark.classList.remove("wrong");
    for (const each of mark.querySelectorAll("[aria-invalid]")) {
      each.removeAttribute("aria-invalid");
      each.removeAttribute("aria-describedby");
    }
  }
}
