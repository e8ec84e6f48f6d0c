import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";

const BOOT = readFileSync(new URL("../../../webapp/static/boot.js", import.meta.url), "utf-8");

/** A page in the middle of its way, and what was begun on it. */
function aPage(readyState) {
  const folder = mkdtempSync(join(tmpdir(), "boot-"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "page.js"), "export const start = () => globalThis.begun.push('page');");
  globalThis.begun = [];
  const listeners = [];
  const document = {
    readyState,
    currentScript: { getAttribute: () => pathToFileURL(folder).href },
    getElementById: () => null,
    addEventListener: (kind, listener) => kind === "DOMContentLoaded" && listeners.push(listener),
  };
  const program = `return import(base + "/page.js")`;
  const come = new Function("base", program)(pathToFileURL(folder).href);
  new Function("document", "window", BOOT)(document, { addEventListener: () => {} });
  return { document, come, parsed: () => listeners.forEach((listener) => listener()) };
}

test("a program that is there before the rest of its page waits for it", async () => {
  const page = aPage("loading");
  await page.come;
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(globalThis.begun, []);
  page.document.readyState = "interactive";
  page.parsed();
  assert.deepEqual(globalThis.begun, ["page"]);
});

test("a program that comes after its page begins at once, and once", async () => {
  const page = aPage("interactive");
  await page.come;
  await new Promise((resolve) => setImmediate(resolve));
  page.parsed();
  assert.deepEqual(globalThis.begun, ["page"]);
});
