// @ts-check
/** Requests to a result store, and the meaning of its replies. */

const PATIENCE_MS = 60_000;
// DataPipe sends this error with status 400, although the next request may succeed.
const TRANSIENT = /UNKNOWN_ERROR_GETTING_CONDITION/;

/** The store refuses the request permanently: retrying cannot succeed. */
export class PermanentRefusal extends Error {}

/**
 * Sends a request; throws unless the store accepts it.
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
 * Returns whether a status means that the same request is always refused.
 * @param {number} status
 */
export function isPermanentError(status) {
  return status >= 400 && status < 500 && ![408, 429].includes(status);
}
