// @ts-check
/** A sentence is judged: the answer is the side of yes or of no, and each trial offers both. */

/** @typedef {import("../../../static/trial.js").ReadsAnswers} ReadsAnswers */

/** @type {ReadsAnswers["answer"]} */
export const answer = (option) => ({ side: option.dataset.side });

/** @type {ReadsAnswers["offered"]} */
export const offered = () => true;
