// @ts-check
/** The questions of a form: what is written in it, which are asked, and the sliders. */

/** Between the answers of who chose several. */
export const BETWEEN_CHOICES = "; ";

/**
 * Returns a form's fields; one that comes several times, as several choices do, as one text.
 * @param {Iterable<[string, unknown]>} fields
 * @returns {Record<string, string>}
 */
export function formTexts(fields) {
  /** @type {Record<string, string>} */
  const texts = {};
  for (const [name, value] of fields) {
    texts[name] = [texts[name], String(value)].filter(Boolean).join(BETWEEN_CHOICES);
  }
  return texts;
}

/**
 * Returns whether the answers to earlier questions let a question be asked.
 * @param {Record<string, string[]>} onlyIf
 * @param {Record<string, string>} answers To the questions that are asked.
 */
export function isAsked(onlyIf, answers) {
  return Object.entries(onlyIf).every(([name, wanted]) => {
    const answer = answers[name] ?? "";
    return wanted.includes(answer) || answer.split(BETWEEN_CHOICES).some((choice) => wanted.includes(choice));
  });
}

/**
 * Shows the questions that the answers ask for, and couples each slider with its number.
 * @param {HTMLFormElement} form
 * @param {AbortSignal} signal Aborted when the page is left.
 */
export function openQuestions(form, signal) {
  const updateAskedQuestions = () => {
    for (const part of /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll("[data-only-if]"))) {
      // Fields that are switched off are not sent, so they count for no later question either.
      part.hidden = !isAsked(JSON.parse(part.dataset.onlyIf ?? "{}"), formTexts(new FormData(form)));
      for (const field of part.querySelectorAll("input, textarea")) field.toggleAttribute("disabled", part.hidden);
    }
  };
  for (const range of form.querySelectorAll("input[data-sets]")) linkSliderToNumber(form, /** @type {any} */ (range), signal);
  form.addEventListener("input", updateAskedQuestions, { signal });
  updateAskedQuestions();
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLInputElement} range
 * @param {AbortSignal} signal
 */
function linkSliderToNumber(form, range, signal) {
  const number = form.elements.namedItem(range.dataset.sets ?? "");
  if (!(number instanceof HTMLInputElement)) return;
  const moveSlider = () => {
    const typed = Number(number.value.replace(",", "."));
    range.classList.toggle("untouched", !number.value);
    if (number.value && !Number.isNaN(typed)) range.value = String(typed);
  };
  const setNumber = () => {
    number.value = range.value;
    number.dispatchEvent(new Event("input", { bubbles: true }));
  };
  range.addEventListener("input", setNumber, { signal });
  // Whoever means the place at which it stands presses it there.
  range.addEventListener("pointerup", setNumber, { signal });
  range.addEventListener("keydown", ({ key }) => (key === "Enter" || key === " ") && setNumber(), { signal });
  number.addEventListener("input", moveSlider, { signal });
  moveSlider();
}
