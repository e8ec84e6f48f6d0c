// @ts-check
/** Rating on several scales: the answer has one digit per scale, once every scale has a point. */

/** @typedef {import("../../../static/trial_view.js").ResponseScript} ResponseScript */

/** @param {ParentNode} place */
const scalesOf = (place) => [...place.querySelectorAll(".scale")];
/** @param {ParentNode} scale */
const chosenIn = (scale) => scale.querySelector(".chosen");

/** @type {ResponseScript["answer"]} */
export const answer = (option) => {
  const digits = scalesOf(option.closest(".stage") ?? document).map((scale) => {
    const point = scale.contains(option) ? option : chosenIn(scale);
    return /** @type {HTMLElement} */ (point).dataset.rating;
  });
  return { rating: Number(digits.join("")) };
};

/** @type {ResponseScript["offered"]} */
export const offered = () => true;

/** @type {ResponseScript["meant"]} */
export const meant = (place) => {
  const open = scalesOf(place).find((scale) => !chosenIn(scale));
  return (open ?? place).querySelectorAll("[data-side]");
};

/** @type {ResponseScript["completes"]} */
export const completes = (option) => {
  const scale = /** @type {HTMLElement} */ (option.closest(".scale"));
  for (const point of scale.querySelectorAll(".option")) {
    point.classList.toggle("chosen", point === option);
    point.setAttribute("aria-pressed", String(point === option));
  }
  const open = scalesOf(option.closest(".stage") ?? document).find((scale) => !chosenIn(scale));
  // Screen readers read the next question, and the next Tab reaches its first point.
  /** @type {HTMLElement | undefined} */ (open)?.focus({ preventScroll: true });
  return !open;
};
