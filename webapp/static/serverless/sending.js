// @ts-check
/** Sending to a store, and what its answers mean. */

const PATIENCE_MS = 60_000;
// What DataPipe answers with 400 although the next request may succeed.
const PASSING = /UNKNOWN_ERROR_GETTING_CONDITION/;

/** The store will not take it, however often it is asked. */
export class Refused extends Error {}

/**
 * @param {string} url
 * @param {string} body
 * @param {Record<string, string>} headers
 */
export async function posted(url, body, headers, method = "POST") {
  const response = await fetch(url, { method, body, headers, signal: AbortSignal.timeout?.(PATIENCE_MS) });
  if (response.ok) return response;
  const { status } = response;
  const text = await response.text();
  const never = refuses(status) && !PASSING.test(text);
  throw Object.assign(never ? new Refused(text) : new Error(text), { status });
}

/**
 * Whether an answer says that the same request is refused always.
 * @param {number} status
 */
export function refuses(status) {
  return status >= 400 && status < 500 && ![408, 429].includes(status);
}
