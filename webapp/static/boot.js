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
  var earlySubmit = null;

  function waitMs(failures) {
    return Math.min(FIRST_WAIT_MS * Math.pow(2, failures), LONGEST_WAIT_MS);
  }

  /** Says that something has not arrived, once there is a page to say it on. */
  function showTrouble(missing) {
    var trouble = document.getElementById("trouble");
    if (trouble) trouble.hidden = !missing;
  }

  // Each attempt has addresses of its own, because a browser remembers that a module did not come.
  function fetchProgram() {
    if (started) return;
    var attempt = attempts++;
    var timeout = setTimeout(onFailure, PATIENCE_MS);
    function onFailure() {
      clearTimeout(timeout);
      if (started) return;
      showTrouble(true);
      if (attempt >= RELOAD_AFTER && !earlySubmit) reloadIfAnswered();
      setTimeout(fetchProgram, waitMs(attempt));
    }
    import(base + (attempt ? "." + attempt : "") + "/page.js").then(function (page) {
      clearTimeout(timeout);
      if (document.readyState !== "loading") return startProgram(page);
      // The program may be here before the rest of its page is.
      document.addEventListener("DOMContentLoaded", function () {
        startProgram(page);
      });
    }, onFailure);
  }

  function startProgram(page) {
    if (started) return;
    started = true;
    showTrouble(false);
    page.start();
    if (earlySubmit) submitEarly();
  }

  // After an upgrade nobody has this page's program any more: a new page asks for the new one.
  function reloadIfAnswered() {
    fetch(location.href, { method: "HEAD", cache: "no-store" }).then(function (answer) {
      if (!started && !earlySubmit && answer.ok) location.reload();
    }, function () {});
  }

  // A decision made before the program has arrived waits for it: the program sends it until the
  // server has it, and as the visitor who this is. A form that leads to a platform is not held.
  document.addEventListener("submit", function (event) {
    if (started || new URL(event.target.action).origin !== location.origin) return;
    event.preventDefault();
    earlySubmit = { form: event.target, button: event.submitter };
  }, true);

  function submitEarly() {
    if (earlySubmit.button) earlySubmit.button.click();
    else earlySubmit.form.requestSubmit();
  }

  // Without a program nobody can take part, so nobody decides to: the buttons come with it.
  document.addEventListener("DOMContentLoaded", function () {
    var decision = document.getElementById("decision");
    if (decision) decision.hidden = false;
  });

  // A page without its style is asked for again as well.
  function reloadStylesheet(link) {
    var failures = Number(link.getAttribute("data-failures") || 0);
    setTimeout(function () {
      var newLink = link.cloneNode();
      newLink.setAttribute("data-failures", String(failures + 1));
      newLink.href = link.href.replace(/(\.\d+)?\/parallax\.css$/, "." + (failures + 1) + "/parallax.css");
      link.replaceWith(newLink);
    }, waitMs(failures));
  }

  window.addEventListener("error", function (event) {
    var link = event.target;
    if (link instanceof HTMLLinkElement && link.rel === "stylesheet") reloadStylesheet(link);
  }, true);
  fetchProgram();
})();
