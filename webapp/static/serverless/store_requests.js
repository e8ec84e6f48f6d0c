// @ts-check
/** Requests to a result store, and the meaning of its replies. */

const PATIENCE_MS = 60_000;
// A store that only replies with refusals for so long is not waited for: the person goes on, and at the
// end gets a file.
const REFUSED_FOR_GOOD_MS = 10_000;
// DataPipe sends this error with status 400, although the next request may succeed.
const TRANSIENT = /UNKNOWN_ERROR_GETTING_CONDITION/;

/** The store refuses the request permanently: retrying cannot succeed. */
export class PermanentRefusal extends Error {}

/** The store has only refused for so long that nobody waits for it; it may accept the request later. */
export class LongRefusal extends PermanentRefusal {}

/** @type {Set<string>} The origins that the policy of the pages' host forbids. */
const forbiddenOrigins = new Set();
/** @type {Map<string, number>} When a store, by its origin, began to refuse; it has accepted nothing since. */
const refusedSince = new Map();

/**
 * Notes an origin that the host's Content-Security-Policy forbids: no retry reaches it.
 * @param {Pick<SecurityPolicyViolationEvent, "effectiveDirective" | "blockedURI">} event
 */
export function noteForbiddenOrigin({ effectiveDirective, blockedURI }) {
  if (effectiveDirective === "connect-src" && URL.canParse(blockedURI)) forbiddenOrigins.add(new URL(blockedURI).origin);
}

/**
 * Sends a request; throws unless the store accepts it.
 * @param {string} url
 * @param {string} body
 * @param {Record<string, string>} headers
 */
export async function sendRequest(url, body, headers, method = "POST") {
  const { origin } = new URL(url);
  const response = await fetchReply(url, { method, body, headers, signal: AbortSignal.timeout?.(PATIENCE_MS) });
  if (response.ok) {
    refusedSince.delete(origin);
    return response;
  }
  const { status } = response;
  const text = await response.text();
  const Refusal = isPermanentError(status) && !TRANSIENT.test(text) ? PermanentRefusal : isRefusedForLong(origin) ? LongRefusal : Error;
  throw Object.assign(new Refusal(text), { status });
}

/**
 * Resolves to the store's reply; throws if there is none, or none that this page may read.
 * @param {string} url
 * @param {RequestInit} request
 */
async function fetchReply(url, request) {
  try {
    return await fetch(url, request);
  } catch (error) {
    const { origin } = new URL(url);
    if (forbiddenOrigins.has(origin)) throw new PermanentRefusal(String(error));
    if ((await isReachable(url)) && isRefusedForLong(origin)) throw new LongRefusal(String(error));
    throw error;
  }
}

/** Returns whether something replies, although this page may not read it, for want of CORS headers. */
async function isReachable(/** @type {string} */ url) {
  try {
    await fetch(url, { method: "HEAD", mode: "no-cors", signal: AbortSignal.timeout?.(PATIENCE_MS) });
    return true;
  } catch {
    return false;
  }
}

function isRefusedForLong(/** @type {string} */ origin) {
  const now = performance.now();
  const since = refusedSince.get(origin) ?? now;
  refusedSince.set(origin, since);
  return now - since >= REFUSED_FOR_GOOD_MS;
}

/**
 * Returns whether a status means that the same request is always refused.
 * @param {number} status
 */
export function isPermanentError(status) {
  const isFull = status === 507;
  return isFull || (status >= 400 && status < 500 && ![408, 429].includes(status));
}
