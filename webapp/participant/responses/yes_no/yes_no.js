// @ts-check
/** A sentence is judged: the answer is the side of yes or of no, and each trial offers both. */

/** @typedef {import("../../../static/trial_view.js").ResponseScript} ResponseScript */

/** @type {ResponseScript["answer"]} */
export const answer = (option) => ({ side: option.dataset.side });

/** @type {ResponseScript["offered"]} */
export const offered = () => true;
