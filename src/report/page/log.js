
  // ---------------------------------------------------------------- the log

  // The names of discrete actions over the log.
  function actionSeries(log, s, k, labels) {
    const per = log.steps / Math.max(s.lo.length, 1);
    const rows = s.lo.flatMap((lo, b) => [...new Set([lo, s.hi[b]])].map((a) => ({ step: (b + 0.5) * per, action: cut(labels[a], 16) }))).filter((r) => r.action);
    return chart({
      id: `chart-series-${k}`, small: true, pick: false, height: 110, title: s.name,
      spec: (c) => ({ data: { values: rows }, mark: { type: "tick", color: c.accent, opacity: 0.6, thickness: 2, orient: "vertical" }, encoding: {
        x: { field: "step", type: "quantitative", title: "step of the log", scale: { domain: [0, log.steps], nice: false }, axis: { labelExpr: SHORT, grid: false, tickCount: 5 } },
        y: { field: "action", type: "nominal", sort: labels.map((x) => cut(x, 16)), title: null, axis: { labelLimit: 90 } } } }),
      plain: () => ({ x: "step of the log", ynames: labels, points: s.lo.flatMap((lo, b) => [...new Set([lo, s.hi[b]])].map((y) => ({ x: (b + 0.5) * per, y }))) }),
    });
  }

  function series(log, s, k) {
    const n = s.lo.length, per = log.steps / Math.max(n, 1);
    const rows = s.lo.map((lo, b) => ({ step: (b + 0.5) * per, lo, hi: s.hi[b] })).filter((r) => known(r.lo) && known(r.hi));
    const name = cut(s.name, 40) + (s.unit ? ` [${cut(s.unit, 12)}]` : "");
    return chart({
      id: `chart-series-${k}`, small: true, pick: false, height: 110, title: name,
      spec: (c) => ({ data: { values: rows }, encoding: { x: { field: "step", type: "quantitative", title: "step of the log", scale: { domain: [0, log.steps], nice: false }, axis: { labelExpr: SHORT, grid: false, tickCount: 5 } } }, layer: [
        { mark: { type: "rule", strokeWidth: 1.8, color: c.accent, opacity: 0.4 }, encoding: { y: { field: "lo", type: "quantitative", title: null, scale: { zero: false }, axis: { tickCount: 4 } }, y2: { field: "hi" } } },
        { transform: [{ calculate: "(datum.lo + datum.hi) / 2", as: "mid" }], mark: { type: "line", strokeWidth: 1.2, color: c.accent }, encoding: { y: { field: "mid", type: "quantitative", title: null } } }] }),
      plain: () => ({ x: "step of the log", lines: [{ points: rows.map((r) => ({ ...r, x: r.step, y: (r.lo + r.hi) / 2 })) }] }),
    });
  }

  function logged(d) {
    const i = d.inspected;
    if (!i) return null;
    const labels = d.models?.sample?.labels ?? [];
    return section("log", "The log",
      facts([["file", named(d.log?.path ?? "", 80)], ["steps", count(i.steps)], ["episodes", `${count(i.episodes)}: ${count(i.terminal)} terminated, ${count(i.truncated)} truncated`], ["fingerprint", make("code", {}, cut(d.log?.fingerprint ?? "–", 20))]]),
      make("h3", {}, "Findings"), findings(i.findings, "None."),
      make("h3", {}, "Sensors, actions and reward over the log"),
      make("p", { class: "quiet" }, "Bars reach from the least to the greatest value of some steps."),
      make("div", { class: "grid" }, (i.series ?? []).map((s, k) => (s.action && labels.length ? actionSeries(i, s, k, labels) : series(i, s, k)))),
      make("div", { class: "columns" },
        table("Sensors", [["sensor"], ["min", "right"], ["median", "right"], ["max", "right"], ["missing", "right"]],
          (i.sensors ?? []).slice(0, 100).map((s) => [named(s.name + (s.unit ? ` [${s.unit}]` : ""), 40), number(s.min), number(s.median), number(s.max), count(s.missing)])),
        i.actions?.length ? table("Actions", [["action"], ["steps", "right"]], i.actions.slice(0, 100).map((a) => [named(a.name, 40), count(a.steps)])) : null));
  }

  // ---------------------------------------------------------------- how it was made

  function made(d) {
    return section("made", "How it was made",
      facts([["rehearse", d.version], ["random seed", d.plan?.seed], ["study", named(d.study, 80)], ["charts", library ? "Vega-Lite" : "plain: this build of rehearse has no chart library (docs/report.md)"]]),
      d.command ? copyable("The command", d.command, true) : null,
      make("details", {}, make("summary", {}, "The plan: every key that can change a result"),
        table("Plan", [["key"], ["value"]], Object.entries(d.plan ?? {}).slice(0, 400).map(([key, x]) => [named(key, 60), make("code", {}, cut(x, 200))]))),
      make("p", { class: "quiet" }, "This page and report.json are derived from study.log, the journal; the same study gives the same bytes. best.yaml is what rehearse deploy reads; runs.csv has a row per run."));
  }
