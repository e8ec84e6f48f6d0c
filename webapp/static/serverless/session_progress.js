// @ts-check
/** Reads a session's progress from its journal, and validates forms. */

import { BETWEEN_CHOICES, isAsked } from "../questions.js";

/** @typedef {import("./journal.js").Entry} Entry */

/**
 * @typedef {object} Question
 * @property {string} name
 * @property {"text" | "long_text" | "choice" | "choices" | "number" | "scale" | "slider"} type
 * @property {string[]} options
 * @property {boolean} required
 * @property {number | null} points The number of points of a scale.
 * @property {number | null} fewest The smallest number of choices.
 * @property {number | null} most
 * @property {[number, number, number]} numbers A slider's minimum, maximum and step.
 * @property {Record<string, string[]>} [only_if] The answers to earlier questions that make this one apply.
 * @property {Record<string, string>} [words] The message for each mistake.
 * @property {string[]} [accept] The accepted answers; empty if a number range decides.
 * @property {number | null} [at_least]
 * @property {number | null} [at_most]
 *
 * @typedef {object} Asked The study's questions.
 * @property {Question[]} screening
 * @property {Question[]} comprehension
 * @property {Question[][]} questionnaires One per edition.
 * @property {number} tries
 *
 * @typedef {object} Progress
 * @property {"new" | "declined" | "screening" | "comprehension" | "placing" | "working" | "answered"
 *   | "finished" | "left" | "withdrawn"} at
 * @property {Set<number>} answered The positions.
 * @property {string} folder The folder version of the session; empty before it began.
 * @property {number} number The drawn session number; 0 before the draw.
 * @property {number} total The number of trials.
 * @property {number} edition The edition of the pages for its between-subjects level.
 * @property {number} tries The number of failed attempts at the comprehension questions.
 * @property {string} ending How the participant left.
 * @property {boolean} erased
 * @property {boolean} deviceDescribed Whether the device facts are recorded.
 * @property {string} code The participant's code.
 * @property {Record<string, string>} parameters The parameters of the link.
 */

const LONGEST_NUMBER = 32;

/**
 * Returns a session's progress.
 * @param {Entry[]} entries
 * @param {Asked} askedQuestions
 * @returns {Progress}
 */
export function readProgress(entries, askedQuestions) {
  /** @type {Progress} */
  const progress = {
    at: "new", folder: entries[0]?.folder ?? "", answered: new Set(), number: 0, total: 0, edition: 0,
    tries: 0, ending: "", erased: false, deviceDescribed: false, code: "", parameters: {},
  };
  for (const { kind, body } of entries) STEPS[kind]?.(progress, JSON.parse(body), askedQuestions);
  return progress;
}

/** @type {Record<string, (progress: Progress, data: any, askedQuestions: Asked) => void>} */
const STEPS = {
  consent(progress, { decision, code, parameters }, askedQuestions) {
    Object.assign(progress, { code, parameters });
    if (decision === "decline") progress.at = "declined";
    else if (askedQuestions.screening.length) progress.at = "screening";
    else progress.at = askedQuestions.comprehension.length ? "comprehension" : "placing";
  },
  screening(progress, _, askedQuestions) {
    progress.at = askedQuestions.comprehension.length ? "comprehension" : "placing";
  },
  comprehension(progress, { right }, askedQuestions) {
    if (right) progress.at = "placing";
    else if ((progress.tries += 1) >= askedQuestions.tries) markLeft(progress, "failed_check");
  },
  place(progress, { number, total, edition = 0 }) {
    Object.assign(progress, { at: "working", number, total, edition });
  },
  device(progress) {
    progress.deviceDescribed = true;
  },
  answer(progress, { position }) {
    progress.answered.add(position);
    if (progress.at === "working" && progress.answered.size === progress.total) progress.at = "answered";
  },
  questionnaire(progress) {
    progress.at = "finished";
  },
  leave(progress, { ending }) {
    markLeft(progress, ending);
  },
  withdraw(progress, { wish }) {
    progress.at = "withdrawn";
    progress.erased ||= wish === "erase";
  },
};

/**
 * @param {Progress} progress
 * @param {string} ending
 */
function markLeft(progress, ending) {
  Object.assign(progress, { at: "left", ending });
}

/**
 * Returns a form text without control characters and surrounding spaces.
 * @param {string} text
 */
export function cleanText(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\r\n?/g, "\n").replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g, "").trim();
}

/**
 * Returns the error of each invalid answer; empty if all are valid.
 * @param {Question[]} questions
 * @param {Record<string, string>} submitted
 * @param {Record<string, string>} words The message for each mistake.
 * @param {number} longest
 */
export function findProblems(questions, submitted, words, longest) {
  const problems = selectAskedQuestions(questions, submitted).map((question) => {
    const answer = cleanText(submitted[question.name] ?? "");
    const mistake = findMistake(question, answer, longest);
    return [question.name, mistake && (question.words?.[mistake] ?? words[mistake])];
  });
  return Object.fromEntries(problems.filter(([, problem]) => problem));
}

/**
 * Returns the questions that apply given these answers.
 * @param {Question[]} questions
 * @param {Record<string, string>} submitted
 */
function selectAskedQuestions(questions, submitted) {
  /** @type {Record<string, string>} */
  const answers = {};
  return questions.filter((question) => {
    const isShown = isAsked(question.only_if ?? {}, answers);
    if (isShown) answers[question.name] = cleanText(submitted[question.name] ?? "");
    return isShown;
  });
}

/**
 * Returns the mistake in an answer; empty if it is valid.
 * @param {Question} question
 * @param {string} answer
 * @param {number} longest
 */
function findMistake(question, answer, longest) {
  const { type, required } = question;
  if (!answer) return required ? "required" : "";
  const number = NUMBER.test(answer) && answer.length <= LONGEST_NUMBER ? Number(answer.replace(",", ".")) : NaN;
  if (type === "choice" || type === "scale") return listOptions(question).includes(answer) ? "" : "choice";
  if (type === "choices") return checkChoices(question, answer.split(BETWEEN_CHOICES));
  if (type === "number") return Number.isNaN(number) ? "number" : "";
  if (type === "slider") return isOnSlider(question, number) ? "" : "range";
  return [...answer].length > longest ? "longest" : "";
}

const NUMBER = /^[+-]?\d+([.,]\d+)?$/;

/** @param {Question} question */
function listOptions({ options, points }) {
  return points ? Array.from({ length: points }, (_, n) => String(n + 1)) : options.map(cleanText);
}

/**
 * @param {Question} question
 * @param {string[]} answers
 */
function checkChoices(question, answers) {
  const allowed = listOptions(question);
  if (new Set(answers).size < answers.length || !answers.every((answer) => allowed.includes(answer))) return "choice";
  if (answers.length < (question.fewest ?? 0)) return "fewer";
  return answers.length > (question.most ?? Infinity) ? "more" : "";
}

/**
 * @param {Question} question
 * @param {number} number
 */
function isOnSlider({ numbers: [low, high, step] }, number) {
  const steps = (number - low) / step;
  return number >= low && number <= high && Math.abs(steps - Math.round(steps)) < 1e-6;
}

/**
 * Returns whether every answer admits the participant: an accepted answer, or a number in the range.
 * @param {Question[]} questions
 * @param {Record<string, string>} submitted
 */
export function areAnswersAccepted(questions, submitted) {
  return questions.every(({ name, accept, at_least, at_most }) => {
    const answer = cleanText(submitted[name] ?? "");
    if (accept?.length) return accept.map(foldCase).includes(foldCase(answer));
    const number = Number(answer.replace(",", "."));
    return number >= (at_least ?? -Infinity) && number <= (at_most ?? Infinity);
  });
}

/**
 * Returns a text for case-insensitive comparison, also where a capital has two letters.
 * @param {string} text
 */
function foldCase(text) {
  return text.trim().toUpperCase().toLowerCase();
}
