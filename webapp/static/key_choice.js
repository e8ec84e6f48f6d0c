// @ts-check
/** The part of the page where keys are changed or switched off. */

/**
 * @param {HTMLElement} place Holds the options and the fields.
 * @param {import("./keys.js").Keys} keys
 * @param {AbortSignal} signal Aborted when the page is left.
 */
export function openKeys(place, keys, signal) {
  /** @type {HTMLInputElement | null} */
  const on = place.querySelector("#keys-on");
  /** @type {HTMLInputElement | null} */
  const text = place.querySelector("#keys-text");
  /** @type {HTMLElement | null} */
  const problem = place.querySelector("#keys-problem");
  if (!on || !text || !problem) return;
  const tell = () => {
    on.checked = keys.on;
    text.value = keys.keys.join(" ");
    label(place, keys);
  };
  tell();
  keys.onBecome = tell;
  const take = () => {
    const wanted = [...text.value.replace(/\s/g, "")];
    const sound = wanted.length === keys.keys.length && keys.wish({ on: on.checked, keys: wanted });
    if (!sound) keys.wish({ on: on.checked, keys: keys.keys });
    problem.hidden = sound;
    text.setAttribute("aria-invalid", String(!sound));
    label(place, keys);
  };
  on.addEventListener("change", take, { signal });
  text.addEventListener("input", take, { signal });
}

/**
 * Writes each option's key beside it.
 * @param {HTMLElement} place
 * @param {import("./keys.js").Keys} keys
 */
function label(place, keys) {
  place.classList.toggle("without-keys", !keys.on);
  for (const option of place.querySelectorAll("[data-side]")) {
    // A page may have two groups of answers, such as the words of a Maze and those to its question.
    const group = option.closest("[role=group]") ?? place;
    const key = keys.keys[[...group.querySelectorAll("[data-side]")].indexOf(option)] ?? "";
    const shown = option.querySelector(".key");
    if (shown) shown.textContent = key;
    if (keys.on) option.setAttribute("aria-keyshortcuts", key);
    else option.removeAttribute("aria-keyshortcuts");
  }
}
