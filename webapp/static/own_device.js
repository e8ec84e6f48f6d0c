// @ts-check
/** On which kind of device the page is shown, where a study refuses some. */

// The shortest side from which Android calls a screen a tablet's ("sw600dp"), in CSS pixels.
const TABLET_PX = 600;

/** @returns {"desktop" | "tablet" | "phone"} */
export function kindOfDevice() {
  // Tablets with a keyboard are tablets, laptops with a touch screen are not: it is what one points with.
  const fingers = matchMedia("(hover: none) and (pointer: coarse)").matches;
  if (!fingers) return "desktop";
  return Math.min(screen.width, screen.height) < TABLET_PX ? "phone" : "tablet";
}

/**
 * Says so where the study cannot be taken on this device, and returns whether it is so.
 * @returns {boolean}
 */
export function refusesDevice() {
  const notice = document.getElementById("wrong-device");
  const refuses = Boolean(notice && !notice.dataset.devices?.split(" ").includes(kindOfDevice()));
  if (notice) notice.hidden = !refuses;
  return refuses;
}
