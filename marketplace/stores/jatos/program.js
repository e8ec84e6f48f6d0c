// The part of JATOS's program that studies of Parallax use, speaking JATOS's protocol: appended
// results, the batch session with its versions, and the end. Written from its documentation.
(function () {
  "use strict";
  var jatos = (window.jatos = {});
  var waiting = {};
  var batch = {};
  var version = null;
  var number = 0;
  var run = location.pathname.split("/").reverse()[2];
  var channel = (location.protocol === "https:" ? "wss://" : "ws://") + location.host;
  var socket;
  var opened = new Promise(open);

  function open(resolve) {
    socket = new WebSocket(channel + "/publix/" + run + "/batch/open");
    socket.onmessage = function (event) {
      var message = JSON.parse(event.data);
      if (message.data) batch = message.data;
      (message.patches || []).forEach(function (patch) {
        batch[patch.path.slice(1)] = patch.value;
      });
      version = message.version;
      if (message.action === "SESSION_ACK") waiting[message.id][0]();
      if (message.action === "SESSION_FAIL") waiting[message.id][1]("Batch session update failed");
      resolve();
    };
    socket.onclose = function () {
      Object.values(waiting).forEach(function (settle) {
        settle[1]("Batch channel closed");
      });
      setTimeout(open, 500, resolve);
    };
  }

  function sent(url, method, body) {
    return fetch(new URL(url, location.href), { method: method, body: body }).then(function (answer) {
      if (!answer.ok) throw answer.status;
      return answer;
    });
  }

  // As JATOS's own promises do, these fail with a sentence and, where there is one, a status.
  function settling(promise) {
    return {
      then: function (done, failed) {
        promise.then(done, function (why) {
          failed(String(why), typeof why === "number" ? why : undefined);
        });
      },
    };
  }

  var told = sent("initData", "GET")
    .then(function (answer) {
      return answer.json();
    })
    .then(function (data) {
      jatos.urlQueryParameters = data.urlQueryParameters;
    });

  jatos.onLoad = function (act) {
    Promise.all([opened, told]).then(act);
  };
  jatos.appendResultData = function (text) {
    return settling(sent("resultData", "POST", text));
  };
  jatos.endStudyWithoutRedirect = function () {
    return settling(sent("../end", "GET"));
  };
  jatos.batchSession = {
    get: function (name) {
      return batch[name];
    },
    set: function (name, value) {
      if (socket.readyState !== WebSocket.OPEN) return settling(Promise.reject("No open batch channel"));
      var id = (number += 1);
      var patches = [{ op: "add", path: "/" + name, value: value }];
      var answered = new Promise(function (resolve, reject) {
        waiting[id] = [resolve, reject];
      });
      socket.send(JSON.stringify({ action: "SESSION", patches: patches, version: version, versioning: true, id: id }));
      return settling(answered);
    },
  };
})();
