// @ts-check
/** How far a session has come, read from its journal alone; and what is wrong with a form. */

import { BETWEEN_CHOICES, isAsked } from "../questions.js";

/** @typedef {import("./journal.js").Entry} Entry */

/**
 * @typedef {object} Question
 * @property {string} name
 * @property {"text" | "long_text" | "choice" | "choices" | "number" | "scale" | "slider"} type
 * @property {string[]} options
 * @property {boolean} required
 * @property {number | null} points A scale's.
 * @property {number | null} fewest Of several choices.
 * @property {number | null} most
 * @property {[number, number, number]} numbers A slider's lowest, highest and step.
 * @property {Record<string, string[]>} [only_if] The answers to earlier questions that let it be asked.
 * @property {Record<string, string>} [words] What is said of each mistake.
 * @property {string[]} [accept] The answers that let somebody go on; none where a number does.
 * @property {number | null} [at_least]
 * @property {number | null} [at_most]
 *
 * @typedef {object} Asked The study's questions.
 * @property {Question[]} screening
 * @property {Question[]} comprehension
 * @property {Question[][]} questionnaires Of each edition.
 * @property {number} tries
 *
 * @typedef {object} Progress
 * @property {"new" | "declined" | "screening" | "comprehension" | "placing" | "working" | "answered"
 *   | "finished" | "left" | "withdrawn"} at
 * @property {Set<number>} answered The positions.
 * @property {string} folder The version of the folder that the session is of; empty before it began.
 * @property {number} number The number of the session that was drawn; 0 before.
 * @property {number} total How many trials it has.
 * @property {number} edition Which edition of the pages its level reads.
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
    at: "new", folder: entries[0]?.folder ?? "", answered: new Set(), number: 0, total: 0, edition: 0,
    tries: 0, ending: "", erased: false, told: false, code: "", parameters: {},
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
  place(now, { number, total, edition = 0 }) {
    Object.assign(now, { at: "working", number, total, edition });
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
  const found = asked(questions, given).map((question) => {
    const answer = cleaned(given[question.name] ?? "");
    const mistake = mistakeIn(question, answer, longest);
    return [question.name, mistake && (question.words?.[mistake] ?? words[mistake])];
  });
  return Object.fromEntries(found.filter(([, problem]) => problem));
}

/**
 * Returns the questions that somebody who gives these answers is asked.
 * @param {Question[]} questions
 * @param {Record<string, string>} given
 */
function asked(questions, given) {
  /** @type {Record<string, string>} */
  const answers = {};
  return questions.filter((question) => {
    const is = isAsked(question.only_if ?? {}, answers);
    if (is) answers[question.name] = cleaned(given[question.name] ?? "");
    return is;
  });
}

/**
 * Returns which mistake an answer has; empty where it has none.
 * @param {Question} question
 * @param {string} answer
 * @param {number} longest
 */
function mistakeIn(question, answer, longest) {
  const { type, required } = question;
  if (!answer) return required ? "required" : "";
  const number = NUMBER.test(answer) && answer.length <= LONGEST_NUMBER ? Number(answer.replace(",", ".")) : NaN;
  if (type === "choice" || type === "scale") return offered(question).includes(answer) ? "" : "choice";
  if (type === "choices") return amongSeveral(question, answer.split(BETWEEN_CHOICES));
  if (type === "number") return Number.isNaN(number) ? "number" : "";
  if (type === "slider") return onSlider(question, number) ? "" : "range";
  return [...answer].length > longest ? "longest" : "";
}

const NUMBER = /^[+-]?\d+([.,]\d+)?$/;

/** @param {Question} question */
function offered({ options, points }) {
  return points ? Array.from({ length: points }, (_, n) => String(n + 1)) : options.map(cleaned);
}

/**
 * @param {Question} question
 * @param {string[]} answers
 */
function amongSeveral(question, answers) {
  const known = offered(question);
  if (new Set(answers).size < answers.length || !answers.every((one) => known.includes(one))) return "choice";
  if (answers.length < (question.fewest ?? 0)) return "fewer";
  return answers.length > (question.most ?? Infinity) ? "more" : "";
}

/**
 * @param {Question} question
 * @param {number} number
 */
function onSlider({ numbers: [low, high, step] }, number) {
  const steps = (number - low) / step;
  return number >= low && number <= high && Math.abs(steps - Math.round(steps)) < 1e-6;
}

/**
 * Returns whether every answer lets somebody go on: one of those that do, or a number between two.
 * @param {Question[]} questions
 * @param {Record<string, string>} given
 */
export function admits(questions, given) {
  return questions.every(({ name, accept, at_least, at_most }) => {
    const answer = cleaned(given[name] ?? "");
    if (accept?.length) return accept.map(folded).includes(folded(answer));
    const number = Number(answer.replace(",", "."));
    return number >= (at_least ?? -Infinity) && number <= (at_most ?? Infinity);
  });
}

/**
 * A text without its capitals, also where a capital is two letters.
 * @param {string} text
 */
function folded(text) {
  return text.trim().toUpperCase().toLowerCase();
}
