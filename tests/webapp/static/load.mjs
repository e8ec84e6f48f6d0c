import { readFile } from "node:fs/promises";

/** Node takes a file named .js for a script of its older kind, so a module is given as text. */
export async function load(name) {
  const url = new URL(`../../../webapp/static/${name}`, import.meta.url);
  const source = await readFile(url, "utf8");
  return import(`data:text/javascript,${encodeURIComponent(source)}`);
}
