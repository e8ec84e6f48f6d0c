// @ts-check
/** A sentence is rated on several scales: the answer has a digit for each, once all have a point. */

/** @typedef {import("../../../static/trial.js").ReadsAnswers} ReadsAnswers */

/** @param {ParentNode} place */
const scalesOf = (place) => [...place.querySelectorAll(".scale")];
/** @param {ParentNode} scale */
const chosenIn = (scale) => scale.querySelector(".chosen");

/** @type {ReadsAnswers["answer"]} */
export const answer = (option) => {
  const digits = scalesOf(option.closest(".stage") ?? document).map((scale) => {
    const point = scale.contains(option) ? option : chosenIn(scale);
    return /** @type {HTMLElement} */ (point).dataset.rating;
  });
  return { rating: Number(digits.join("")) };
};

/** @type {ReadsAnswers["offered"]} */
export const offered = () => true;

/** @type {ReadsAnswers["meant"]} */
export const meant = (place) => {
  const open = scalesOf(place).find((scale) => !chosenIn(scale));
  return (open ?? place).querySelectorAll("[data-side]");
};

/** @type {ReadsAnswers["completes"]} */
export const completes = (option) => {
  const scale = /** @type {HTMLElement} */ (option.closest(".scale"));
  for (const other of scale.querySelectorAll(".option")) {
    other.classList.toggle("chosen", other === option);
    other.setAttribute("aria-pressed", String(other === option));
  }
  const open = scalesOf(option.closest(".stage") ?? document).find((one) => !chosenIn(one));
  // Voices read the next question, and the next Tab leads to its first point.
  /** @type {HTMLElement | undefined} */ (open)?.focus({ preventScroll: true });
  return !open;
};
