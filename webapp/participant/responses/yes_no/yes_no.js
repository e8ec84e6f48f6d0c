// @ts-check
/** Yes/no judgment of a sentence: the answer is the side of yes or no; each trial offers both. */

/** @typedef {import("../../../static/trial_view.js").ResponseScript} ResponseScript */

/** @type {ResponseScript["answer"]} */
export const answer = (option) => ({ side: option.dataset.side });

/** @type {ResponseScript["offered"]} */
export const offered = () => true;
