// @ts-check
/** The part of the page where keys are changed or switched off. */

/**
 * @param {HTMLElement} place Holds the options and the fields.
 * @param {import("./response_keys.js").ResponseKeys} keys
 * @param {AbortSignal} signal Aborted when the page is left.
 */
export function openKeySettings(place, keys, signal) {
  /** @type {HTMLInputElement | null} */
  const on = place.querySelector("#keys-on");
  /** @type {HTMLInputElement | null} */
  const text = place.querySelector("#keys-text");
  /** @type {HTMLElement | null} */
  const problem = place.querySelector("#keys-problem");
  if (!on || !text || !problem) return;
  const showKeys = () => {
    on.checked = keys.on;
    text.value = keys.keys.join(" ");
    labelOptions(place, keys);
  };
  showKeys();
  keys.onTaskChange = showKeys;
  const applyKeys = () => {
    const typedKeys = [...text.value.replace(/\s/g, "")];
    const isValid = typedKeys.length === keys.keys.length && keys.setPreferences({ on: on.checked, keys: typedKeys });
    if (!isValid) keys.setPreferences({ on: on.checked, keys: keys.keys });
    problem.hidden = isValid;
    text.setAttribute("aria-invalid", String(!isValid));
    labelOptions(place, keys);
  };
  on.addEventListener("change", applyKeys, { signal });
  text.addEventListener("input", applyKeys, { signal });
}

/**
 * Writes each option's key beside it.
 * @param {HTMLElement} place
 * @param {import("./response_keys.js").ResponseKeys} keys
 */
function labelOptions(place, keys) {
  place.classList.toggle("without-keys", !keys.on);
  for (const option of place.querySelectorAll("[data-side]")) {
    // A page may have two groups of answers, such as the words of a Maze and those to its question.
    const group = option.closest("[role=group]") ?? place;
    const key = keys.keys[[...group.querySelectorAll("[data-side]")].indexOf(option)] ?? "";
    const keyLabel = option.querySelector(".key");
    if (keyLabel) keyLabel.textContent = key;
    if (keys.on) option.setAttribute("aria-keyshortcuts", key);
    else option.removeAttribute("aria-keyshortcuts");
  }
}
