// Stands in every page itself and fetches the page's program, and fetches it again where that fails.
// An old browser reads it too, so it is written in the oldest words.
(function () {
  "use strict";
  var base = document.currentScript.getAttribute("data-base");
  var FIRST_WAIT_MS = 500;
  var LONGEST_WAIT_MS = 8000;
  var PATIENCE_MS = 15000;
  var RELOAD_AFTER = 4;
  var attempts = 0;
  var started = false;
  var early = null;

  function waitMs(failures) {
    return Math.min(FIRST_WAIT_MS * Math.pow(2, failures), LONGEST_WAIT_MS);
  }

  /** Says that something has not arrived, once there is a page to say it on. */
  function tell(missing) {
    var trouble = document.getElementById("trouble");
    if (trouble) trouble.hidden = !missing;
  }

  // Each attempt has addresses of its own, because a browser remembers that a module did not come.
  function fetchProgram() {
    if (started) return;
    var number = attempts++;
    var late = setTimeout(failed, PATIENCE_MS);
    function failed() {
      clearTimeout(late);
      if (started) return;
      tell(true);
      if (number >= RELOAD_AFTER && !early) reloadIfAnswered();
      setTimeout(fetchProgram, waitMs(number));
    }
    import(base + (number ? "." + number : "") + "/page.js").then(function (page) {
      clearTimeout(late);
      if (document.readyState !== "loading") return begin(page);
      // The program may be here before the rest of its page is.
      document.addEventListener("DOMContentLoaded", function () {
        begin(page);
      });
    }, failed);
  }

  function begin(page) {
    if (started) return;
    started = true;
    tell(false);
    page.start();
    if (early) sendEarly();
  }

  // After an upgrade nobody has this page's program any more: a new page asks for the new one.
  function reloadIfAnswered() {
    fetch(location.href, { method: "HEAD", cache: "no-store" }).then(function (answer) {
      if (!started && !early && answer.ok) location.reload();
    }, function () {});
  }

  // A decision made before the program has arrived waits for it: the program sends it until the
  // server has it, and as the visitor who this is. A form that leads to a platform is not held.
  document.addEventListener("submit", function (event) {
    if (started || new URL(event.target.action).origin !== location.origin) return;
    event.preventDefault();
    early = { form: event.target, button: event.submitter };
  }, true);

  function sendEarly() {
    if (early.button) early.button.click();
    else early.form.requestSubmit();
  }

  // Without a program nobody can take part, so nobody decides to: the buttons come with it.
  document.addEventListener("DOMContentLoaded", function () {
    var decision = document.getElementById("decision");
    if (decision) decision.hidden = false;
  });

  // A page without its style is asked for again as well.
  function restyle(link) {
    var failures = Number(link.getAttribute("data-failures") || 0);
    setTimeout(function () {
      var again = link.cloneNode();
      again.setAttribute("data-failures", String(failures + 1));
      again.href = link.href.replace(/(\.\d+)?\/parallax\.css$/, "." + (failures + 1) + "/parallax.css");
      link.replaceWith(again);
    }, waitMs(failures));
  }

  window.addEventListener("error", function (event) {
    var link = event.target;
    if (link instanceof HTMLLinkElement && link.rel === "stylesheet") restyle(link);
  }, true);
  fetchProgram();
})();
