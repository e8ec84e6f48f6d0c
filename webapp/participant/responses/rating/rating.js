// @ts-check
/** A sentence is rated: the answer is a point of the scale, and each trial offers all of them. */

/** @typedef {import("../../../static/trial.js").ReadsAnswers} ReadsAnswers */

/** @type {ReadsAnswers["answer"]} */
export const answer = (option) => ({ rating: Number(option.dataset.rating) });

/** @type {ReadsAnswers["offered"]} */
export const offered = () => true;
