// @ts-check
/**
 * The coder's page: one answer after the other, by number keys or taps. A code is sent at once, and
 * again until it is stored, or until the server refuses it because the link was ended. A page that is
 * a file keeps the codes in the browser, and saves them as a table.
 *
 * @typedef {{ round: number, answer: string, before: string, after: string, gap: string, typed: string,
 *   right?: string, codes?: string[], proposed?: { model: string, category: string } }} Card
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

/**
 * @typedef {{ round: number, answer: string, category: string }} Code
 * @type {{ work: { categories: { name: string, title: string }[], cards: Card[], done: number,
 *   file?: { coder: string, task: string, key: string } }, texts: Record<string, string> }}
 */
const { work, texts } = JSON.parse(find("work").textContent ?? "");
/** @type {Map<string, Code>} The codes of a page that is a file, by round and answer. */
const kept = readKept();
const cards = work.cards.filter((card) => !kept.has(`${card.round} ${card.answer}`));
work.done += work.cards.filter((card) => card.right === undefined).length - cards.filter((card) => card.right === undefined).length;
const buttons = [...find("categories").querySelectorAll("button")];
/** @type {Map<number, string>} What was chosen for each card, by its place. */
const chosen = new Map();
/** @type {Code[]} Codes that are not stored yet, oldest first. */
const unsent = [];
let place = 0;
let isSending = false;
let isSaved = true;

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
  const { model = "", category = "" } = card.proposed ?? {};
  find("proposed").hidden = !card.proposed;
  find("proposed").textContent = texts.proposed.replace("{model}", () => model).replace("{category}", () => category);
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
 * @param {Code} code
 * @returns {Promise<number>} The reply's status; 0 if there is none.
 */
async function store(code) {
  if (work.file) return keep(code);
  try {
    const headers = { "Content-Type": "application/json" };
    return (await fetch(`${location.pathname}/codes`, { method: "POST", headers, body: JSON.stringify(code) })).status;
  } catch {
    return 0;
  }
}

/** @returns {Map<string, Code>} */
function readKept() {
  /** @type {Code[]} */
  let codes = [];
  try {
    if (work.file) codes = JSON.parse(localStorage.getItem(work.file.key) ?? "[]");
  } catch {
    // The browser keeps nothing for files: the codes are in this page until they are saved.
  }
  return new Map(codes.map((code) => [`${code.round} ${code.answer}`, code]));
}

/**
 * Keep a code, with those that another window has kept since.
 *
 * @param {Code} code
 */
function keep(code) {
  for (const [key, other] of readKept()) kept.set(key, other);
  kept.set(`${code.round} ${code.answer}`, code);
  try {
    if (work.file) localStorage.setItem(work.file.key, JSON.stringify([...kept.values()]));
  } catch {
    // As above.
  }
  isSaved = false;
  return STORED;
}

function save() {
  if (!work.file) return;
  const { coder, task } = work.file;
  const rows = [...kept.values()].map(({ round, answer, category }) => [coder, task, round, answer, category]);
  const table = [["coder", "task", "round", "answer", "category"], ...rows].map((row) => `${row.join(",")}\r\n`);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(table, { type: "text/csv" }));
  link.download = `${coder}.csv`;
  link.click();
  isSaved = true;
}

for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.category ?? ""));
find("next").addEventListener("click", () => move(1));
find("back").addEventListener("click", () => move(-1));
document.getElementById("save")?.addEventListener("click", save);
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Backspace") move(-1);
  const category = work.categories[Number(event.key) - 1];
  if (category) choose(category.name);
});
window.addEventListener("beforeunload", (event) => {
  if (unsent.length > 0 || !isSaved) event.preventDefault();
});
show();
