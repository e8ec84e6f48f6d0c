// @ts-check
/** A sentence is rated: the answer is a point of the scale, and each trial offers all of them. */

/** @typedef {import("../../../static/trial_view.js").ResponseScript} ResponseScript */

/** @type {ResponseScript["answer"]} */
export const answer = (option) => ({ rating: Number(option.dataset.rating) });

/** @type {ResponseScript["offered"]} */
export const offered = () => true;
