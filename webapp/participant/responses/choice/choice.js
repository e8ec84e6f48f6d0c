// @ts-check
/** Choice between options: the answer is the side of the chosen option. */

/** @typedef {import("../../../static/trial_view.js").ResponseScript} ResponseScript */

/** @type {ResponseScript["answer"]} */
export const answer = (option) => ({ side: option.dataset.side });

/**
 * A trial may have fewer options than the page has buttons.
 * @type {ResponseScript["offered"]}
 */
export const offered = (option, trial) => trial[option.dataset.side ?? ""] !== undefined;
