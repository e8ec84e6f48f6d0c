// @ts-check
/** How far a session has come, read from its journal alone; and what is wrong with a form. */

/** @typedef {import("./journal.js").Entry} Entry */

/**
 * @typedef {object} Question
 * @property {string} name
 * @property {"text" | "choice" | "number"} type
 * @property {string[]} options
 * @property {boolean} required
 * @property {string[]} [accept] The answers that let somebody go on, in lower case.
 * @property {number | null} [at_least]
 * @property {number | null} [at_most]
 *
 * @typedef {object} Asked The study's questions.
 * @property {Question[]} screening
 * @property {Question[]} comprehension
 * @property {Question[]} questionnaire
 * @property {number} tries
 *
 * @typedef {object} Progress
 * @property {"new" | "declined" | "screening" | "comprehension" | "placing" | "working" | "answered"
 *   | "finished" | "left" | "withdrawn"} at
 * @property {Set<number>} answered The positions.
 * @property {number} number The number of the session that was drawn; 0 before.
 * @property {number} total How many trials it has.
 * @property {number} tries How often the questions on the instructions were answered wrongly.
 * @property {string} ending How somebody left.
 * @property {boolean} erased
 * @property {boolean} told Whether the browser was described.
 * @property {string} code The person's own.
 * @property {Record<string, string>} parameters What their link said.
 */

const LONGEST_NUMBER = 32;

/**
 * Returns how far somebody has come.
 * @param {Entry[]} entries
 * @param {Asked} asked
 * @returns {Progress}
 */
export function progressOf(entries, asked) {
  /** @type {Progress} */
  const now = {
    at: "new", answered: new Set(), number: 0, total: 0, tries: 0, ending: "", erased: false,
    told: false, code: "", parameters: {},
  };
  for (const { kind, body } of entries) STEPS[kind]?.(now, JSON.parse(body), asked);
  return now;
}

/** @type {Record<string, (now: Progress, what: any, asked: Asked) => void>} */
const STEPS = {
  consent(now, { decision, code, parameters }, asked) {
    Object.assign(now, { code, parameters });
    if (decision === "decline") now.at = "declined";
    else if (asked.screening.length) now.at = "screening";
    else now.at = asked.comprehension.length ? "comprehension" : "placing";
  },
  screening(now, _, asked) {
    now.at = asked.comprehension.length ? "comprehension" : "placing";
  },
  comprehension(now, { right }, asked) {
    if (right) now.at = "placing";
    else if ((now.tries += 1) >= asked.tries) leave(now, "failed_check");
  },
  place(now, { number, total }) {
    Object.assign(now, { at: "working", number, total });
  },
  device(now) {
    now.told = true;
  },
  answer(now, { position }) {
    now.answered.add(position);
    if (now.at === "working" && now.answered.size === now.total) now.at = "answered";
  },
  questionnaire(now) {
    now.at = "finished";
  },
  leave(now, { ending }) {
    leave(now, ending);
  },
  withdraw(now, { wish }) {
    now.at = "withdrawn";
    now.erased ||= wish === "erase";
  },
};

/**
 * @param {Progress} now
 * @param {string} ending
 */
function leave(now, ending) {
  Object.assign(now, { at: "left", ending });
}

/**
 * Returns what was written into a form, without what nobody types.
 * @param {string} text
 */
export function cleaned(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\r\n?/g, "\n").replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g, "").trim();
}

/**
 * Returns what is wrong with each question's answer; nothing where all are in order.
 * @param {Question[]} questions
 * @param {Record<string, string>} given
 * @param {Record<string, string>} words What is said of each mistake.
 * @param {number} longest
 */
export function problemsOf(questions, given, words, longest) {
  const found = questions.map((question) => {
    const answer = cleaned(given[question.name] ?? "");
    return [question.name, problemOf(question, answer, words, longest)];
  });
  return Object.fromEntries(found.filter(([, problem]) => problem));
}

/**
 * @param {Question} question
 * @param {string} answer
 * @param {Record<string, string>} words
 * @param {number} longest
 */
function problemOf({ type, options, required }, answer, words, longest) {
  if (!answer) return required ? words.required : "";
  if (type === "choice" && !options.map(cleaned).includes(answer)) return words.choice;
  const isNumber = /^[+-]?\d+([.,]\d+)?$/.test(answer) && answer.length <= LONGEST_NUMBER;
  if (type === "number" && !isNumber) return words.number;
  return [...answer].length > longest ? words.longest : "";
}

/**
 * Returns whether every answer lets somebody go on.
 * @param {Question[]} questions
 * @param {Record<string, string>} given
 */
export function admits(questions, given) {
  return questions.every(({ name, type, accept, at_least, at_most }) => {
    const answer = cleaned(given[name] ?? "");
    if (type !== "number") return !accept || accept.includes(answer.toLowerCase());
    const number = Number(answer.replace(",", "."));
    return number >= (at_least ?? -Infinity) && number <= (at_most ?? Infinity);
  });
}
