
  // ---------------------------------------------------------------- several studies

  function compare(all) {
    const keys = [...new Set(all.flatMap((d) => Object.keys(d.plan ?? {})))].filter((k) => new Set(all.map((d) => d.plan?.[k])).size > 1);
    const rows = all.flatMap((d, k) => (d.winnerTrial ? curveRows(d, d.winnerTrial, `${k + 1} ${cut(d.title, 30)}`, k) : []));
    const scores = all.map((d, k) => ({ who: `${k + 1} ${cut(d.title, 30)}`, score: d.winner?.score, lo: d.winner?.lo95, hi: d.winner?.hi95 })).filter((r) => known(r.score));
    const columns = () => [["study"], ...all.map((d, k) => [`${k + 1} ${cut(d.title, 24)}`, "right"])];
    const row = (label, of) => [label, ...all.map(of)];
    const names = [...new Set(all.flatMap((d) => Object.keys(d.hyperparameters ?? {})))];
    const units = new Set(all.map(unit));
    return [
      section("answer", "Side by side",
        units.size > 1 ? make("p", { class: "lead" }, "These scores have different units and cannot be compared: " + [...units].join(", ") + ".") : null,
        new Set(all.map((d) => d.log?.fingerprint)).size > 1 ? make("p", {}, "These studies have different logs: each score is one in models of its own log.") : null,
        table("The settings to deploy", columns(), [
          ...[0, 1].map((k) => row(["score", "95 % interval"][k], (d) => scoreCells(d.winner?.score, d.winner?.lo95, d.winner?.hi95)[k])), row("unit", unit), row("trust", trustWords),
          row("better than today", (d) => cut(d.today?.better ?? "–", 20)), row("fails", (d) => (known(d.failures?.all?.rate) ? rate(d.failures, d.failures.all.rate) : "–")), row("the logged controller fails", (d) => (known(d.failures?.logged?.rate) ? rate(d.failures, d.failures.logged.rate) : "–")),
          row("logged controller", (d) => number(d.logged?.score)), row("random actions", (d) => number(d.random?.score)),
          row("confirmed", (d) => (d.winner?.stage === "confirm" ? "yes" : "no")), row("out of coverage", (d) => share(d.winner?.out_of_coverage)),
          row("settings tried", (d) => count(d.search.length)), row("runs", (d) => count(d.runs)), row("steps", (d) => count(d.steps)),
          row("tied settings", (d) => count(d.tied?.length ?? 0)), row("findings", (d) => plural((d.findings ?? []).length, "finding")), row("log", (d) => cut(d.log?.fingerprint, 16)), row("agent", (d) => cut(d.agent, 20)),
        ]),
        scores.length > 1 ? dots("compared", "Scores of the settings to deploy", "Lines are 95 % intervals; farther right is better.", scores) : null),
      rows.length ? section("curves", "Learning curves of the settings to deploy", chart({
        id: "chart-curves", title: "Reward while learning", about: "Bands are one standard deviation between runs.", height: 320, pick: false,
        spec: (c) => ({ data: { values: rows }, encoding: { x: { field: "step", type: "quantitative", title: "steps in the environment", axis: { format: ",d", grid: false, tickCount: 6 } }, color: { field: "name", type: "nominal", legend: { title: null, orient: "top", symbolOpacity: 1, symbolType: "stroke" } } }, layer: [
          { mark: { type: "area", opacity: 0.15 }, encoding: { y: { field: "lo", type: "quantitative", title: "reward", scale: { zero: false } }, y2: { field: "hi" } } },
          { mark: { type: "line", strokeWidth: 2.5 }, encoding: { y: { field: "mean", type: "quantitative" } } }] }),
        plain: () => ({ x: "steps", y: "reward", lines: [...new Set(rows.map((r) => r.name))].map((name) => ({ name, points: rows.filter((r) => r.name === name).map((r) => ({ x: r.step, y: r.mean })) })) }),
      })) : null,
      section("sensitivity", "Hyperparameters", table("Hyperparameters to deploy", columns(), names.map((name) => row(named(name, 30), (d) => value(d.hyperparameters?.[name]))))),
      section("made", "What differs between the plans", keys.length ? table("Keys of the plan", columns().map(([t]) => [t]), keys.map((k) => row(named(k, 40), (d) => make("code", {}, cut(d.plan?.[k] ?? "–", 60))))) : make("p", {}, "The plans are equal.")),
    ];
  }

  // ---------------------------------------------------------------- the page

  // How far a study is that was running when the page was written.
  const progress = (p) => (p?.runs_at_most ? [make("progress", { value: p.runs, max: p.runs_at_most, "aria-label": "progress of the study" }), ` ${count(p.runs)} of at most ${plural(p.runs_at_most, "run")}${p.stage === "confirm" ? ", confirming" : ""}`] : null);

  function buildStudies() {
    const all = [...document.querySelectorAll("script.study")].map((s) => prepare(JSON.parse(s.textContent)));
    const page = document.getElementById("page");
    const there = document.querySelector("script.deployment"), plant = there ? JSON.parse(there.textContent) : null;
    study = all.length === 1 ? all[0] : null;
    const sections = (study ? [answer(study), deployed(study, plant), curves(study), sensitivity(study), searching(study), models(study), logged(study), made(study)] : compare(all)).flat().filter(Boolean);
    const title = all.map((d) => cut(d.title, 60)).join(" and ");
    document.title = `${title} – Rehearse`;
    const d = all[0];
    page.before(make("a", { class: "skip", href: "#page" }, "Skip to the content"),
      make("header", {}, make("div", { class: "inner" }, make("h1", {}, all.map((x, k) => [k ? " and " : "", named(x.title, 60)])),
        study ? make("p", {}, named(d.agent, 30), " on ", named(String(d.log?.path ?? "").replace(/^.*\//, ""), 60), `, ${plural(d.inspected?.steps ?? d.log?.steps ?? 0, "step")}`, d.finished ? "" : [make("strong", {}, " · not finished: the state so far"), progress(d.progress)]) : make("p", {}, plural(all.length, "study").replace("studys", "studies")),
        make("nav", { "aria-label": "Sections" }, make("ul", {}, sections.map((s) => make("li", {}, make("a", { href: "#" + s.id }, s.querySelector("h2").textContent))))))));
    page.append(...[study ? logAlerts(study) : null, sections].flat().filter(Boolean));
  }

  build(buildStudies);
