// Embedded in every page: loads the page's script, and retries when loading fails.
// Uses only old syntax, because old browsers must parse it.
(function () {
  "use strict";
  var base = document.currentScript.getAttribute("data-base");
  var FIRST_WAIT_MS = 500;
  var LONGEST_WAIT_MS = 8000;
  var PATIENCE_MS = 15000;
  var RELOAD_AFTER = 4;
  var attempts = 0;
  var started = false;
  var earlyForm = null;

  function waitMs(failures) {
    return Math.min(FIRST_WAIT_MS * Math.pow(2, failures), LONGEST_WAIT_MS);
  }

  /** Shows or hides the notice that a file did not load. */
  function showTrouble(missing) {
    var trouble = document.getElementById("trouble");
    if (trouble) trouble.hidden = !missing;
  }

  // Each attempt uses another URL, because browsers cache the failure of a module.
  function fetchProgram() {
    if (started) return;
    var attempt = attempts++;
    var timeout = setTimeout(onFailure, PATIENCE_MS);
    function onFailure() {
      clearTimeout(timeout);
      if (started) return;
      showTrouble(true);
      if (attempt >= RELOAD_AFTER && !earlyForm) reloadIfAnswered();
      setTimeout(fetchProgram, waitMs(attempt));
    }
    import(base + (attempt ? "." + attempt : "") + "/page.js").then(function (page) {
      clearTimeout(timeout);
      if (document.readyState !== "loading") return startProgram(page);
      // The script may load before the page is parsed.
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
    if (earlyForm) submitEarly();
  }

  // After an upgrade the server has only a newer script: reload the page.
  function reloadIfAnswered() {
    fetch(location.href, { method: "HEAD", cache: "no-store" }).then(function (answer) {
      if (!started && !earlyForm && answer.ok) location.reload();
    }, function () {});
  }

  // A form submitted before the script has loaded is sent by the script later, with retries and the
  // visitor's mark. Forms that go to a recruitment platform are not intercepted.
  document.addEventListener("submit", function (event) {
    if (started || new URL(event.target.action).origin !== location.origin) return;
    event.preventDefault();
    earlyForm = { form: event.target, button: event.submitter };
  }, true);

  function submitEarly() {
    if (earlyForm.button) earlyForm.button.click();
    else earlyForm.form.requestSubmit();
  }

  // The consent buttons appear only with JavaScript, because the study needs it.
  document.addEventListener("DOMContentLoaded", function () {
    var decision = document.getElementById("decision");
    if (decision) decision.hidden = false;
  });

  // Reloads a failed stylesheet.
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
