// @ts-check
/** The settings in which a participant changes the response keys or switches them off. */

/**
 * Connects the settings with the keys.
 * @param {HTMLElement} place Contains the options and the fields.
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
 * Shows each option's key next to the option.
 * @param {HTMLElement} place
 * @param {import("./response_keys.js").ResponseKeys} keys
 */
function labelOptions(place, keys) {
  place.classList.toggle("without-keys", !keys.on);
  for (const option of place.querySelectorAll("[data-side]")) {
    // A page may have two groups of options, such as the words of a Maze and the answers to its question.
    const group = option.closest("[role=group]") ?? place;
    const key = keys.keys[[...group.querySelectorAll("[data-side]")].indexOf(option)] ?? "";
    const keyLabel = option.querySelector(".key");
    if (keyLabel) keyLabel.textContent = key;
    if (keys.on) option.setAttribute("aria-keyshortcuts", key);
    else option.removeAttribute("aria-keyshortcuts");
  }
}
