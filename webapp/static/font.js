// @ts-check
/** Loads the study's own font before the first trial, or marks that it is missing. */

const FAMILY = "Parallax Text";
// After this time the trials begin without the font, and each trial records that.
const PATIENCE_MS = 5_000;

/**
 * Loads the study's font, if it has one, for the characters of its texts.
 * @param {HTMLElement} place The trial element; its data attributes name the font.
 * @param {string} texts All characters of the texts.
 */
export async function loadFont(place, texts) {
  if (!place.dataset.font) return;
  place.dataset.fontMissing = "";
  const timeout = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  await Promise.race([fetchFont(place, texts), timeout]);
}

/**
 * Returns whether texts are drawn in a font other than the study's: because it is still loading,
 * failed to load, or was replaced by a browser extension.
 * @param {HTMLElement} place The trial element.
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
    // Loading failed: the mark stays.
  }
}
