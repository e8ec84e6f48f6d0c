// @ts-check
/** A study without a server begins: the folder's only page shows the page that somebody is at. */

import { goTo } from "../navigation.js";
import { start } from "../page.js";
import { server } from "../server.js";
import { installLocalServer } from "./local_server.js";

/** @param {Record<string, any>} programs Those that pages ask for by name. */
export function startStudy(programs) {
  const data = document.getElementById("study")?.textContent ?? "";
  const study = JSON.parse(data);
  // No browser lets a page that was opened as a file read the files beside it, however often it asks.
  if (location.protocol === "file:" && !study.drawn) {
    document.getElementById("no-beginning")?.classList.remove("late");
    return;
  }
  document.addEventListener("securitypolicyviolation", logPolicyViolation);
  installLocalServer(study, programs);
  start();
  void goTo(server.currentUrl);
}

/**
 * Names what a Content-Security-Policy of the host forbids, for whoever tries the study out.
 * @param {SecurityPolicyViolationEvent} event
 */
function logPolicyViolation({ effectiveDirective, blockedURI }) {
  const source = blockedURI === "data" ? "data:" : blockedURI;
  console.error(
    `The Content-Security-Policy of this page's host forbids ${source}. It stays so until the host ` +
      `allows it: add ${source} to ${effectiveDirective} in the header that the host sends.`,
  );
}
