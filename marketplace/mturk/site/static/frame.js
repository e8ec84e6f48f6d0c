// The frame's height, the time that is left, and noticing that the frame's form was sent.

const SOON_S = 60;
const frame = document.querySelector("iframe");
const height = Number(frame.dataset.height);
if (height > 0) frame.style.blockSize = `${height}px`;

const timer = document.querySelector("#timer");
if (timer) {
  const begun = performance.now();
  const whole = Number(timer.dataset.leftS);
  const show = () => {
    const left = Math.max(0, Math.ceil(whole - (performance.now() - begun) / 1000));
    const parts = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
    timer.textContent = `${parts.map((part) => String(part).padStart(2, "0")).join(":")} left`;
    const warning = document.querySelector("#warning");
    // Said once: a screen reader should not count the seconds.
    if (left <= SOON_S && !warning.textContent) warning.textContent = "Less than a minute is left.";
    if (left === 0) location.reload();
    else setTimeout(show, 250);
  };
  show();
  // A page of another site in the frame cannot be looked into: ask the server after each step.
  frame.addEventListener("load", async () => {
    const answer = await fetch(location.href, { headers: { Accept: "application/json" } });
    if (answer.ok && (await answer.json()).status !== "accepted") location.reload();
  });
}
