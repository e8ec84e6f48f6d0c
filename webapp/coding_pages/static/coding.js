// @ts-check
/**
 * The coder's page: one answer after the other, by number keys or taps. A code is sent at once, and
 * again until it is stored, or until the server refuses it because the link was ended.
 *
 * @typedef {{ round: number, answer: string, before: string, after: string, gap: string, typed: string,
 *   right?: string, codes?: string[] }} Card
 */

const RETRY_MS = 2000;
const STORED = 200;
const REFUSED = [400, 404];

/** @param {string} id */
const find = (id) => {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page lacks #${id}.`);
  return element;
};

/** @type {{ work: { categories: { name: string, title: string }[], cards: Card[], done: number }, texts: Record<string, string> }} */
const { work, texts } = JSON.parse(find("work").textContent ?? "");
const { cards } = work;
const buttons = [...find("categories").querySelectorAll("button")];
/** @type {Map<number, string>} What was chosen for each card, by its place. */
const chosen = new Map();
/** @type {{ round: number, answer: string, category: string }[]} Codes that are not stored yet, oldest first. */
const unsent = [];
let place = 0;
let isSending = false;

function show() {
  const card = cards[place];
  const isDone = !card;
  for (const id of ["card", "categories"]) find(id).hidden = isDone;
  find("keys").hidden = isDone;
  find("done").hidden = !isDone;
  find("feedback").hidden = find("next").hidden = true;
  find("training").hidden = isDone || card.right === undefined;
  find("back").hidden = place === 0;
  find("progress").textContent = `${Math.min(work.done + place + 1, work.done + cards.length)} / ${work.done + cards.length}`;
  if (isDone) return;
  const answer = document.createElement("mark");
  answer.dir = "auto";
  answer.textContent = card.typed;
  answer.classList.toggle("alone", !card.gap);
  find("text").replaceChildren(card.before, answer, card.after);
  find("codes").hidden = !card.codes;
  find("codes").textContent = `${texts.disputed} ${(card.codes ?? []).join("; ")}`;
  for (const button of buttons) {
    button.setAttribute("aria-pressed", String(button.dataset.category === chosen.get(place)));
  }
}

/** @param {string} category */
function choose(category) {
  const card = cards[place];
  // While the right category is shown, the choice is made.
  if (!card || !find("next").hidden) return;
  chosen.set(place, category);
  unsent.push({ round: card.round, answer: card.answer, category });
  send();
  if (card.right === undefined) {
    move(1);
    return;
  }
  const right = work.categories.find(({ name }) => name === card.right);
  const isRight = card.right === category;
  find("feedback").textContent = isRight ? texts.right : texts.wrong.replace("{category}", right?.title ?? "");
  find("feedback").hidden = find("next").hidden = false;
  find("next").focus();
}

/** @param {number} by */
function move(by) {
  place = Math.max(0, Math.min(cards.length, place + by));
  show();
}

async function send() {
  if (isSending) return;
  isSending = true;
  while (unsent.length > 0) {
    const status = await store(unsent[0]);
    if (REFUSED.includes(status)) {
      end();
      return;
    }
    const isStored = status === STORED;
    find("unsaved").hidden = isStored;
    if (isStored) unsent.shift();
    else await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  isSending = false;
}

/** Show nothing but that the link was ended. */
function end() {
  unsent.length = 0;
  cards.length = place = 0;
  show();
  for (const id of ["done", "progress", "back", "unsaved"]) find(id).hidden = true;
  find("ended").hidden = false;
}

/**
 * @param {{ round: number, answer: string, category: string }} code
 * @returns {Promise<number>} The reply's status; 0 if there is none.
 */
async function store(code) {
  try {
    const headers = { "Content-Type": "application/json" };
    return (await fetch(`${location.pathname}/codes`, { method: "POST", headers, body: JSON.stringify(code) })).status;
  } catch {
    return 0;
  }
}

for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.category ?? ""));
find("next").addEventListener("click", () => move(1));
find("back").addEventListener("click", () => move(-1));
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Backspace") move(-1);
  const category = work.categories[Number(event.key) - 1];
  if (category) choose(category.name);
});
window.addEventListener("beforeunload", (event) => {
  if (unsent.length > 0) event.preventDefault();
});
show();
