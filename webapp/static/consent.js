// @ts-check
/**
 * Who comes back to the consent page with the back button is still the same visitor: the page's
 * entry in the history keeps the mark that it was first sent with. Opening the link anew is
 * another entry, and so another visitor.
 */

const mark = /** @type {HTMLInputElement} */ (document.querySelector("input[name=visit]"));
if (history.state?.visit) mark.value = history.state.visit;
else history.replaceState({ visit: mark.value }, "");
