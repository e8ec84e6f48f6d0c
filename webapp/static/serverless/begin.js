// @ts-check
/** A study without a server begins: the folder's only page shows the page that somebody is at. */

import { goTo } from "../navigation.js";
import { start } from "../page.js";
import { server } from "../server.js";
import { answerLocally } from "./local.js";

/** @param {Record<string, any>} programs Those that pages ask for by name. */
export function begin(programs) {
  const data = document.getElementById("study")?.textContent ?? "";
  answerLocally(JSON.parse(data), programs);
  start();
  void goTo(server.here);
}
