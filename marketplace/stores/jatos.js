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
  var socket = new WebSocket(
    (location.protocol === "https:" ? "wss://" : "ws://") + location.host + "/publix/" + run + "/batch/open",
  );
  var opened = new Promise(function (resolve) {
    socket.onmessage = function (event) {
      var message = JSON.parse(event.data);
      if (message.data) batch = message.data;
      if (message.version !== undefined) version = message.version;
      if (message.action === "SESSION_ACK") waiting[message.id][0]();
      if (message.action === "SESSION_FAIL") waiting[message.id][1]("Batch session update failed");
      resolve();
    };
  });

  function sent(url, method, body) {
    return fetch(new URL(url, location.href), { method: method, body: body }).then(function (answer) {
      if (!answer.ok) throw answer.status + " " + answer.statusText;
    });
  }

  jatos.onLoad = function (act) {
    opened.then(act);
  };
  jatos.appendResultData = function (text) {
    return sent("resultData", "POST", text);
  };
  jatos.endStudyWithoutRedirect = function () {
    return sent("../end", "GET");
  };
  jatos.batchSession = {
    get: function (name) {
      return batch[name];
    },
    set: function (name, value) {
      var id = (number += 1);
      return new Promise(function (resolve, reject) {
        waiting[id] = [resolve, reject];
        var patches = [{ op: "add", path: "/" + name, value: value }];
        socket.send(JSON.stringify({ action: "SESSION", patches: patches, version: version, versioning: true, id: id }));
      });
    },
  };
})();
