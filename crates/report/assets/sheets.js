"use strict";
// Sheets: a heading's button sorts by its column, and a long sheet has a box to search in. Without this file a sheet is
// a table with its first rows, the rest folded below it.
(function sheets() {
  const LONG = 20;
  const order = new Intl.Collator(undefined, { numeric: true });

  function valueOf(row, column) {
    const cell = row.cells[column];
    if (!cell) return "";
    const value = cell.dataset.value;
    return value === undefined ? cell.textContent : Number(value);
  }

  function compare(one, other) {
    if (typeof one === "number" && typeof other === "number") return one - other;
    return order.compare(String(one), String(other));
  }

  function sort(table, column) {
    const heading = table.tHead.rows[0].cells[column];
    const before = heading.getAttribute("aria-sort");
    // Of figures, the largest is looked for first; of words, the first.
    const first = heading.classList.contains("figure") ? "descending" : "ascending";
    const second = first === "ascending" ? "descending" : "ascending";
    const direction = before === first ? second : first;
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", direction);
    const sign = direction === "ascending" ? 1 : -1;
    const rows = Array.from(table.tBodies[0].rows);
    rows.sort((one, other) => sign * compare(valueOf(one, column), valueOf(other, column)));
    table.tBodies[0].append(...rows);
  }

  function addButtons(table) {
    Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = heading.textContent;
      heading.textContent = "";
      heading.append(button);
      heading.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, column));
    });
  }

  // All rows in one table, so that sorting and searching reach them all.
  function unfold(sheet, table) {
    const rest = sheet.querySelector("details.sheet-rest");
    if (!rest) return;
    table.tBodies[0].append(...rest.querySelector("tbody").rows);
    rest.remove();
  }

  function addSearch(sheet, table) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("span");
    label.className = "sheet-search";
    input.type = "search";
    input.autocomplete = "off";
    count.setAttribute("aria-live", "polite");
    label.append("Only those with", input, count);
    const rows = Array.from(table.tBodies[0].rows);
    const texts = rows.map((row) => row.textContent.toLowerCase());
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      let shown = 0;
      rows.forEach((row, index) => {
        row.hidden = !texts[index].includes(wanted);
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = wanted ? shown + " of " + rows.length + " " + sheet.dataset.of : "";
    });
    sheet.prepend(label);
  }

  for (const sheet of document.querySelectorAll(".sheet")) {
    const table = sheet.querySelector("table");
    unfold(sheet, table);
    addButtons(table);
    if (table.tBodies[0].rows.length > LONG) {
      sheet.querySelector(".sheet-box").classList.add("long");
      addSearch(sheet, table);
    }
  }
})();
