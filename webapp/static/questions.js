// @ts-check
/** The questions of a form: reads its answers, shows the questions that apply, and handles sliders. */

/** Separates several choices in one answer. */
export const BETWEEN_CHOICES = "; ";

/**
 * Returns a form's fields; joins the values of a repeated field, such as several choices.
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
 * Returns whether a question applies, given the answers to earlier questions.
 * @param {Record<string, string[]>} onlyIf
 * @param {Record<string, string>} answers The answers to the questions that apply.
 */
export function isAsked(onlyIf, answers) {
  return Object.entries(onlyIf).every(([name, wanted]) => {
    const answer = answers[name] ?? "";
    return wanted.includes(answer) || answer.split(BETWEEN_CHOICES).some((choice) => wanted.includes(choice));
  });
}

/**
 * Shows the questions that apply, and links each slider with its number field.
 * @param {HTMLFormElement} form
 * @param {AbortSignal} signal Aborted when the page is left.
 */
export function openQuestions(form, signal) {
  const updateAskedQuestions = () => {
    for (const part of /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll("[data-only-if]"))) {
      // Disabled fields are not sent, so they cannot make a later question apply.
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
  // A press on the slider's initial position selects that value.
  range.addEventListener("pointerup", setNumber, { signal });
  range.addEventListener("keydown", ({ key }) => (key === "Enter" || key === " ") && setNumber(), { signal });
  number.addEventListener("input", moveSlider, { signal });
  moveSlider();
}
