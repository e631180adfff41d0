"use strict";
// Without this script the page is complete; with it tables can be sorted and filtered.
(() => {
  const units = { ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400 };
  // The number of a cell: of a range its greater end, of a count the first part.
  const number = (text) => {
    const m = /^[^0-9+-]*([+-]?[0-9][0-9,]*(?:\.[0-9]+)?)(?:–([0-9][0-9,]*(?:\.[0-9]+)?))?\s?([a-zµ]*)/.exec(text);
    return m ? parseFloat((m[2] || m[1]).replaceAll(",", "")) * (units[m[3]] || 1) : NaN;
  };
  const textOf = (row, i) => row.cells[i].textContent.trim();
  const sort = (table, i, words, up) => {
    const body = table.tBodies[0];
    const key = (row) => (words ? textOf(row, i) : number(textOf(row, i)));
    const rows = [...body.rows].map((row) => [key(row), row]);
    rows.sort(([a], [b]) => {
      if (words) return (up ? 1 : -1) * a.localeCompare(b, "en", { numeric: true });
      if (isNaN(a) || isNaN(b)) return isNaN(a) - isNaN(b); // what is missing comes last
      return (up ? 1 : -1) * (a - b);
    });
    body.append(...rows.map(([, row]) => row));
  };
  for (const table of document.querySelectorAll("main table")) {
    const rows = table.tBodies[0].rows, heads = [...table.tHead.rows[0].cells];
    if (rows.length < 2) continue;
    heads.forEach((head, i) => {
      if (head.classList.contains("axis")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        sort(table, i, head.classList.contains("l"), up);
      });
    });
    if (rows.length < 8) continue;
    const label = document.createElement("label"), input = document.createElement("input"), shown = document.createElement("output");
    label.className = "filter";
    input.type = "search";
    input.setAttribute("aria-label", "Filter rows: " + table.caption.textContent);
    label.append("Filter ", input, " ", shown);
    table.parentElement.before(label);
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      let n = 0;
      for (const row of rows) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        n += row.hidden ? 0 : 1;
      }
      shown.textContent = wanted ? n + " of " + rows.length + " rows" : "";
    });
  }
})();
