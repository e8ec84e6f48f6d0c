// @ts-check
/** Starts a study without a server: the folder's only HTML file shows the participant's current page. */

import { goTo } from "../navigation.js";
import { start } from "../page.js";
import { server } from "../server.js";
import { installLocalServer } from "./local_server.js";
import { noteForbiddenOrigin } from "./store_requests.js";

/** @param {Record<string, any>} programs The modules that pages load by name. */
export function startStudy(programs) {
  const data = document.getElementById("study")?.textContent ?? "";
  const study = JSON.parse(data);
  // Browsers do not let a page opened as a local file read other files in its folder.
  if (location.protocol === "file:" && !study.drawn) {
    document.getElementById("no-beginning")?.classList.remove("late");
    return;
  }
  document.addEventListener("securitypolicyviolation", logPolicyViolation);
  document.addEventListener("securitypolicyviolation", noteForbiddenOrigin);
  const notice = document.getElementById("no-beginning");
  document.addEventListener("securitypolicyviolation", (event) => showForbiddenHost(event, notice));
  installLocalServer(study, programs);
  start();
  void goTo(server.currentUrl);
}

/**
 * Says that waiting does not help if the policy forbids the files of the page's own host, such as the sessions.
 * @param {SecurityPolicyViolationEvent} event
 * @param {HTMLElement | null} notice
 */
function showForbiddenHost({ effectiveDirective, blockedURI }, notice) {
  const isOwn = URL.canParse(blockedURI) && new URL(blockedURI).origin === location.origin;
  if (effectiveDirective !== "connect-src" || !isOwn || !notice) return;
  // That the page keeps trying would contradict the notice.
  document.getElementById("trouble")?.remove();
  notice.classList.remove("late");
  document.querySelector("main")?.prepend(notice);
}

/**
 * Logs what the host's Content-Security-Policy forbids, for the researcher who tests the study.
 * @param {SecurityPolicyViolationEvent} event
 */
function logPolicyViolation({ effectiveDirective, blockedURI }) {
  const source = blockedURI === "data" ? "data:" : blockedURI;
  console.error(
    `The Content-Security-Policy of this page's host forbids ${source}. It stays so until the host ` +
      `allows it: add ${source} to ${effectiveDirective} in the header that the host sends.`,
  );
}
