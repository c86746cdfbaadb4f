// The report of an optimum: tables with what is active in bold, and sentences below them.

class StudyReport {
  constructor(parent, report) {
    const box = make("details", { className: "plot report", open: true }, parent);
    const head = make("summary", { textContent: "Study" }, box);
    make("span", { className: report.good ? "note" : "bad", textContent: report.status }, head);
    const body = make("div", { className: "report-body", tabIndex: 0 }, box);
    body.setAttribute("role", "region");
    body.setAttribute("aria-label", "Tables of the study");
    make("p", { className: report.good ? "note" : "bad", textContent: report.message }, body);
    for (const table of report.tables) this.table(body, table);
    for (const text of report.notes) make("p", { textContent: text }, body);
  }

  table(parent, { head, rows }) {
    const table = make("table", {}, parent);
    const top = make("tr", {}, make("thead", {}, table));
    for (const text of head) make("th", { textContent: text, scope: "col" }, top);
    const body = make("tbody", {}, table);
    for (const { cells, held } of rows) {
      const row = make("tr", {}, body);
      cells.forEach((text, k) => {
        const cell = make(k ? "td" : "th", { textContent: text }, row);
        if (!k) cell.scope = "row";
        if (held && head[k] === held) Object.assign(cell, { className: "active", title: "active: it holds the optimum" });
      });
    }
  }
}
