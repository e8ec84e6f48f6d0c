// The script of every researcher page. On a phone each row of a table is a card: its cells then say which
// column they are of. The roles are written out because a browser forgets that a table is one when its
// cells are no cells.
function label(table) {
  if (table.dataset.labelled) return;
  const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
  if (!heads.length) return;
  table.dataset.labelled = "yes";
  const roles = {
    table: "table", thead: "rowgroup", tbody: "rowgroup", tr: "row", td: "cell",
    "thead th": "columnheader", "tbody th": "rowheader",
  };
  table.setAttribute("role", roles.table);
  for (const [selector, role] of Object.entries(roles)) {
    for (const each of table.querySelectorAll(selector)) each.setAttribute("role", role);
  }
  for (const row of table.querySelectorAll("tbody tr")) {
    [...row.cells].forEach((cell, column) => {
      if (column && cell.colSpan === 1) cell.dataset.label = heads[column] || "";
    });
  }
  table.classList.add("cards");
}

function labelAll() {
  // Lists are five narrow columns, whose bars are compared.
  document.querySelectorAll(".wide table:not(.lists)").forEach(label);
}

labelAll();
// What is updated while somebody watches brings tables of its own.
document.body.addEventListener("htmx:afterSwap", labelAll);

// On a phone the tabs are wider than the screen.
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });

// What is shown to be passed on has a button that copies it, where the browser lets a page do so.
function addCopy(code) {
  const { copy, copied } = document.body.dataset;
  const button = document.createElement("button");
  const says = (word) => {
    button.textContent = word;
    button.setAttribute("aria-label", `${word}: ${code.textContent}`);
  };
  button.type = "button";
  button.className = "plain copy";
  says(copy);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    says(copied);
  });
  code.after(" ", button);
}

if (navigator.clipboard) document.querySelectorAll("code.link").forEach(addCopy);
