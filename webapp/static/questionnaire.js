// @ts-check
/** The questionnaire is sent until the server has it; what was written stays meanwhile. */

const AGAIN_AFTER_MS = 3_000;

document.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.target);
  const finish = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  finish.disabled = true;
  const response = await sent(form);
  // The participant's address shows where they are, unless something must be mended first.
  if (response.status !== 422) return location.reload();
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  document.querySelector("main")?.replaceWith(/** @type {Element} */ (page.querySelector("main")));
  /** @type {HTMLElement | null} */ (document.querySelector("[role=alert]"))?.focus();
});

/**
 * Resolves to the server's reply, however long the connection is interrupted before.
 * @param {HTMLFormElement} form
 * @returns {Promise<Response>}
 */
async function sent(form) {
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form)));
  for (;;) {
    try {
      const response = await fetch(form.action, { method: "POST", body });
      if (response.status < 500) return response;
    } catch {
      // No connection: the same form is sent again, and the server takes only the first.
    }
    /** @type {HTMLElement} */ (document.getElementById("offline")).hidden = false;
    await new Promise((resolve) => {
      window.addEventListener("online", resolve, { once: true });
      setTimeout(resolve, AGAIN_AFTER_MS);
    });
  }
}
