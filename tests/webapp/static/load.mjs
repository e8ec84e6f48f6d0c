import { cp, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const STATIC = fileURLToPath(new URL("../../../webapp/static/", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "parallax-"));
await cp(STATIC, folder, { recursive: true });
const RESPONSES = new URL("../../../webapp/participant/responses/", import.meta.url);
await cp(fileURLToPath(RESPONSES), join(folder, "responses"), { recursive: true });
const CODING = new URL("../../../webapp/coding_pages/static/", import.meta.url);
await cp(fileURLToPath(CODING), join(folder, "coding_pages"), { recursive: true });
// Node takes a file named .js for a script of its older kind, unless a package says otherwise.
await writeFile(join(folder, "package.json"), '{ "type": "module" }');

/** A module of the pages, with those that it imports; with another query, it runs again. */
export async function load(name, query = "") {
  return import(pathToFileURL(join(folder, name)).href + query);
}
