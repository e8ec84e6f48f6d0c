// Plays stored sessions: at each moment, what was on the screen, and what was chosen at its end.
const films = JSON.parse(document.getElementById("films").textContent);
const words = JSON.parse(document.getElementById("words").textContent);
const player = document.querySelector(".player");
const screens = [...document.querySelectorAll(".screen")];
const control = (name) => player.querySelector(`[data-do=${name}]`);
const told = 0.8; // seconds for which a choice stays on the screen after it was made
const longest = 1; // seconds of a pause that is shortened
const least = 0.05; // seconds for which a scene lasts, so that each can be stepped to
let now = 0;
let running = false;
let last = 0;
let end = 0;

// The film's own clock: as it was, or without what is long in the pauses. No two scenes overlap,
// also where a program stored answers faster than it says that it gave them.
function cut(film) {
  let gained = 0;
  let before = 0;
  film.cut = film.scenes.map((scene) => {
    const pause = Math.max(0, scene.from_s - before);
    if (control("skip").checked && pause > longest) gained += pause - longest;
    const from = before + pause;
    before = Math.max(from + least, scene.until_s);
    return { ...scene, pause, from: from - gained, until: before - gained };
  });
  film.end = film.cut.length ? film.cut[film.cut.length - 1].until + told : 0;
}

function sceneAt(film, at) {
  let found = film.cut[0];
  for (const scene of film.cut) {
    if (scene.from > at) break;
    found = scene;
  }
  return found;
}

function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

// What the page says, with values in the places of their names.
function say(word, values = {}) {
  return words[word].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function says(scene, at) {
  if (at < scene.from) return say("before");
  if (at < scene.until) return say("seconds", { n: ((at - scene.from) || 0).toFixed(1) });
  const parts = [`${scene.said || scene.chosen}`];
  if (scene.rt_ms !== null) parts.push(say("after", { n: Math.round(scene.rt_ms) }));
  if (scene.by) parts.push(say("by", { input: scene.by }));
  if (scene.hidden) parts.push(say("hidden"));
  if (scene.unfocused) parts.push(say("unfocused"));
  if (scene.shown > 1) parts.push(say("shown", { n: scene.shown }));
  if (scene.pointer_px) parts.push(say("pointer", { n: Math.round(scene.pointer_px) }));
  return parts.join(", ");
}

function show(screen, film) {
  const part = (name) => screen.querySelector(`[data-part=${name}]`);
  const scene = sceneAt(film, now);
  const index = film.cut.indexOf(scene);
  const next = film.cut[index + 1];
  const waits = now > scene.until + told && next && next.pause > longest;
  const chosen = now >= scene.until;
  part("count").textContent = say("count", { n: scene.position, all: film.trials, time: clock(now) });
  const state = `${scene.position} ${chosen} ${waits}`;
  if (part("shown").dataset.state !== state) {
    part("shown").dataset.state = state;
    part("shown").replaceChildren(...scene.texts.map((each) => {
      const option = document.createElement("div");
      option.textContent = each.text;
      option.dir = "auto";
      option.className = chosen && each.side === scene.chosen ? "option chosen" : "option";
      if (waits) option.classList.add("away");
      return option;
    }));
  }
  part("said").textContent = waits ? say("gap", { n: next.pause.toFixed(0) }) : says(scene, now);
  screen.classList.toggle("out-of-focus", scene.hidden || scene.unfocused);
  strip(part("strip"), film);
}

function strip(canvas, film) {
  const of = getComputedStyle(document.documentElement);
  const colour = (name) => of.getPropertyValue(name).trim();
  const wide = canvas.clientWidth;
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(wide * ratio)) {
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(40 * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, wide, 40);
  pen.fillStyle = colour("--line");
  pen.fillRect(0, 12, wide, 16);
  for (const scene of film.cut) {
    pen.fillStyle = colour(scene.hidden || scene.unfocused ? "--at-work" : "--chart-1");
    const x = (scene.from / end) * wide;
    pen.fillRect(x, 12, Math.max(1, ((scene.until - scene.from) / end) * wide - 0.5), 16);
  }
  pen.fillStyle = colour("--pico-color");
  pen.fillRect((now / end) * wide - 1, 4, 2, 32);
}

function paint() {
  screens.forEach((screen, number) => show(screen, films[number]));
  control("seek").value = now;
  control("play").textContent = say(running ? "pause" : "play");
}

function frame(at) {
  if (!running) return;
  now += ((at - last) / 1000) * Number(control("speed").value);
  last = at;
  if (now >= end) {
    now = end;
    running = false;
  }
  paint();
  if (running) requestAnimationFrame(frame);
}

function toggle() {
  running = !running;
  if (running && now >= end) now = 0;
  last = performance.now();
  paint();
  if (running) requestAnimationFrame(frame);
}

function step(by) {
  const { cut: scenes } = films[0];
  const here = scenes.indexOf(sceneAt(films[0], now));
  const to = scenes[Math.min(scenes.length - 1, Math.max(0, here + by))];
  now = to.from + 0.001;
  paint();
}

function measure() {
  const share = end ? now / end : 0;
  films.forEach(cut);
  end = Math.max(...films.map((film) => film.end), 0.1);
  control("seek").max = end;
  now = share * end;
  paint();
}

control("play").addEventListener("click", toggle);
control("back").addEventListener("click", () => step(-1));
control("on").addEventListener("click", () => step(1));
control("skip").addEventListener("change", measure);
control("seek").addEventListener("input", () => {
  now = Number(control("seek").value);
  paint();
});
addEventListener("resize", paint);
addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, button, a")) return;
  const acts = { " ": toggle, ArrowLeft: () => step(-1), ArrowRight: () => step(1) };
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
});

player.hidden = false;
measure();
