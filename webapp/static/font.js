// @ts-check
/** The font that travels with a study's trials: it is there before the first of them, or marked. */

const FAMILY = "Parallax Text";
// Whoever waits for longer begins without it, and each trial says so.
const PATIENCE_MS = 5_000;

/**
 * Fetches a study's font, if it has one, as far as its texts need it.
 * @param {HTMLElement} place Where trials are shown; says which font.
 * @param {string} texts Every letter of them.
 */
export async function loadFont(place, texts) {
  if (!place.dataset.font) return;
  place.dataset.fontMissing = "";
  const timeout = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  await Promise.race([fetchFont(place, texts), timeout]);
}

/**
 * Whether texts are drawn in another font than the study's: it is still to come, it never came, or an
 * extension has put its own in its place.
 * @param {HTMLElement} place Where trials are shown.
 * @param {Iterable<Element>} texts
 */
export function isFallbackFont(place, texts) {
  if (document.fonts?.status === "loading" || place.dataset.fontMissing !== undefined) return true;
  if (!place.dataset.font) return false;
  return [...texts].some((text) => !getComputedStyle(text).fontFamily.includes(FAMILY));
}

/**
 * @param {HTMLElement} place
 * @param {string} texts
 */
async function fetchFont(place, texts) {
  const { fontSrc } = place.dataset;
  const sheet = /** @type {HTMLLinkElement | null} */ (place.querySelector("link[rel=stylesheet]"));
  try {
    if (fontSrc) document.fonts.add(await new FontFace(FAMILY, `url(${fontSrc})`).load());
    else if (sheet && !sheet.sheet) await new Promise((resolve) => (sheet.onload = sheet.onerror = resolve));
    await document.fonts.load(`1em "${FAMILY}"`, texts);
    if (document.fonts.check(`1em "${FAMILY}"`, texts)) delete place.dataset.fontMissing;
  } catch {
    // It did not come, and what marks that stays.
  }
}
