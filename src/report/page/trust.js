
  // ---------------------------------------------------------------- the verdict
  //
  // How far the answer can be trusted: a level, the probability that the agent is better and fails no more on
  // the plant, the reasons, what was measured, and what to log next. Colour, icon and text say the
  // level; a level that this page does not know is shown as one that cannot answer.

  const LEVEL = {
    high: ["high", "Trust: high", "M5 12.5l4.5 4.5L19 7.5"],
    medium: ["medium", "Trust: medium", "M12 6v7.5M12 17.2v.3"],
    low: ["low", "Trust: low", "M7 7l10 10M17 7L7 17"],
    "cannot answer": ["none", "This log cannot answer", "M9 9.2a3 3 0 1 1 4.4 2.6c-1 .6-1.4 1.1-1.4 2.2M12 17.3v.2"],
  };

  const icon = (path, kind) => svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: kind }, svg("circle", { cx: 12, cy: 12, r: 11 }), svg("path", { d: path }));

  const isShare = (p) => known(p) && p >= 0 && p <= 1;
  const percent = (p) => (p > 0.99 ? "more than 99 %" : p < 0.01 ? "less than 1 %" : `${Math.round(100 * p)} %`);

  // One cell of a CSV file. A text that a spreadsheet would take for a formula gets an apostrophe.
  function cell(x) {
    const text = typeof x === "number" ? String(x) : String(x ?? "").replace(/^(?=[=+\-@\t\r])/, "'");
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  const list = (x) => (Array.isArray(x) ? x.filter((one) => one && typeof one === "object") : []);

  // What to log next as CSV: a row per suggestion, with the range of every sensor that is named.
  function nextCsv(rows) {
    const names = [...new Set(rows.flatMap((r) => list(r.sensors).map((s) => String(s.name ?? ""))))];
    const head = ["action", "steps", ...names.flatMap((n) => [`${n} from`, `${n} to`]), "why"];
    const body = rows.map((r) => {
      const range = new Map(list(r.sensors).map((s) => [String(s.name ?? ""), s]));
      const end = (n, key) => (known(range.get(n)?.[key]) ? range.get(n)[key] : "");
      return [r.action, known(r.steps) ? r.steps : "", ...names.flatMap((n) => [end(n, "lo"), end(n, "hi")]), r.why];
    });
    return [head, ...body].map((row) => row.map(cell).join(",")).join("\n") + "\n";
  }

  function logNext(d) {
    const rows = list(d.trust?.log_next);
    if (!rows.length) return null;
    const shown = rows.slice(0, 40), csv = nextCsv(rows), text = make("pre", { hidden: true, tabindex: "0", "aria-label": "what to log next, as CSV" }, make("code", {}, cut(csv, 20000)));
    const total = rows.reduce((n, r) => n + (known(r.steps) ? r.steps : 0), 0);
    const where = (r) => (list(r.sensors).length ? list(r.sensors).slice(0, 8).map((s, k) => make("div", {}, named(s.name, 24), ` ${interval(s.lo, s.hi)}`)) : "anywhere");
    return [
      make("h3", {}, "Log this next"),
      table(total ? `${plural(total, "step")} that would tell most` : "What would tell most", [["action"], ["where"], ["steps", "right"], ["why"]],
        shown.map((r) => [named(r.action, 40), where(r), count(r.steps), named(r.why, 300)])),
      rows.length > shown.length ? make("p", { class: "quiet" }, `… ${rows.length - shown.length} more: the CSV has them.`) : null,
      make("p", { class: "copying" }, copier("Copy as CSV", csv, text)), text,
    ];
  }

  // The verdict in a few words.
  const trustWords = (d) => (d.trust ? `${Object.hasOwn(LEVEL, d.trust.level) ? d.trust.level : "cannot answer"}${isShare(d.trust.probability) ? `, ${percent(d.trust.probability)}` : ""}` : "–");

  // The verdict but for what to log next; null where the study has none. Of the reasons the first three
  // against it are shown, or for it where there is none against; the others are folded.
  function trust(d) {
    const t = d.trust;
    if (!t || typeof t !== "object") return null;
    const [kind, words, path] = LEVEL[Object.hasOwn(LEVEL, t.level) ? t.level : "cannot answer"];
    const reasons = list(t.reasons).slice(0, 60), evidence = list(t.evidence).slice(0, 100);
    const good = reasons.filter((r) => r.good === true), bad = reasons.filter((r) => r.good !== true);
    const items = (which, sign) => make("ul", { class: `reasons ${sign}` }, which.map((r) => make("li", {}, named(r.text, 400))));
    const all = (title, which, sign, none) => make("div", {}, make("h3", {}, title), which.length ? items(which, sign) : make("p", { class: "quiet" }, none));
    const first = bad.length ? items(bad.slice(0, 3), "against") : good.length ? items(good.slice(0, 3), "for") : null;
    const [head, rest] = told(t.text);
    const old = isShare(t.probability) ? [make("b", {}, percent(t.probability)), " probability that no other setting would do clearly better on the plant."] : "No probability is given.";
    return [
      question("believed", "Can it be believed?", [kind, path], Object.hasOwn(LEVEL, t.level) ? words : cut(head ?? words, 60), make("p", {}, rest ? named(rest, 400) : old), first),
      reasons.length || evidence.length ? make("details", {}, make("summary", {}, `All reasons and the evidence: ${count(good.length)} for it, ${count(bad.length)} against it`),
        make("div", { class: "columns" }, all("What speaks for it", good, "for", "Nothing."), all("What speaks against it", bad, "against", "Nothing was found.")),
        evidence.length ? table("Computed from the log and the models, without the plant", [["evidence"], ["value", "right"], ["about"]],
          evidence.map((e) => [named(e.name, 60), number(e.value, 3), named(e.about, 300)])) : null) : null,
    ];
  }
