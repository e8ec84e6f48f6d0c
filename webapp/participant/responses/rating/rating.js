// @ts-check
/** Rating of a sentence: the answer is a point of the scale; each trial offers all points. */

/** @typedef {import("../../../static/trial_view.js").ResponseScript} ResponseScript */

/** @type {ResponseScript["answer"]} */
export const answer = (option) => ({ rating: Number(option.dataset.rating) });

/** @type {ResponseScript["offered"]} */
export const offered = () => true;
