// @ts-check
/** Sending to a store, and what its answers mean. */

const PATIENCE_MS = 60_000;
// What DataPipe answers with 400 although the next request may succeed.
const TRANSIENT = /UNKNOWN_ERROR_GETTING_CONDITION/;

/** The store will not take it, however often it is asked. */
export class PermanentRefusal extends Error {}

/**
 * @param {string} url
 * @param {string} body
 * @param {Record<string, string>} headers
 */
export async function sendRequest(url, body, headers, method = "POST") {
  const response = await fetch(url, { method, body, headers, signal: AbortSignal.timeout?.(PATIENCE_MS) });
  if (response.ok) return response;
  const { status } = response;
  const text = await response.text();
  const isPermanent = isPermanentError(status) && !TRANSIENT.test(text);
  throw Object.assign(isPermanent ? new PermanentRefusal(text) : new Error(text), { status });
}

/**
 * Whether an answer says that the same request is refused always.
 * @param {number} status
 */
export function isPermanentError(status) {
  return status >= 400 && status < 500 && ![408, 429].includes(status);
}
