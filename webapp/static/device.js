// @ts-check
/**
 * What the session is told about the browser, once: these five facts and nothing else. Which kind of
 * device it is stays in the page.
 */

// Brands that build on another's browser carry both names, so the order matters.
const FAMILIES = [
  ["Edge", /Edg(e|A|iOS)?\//],
  ["Opera", /OPR\//],
  ["Samsung Internet", /SamsungBrowser\//],
  ["Firefox", /(Firefox|FxiOS)\//],
  ["Chrome", /(Chrome|Chromium|CriOS)\//],
  ["Safari", /Version\/.*Safari\//],
];
const FRAMES = 30;

/**
 * The browser's family; its version and system are nobody's business.
 * @param {string} userAgent
 */
export function findBrowserFamily(userAgent) {
  const family = FAMILIES.find(([, pattern]) => /** @type {RegExp} */ (pattern).test(userAgent));
  return String(family?.[0] ?? "other");
}

/**
 * The screen's refresh rate from the times of successive frames; the median ignores dropped ones.
 * @param {number[]} timesMs
 * @returns {number | null} In hertz; null without two different times.
 */
export function computeRefreshRate(timesMs) {
  const gaps = timesMs.slice(1).map((time, index) => time - timesMs[index]);
  const gap = gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)];
  return gap > 0 ? Math.round(10_000 / gap) / 10 : null;
}

/** Resolves to the facts as the server stores them. */
export async function collectDeviceFacts() {
  return {
    user_agent_family: findBrowserFamily(navigator.userAgent),
    refresh_rate_hz: computeRefreshRate(await measureFrameTimes()),
    time_zone_offset_min: -new Date().getTimezoneOffset(),
    language: navigator.language || null,
    // A browser that a program drives says so by itself (W3C WebDriver), unless it hides it.
    automated: navigator.webdriver ?? null,
  };
}

/** @returns {Promise<number[]>} */
function measureFrameTimes() {
  return new Promise((resolve) => {
    /** @type {number[]} */
    const times = [];
    /** @param {number} time */
    const recordFrame = (time) => {
      times.push(time);
      if (times.length > FRAMES) resolve(times);
      else requestAnimationFrame(recordFrame);
    };
    requestAnimationFrame(recordFrame);
  });
}

// The shortest side from which Android calls a screen a tablet's ("sw600dp"), in CSS pixels.
const TABLET_PX = 600;

/** @returns {"desktop" | "tablet" | "phone"} */
export function getDeviceType() {
  // Tablets with a keyboard are tablets, laptops with a touch screen are not: it is what one points with.
  const isTouchOnly = matchMedia("(hover: none) and (pointer: coarse)").matches;
  if (!isTouchOnly) return "desktop";
  return Math.min(screen.width, screen.height) < TABLET_PX ? "phone" : "tablet";
}

/**
 * Says so where the study cannot be taken on this device, and returns whether it is so.
 * @returns {boolean}
 */
export function rejectDevice() {
  const notice = document.getElementById("wrong-device");
  const isRejected = Boolean(notice && !notice.dataset.devices?.split(" ").includes(getDeviceType()));
  if (notice) notice.hidden = !isRejected;
  return isRejected;
}
