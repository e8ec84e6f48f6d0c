// @ts-check
/** An option is chosen: the answer is the side on which it stands. */

/** @typedef {import("../../../static/trial_view.js").ResponseScript} ResponseScript */

/** @type {ResponseScript["answer"]} */
export const answer = (option) => ({ side: option.dataset.side });

/**
 * A trial may have fewer options than the page has room for.
 * @type {ResponseScript["offered"]}
 */
export const offered = (option, trial) => trial[option.dataset.side ?? ""] !== undefined;
