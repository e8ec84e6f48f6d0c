// @ts-check
/**
 * The five facts about the browser that are sent once per session. The device type is used in the
 * page only.
 */

// A browser built on another one carries both names, so the order matters.
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
 * Returns the browser family, without version or operating system.
 * @param {string} userAgent
 */
export function findBrowserFamily(userAgent) {
  const family = FAMILIES.find(([, pattern]) => /** @type {RegExp} */ (pattern).test(userAgent));
  return String(family?.[0] ?? "other");
}

/**
 * Returns the screen's refresh rate from successive frame times; the median ignores dropped frames.
 * @param {number[]} timesMs
 * @returns {number | null} In hertz; null without two different times.
 */
export function computeRefreshRate(timesMs) {
  const gaps = timesMs.slice(1).map((time, index) => time - timesMs[index]);
  const gap = gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)];
  return gap > 0 ? Math.round(10_000 / gap) / 10 : null;
}

/** Resolves to the facts in the form that the server stores. */
export async function collectDeviceFacts() {
  return {
    user_agent_family: findBrowserFamily(navigator.userAgent),
    refresh_rate_hz: computeRefreshRate(await measureFrameTimes()),
    time_zone_offset_min: -new Date().getTimezoneOffset(),
    language: navigator.language || null,
    // Automated browsers report this themselves (W3C WebDriver), unless they hide it.
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

// Android's threshold for tablets ("sw600dp"): the shorter side in CSS pixels.
const TABLET_PX = 600;

/** @returns {"desktop" | "tablet" | "phone"} */
export function getDeviceType() {
  // The pointing device decides: a tablet with a keyboard is a tablet, a touch-screen laptop is not.
  const isTouchOnly = matchMedia("(hover: none) and (pointer: coarse)").matches;
  if (!isTouchOnly) return "desktop";
  return Math.min(screen.width, screen.height) < TABLET_PX ? "phone" : "tablet";
}

/**
 * Shows a notice if the study does not allow this device type, and returns whether it is shown.
 * @returns {boolean}
 */
export function rejectDevice() {
  const notice = document.getElementById("wrong-device");
  const isRejected = Boolean(notice && !notice.dataset.devices?.split(" ").includes(getDeviceType()));
  if (notice) notice.hidden = !isRejected;
  return isRejected;
}
