
  // ---------------------------------------------------------------- what matters

  // The scale of a parameter: by names, log or linear.
  function paramScale(p, list) {
    if (p.names) return { type: "nominal", scale: { domain: [...new Set(list)].sort() } };
    const x = list.filter(known), lo = Math.min(...x), hi = Math.max(...x);
    if (!x.length) return { type: "quantitative" };
    if (lo === hi) return { type: "quantitative", scale: { domain: [lo - Math.abs(lo || 1) / 2, hi + Math.abs(hi || 1) / 2], zero: false } };
    const log = p.log && lo > 0;
    return { type: "quantitative", scale: { type: log ? "log" : "linear", domain: [lo, hi], nice: false, padding: 8, ...(log ? {} : { zero: false }) } };
  }
  const RING = (c) => ({ type: "point", aria: false, filled: false, size: 190, strokeWidth: 2.5, color: c.second, opacity: 1 });
  const tip = (d, ...more) => [{ field: "setting" }, ...more, { field: "score", format: ",.4~g" }];

  // The rows of the selected setting, which may be selected by its confirmation.
  const picked = (rows) => rows.filter((r) => r.setting === study.trials[selected]?.setting);

  // A chart of trials, with a ring around the selected one. rows: one per trial.
  function trialChart(options, rows, layer) {
    const figure = chart({ ...options, spec: (c) => ({ ...layer(c), rehearseMarks: rows.length }) });
    charts[charts.length - 1].picked = () => picked(rows);
    return figure;
  }
  const withRing = (c, encoding, mark, rows) => ({
    encoding,
    layer: [
      { data: { values: rows }, mark: { type: "point", filled: true, size: rows.length > 2000 ? 12 : 46, opacity: rows.length > 2000 ? 0.45 : 0.75, cursor: "pointer", ...mark } },
      { data: { name: "picked", values: picked(rows) }, mark: RING(c), encoding: { color: { value: c.second } } },
    ],
  });

  // What a chart draws of very many trials: the best, and some over all ranks. More would hide each
  // other and make the page slow.
  const DRAWN = 3000;
  function some(d) {
    const scored = d.ranked.filter((t) => known(t.score));
    if (scored.length <= DRAWN) return d.search.filter((t) => known(t.score));
    const every = Math.ceil(scored.length / (DRAWN / 2));
    return scored.filter((_, i) => i < DRAWN / 2 || i % every === 0).sort((a, b) => a.trial - b.trial);
  }
  const drawn = (d) => (d.search.length > DRAWN ? ` The best ${count(DRAWN / 2)} settings and some of the others.` : "");

  function importance(d) {
    const i = d.importance, se = d.jackknife;
    if (!i?.method) return make("p", { class: "quiet" }, "Too few settings to estimate which parameters matter.");
    const rows = i.parameters.flatMap((p, k) => [["alone", "main_effect"], ["with interactions", "total_effect"]].map(([kind, key]) => ({
      name: cut(p.name, 30), kind, share: Math.max(p[key] ?? 0, 0), lo: Math.max((p[key] ?? 0) - 1.96 * (se?.[key][k] ?? 0), 0), hi: Math.min(Math.max((p[key] ?? 0) + 1.96 * (se?.[key][k] ?? 0), 0), 1) })));
    const order = [...i.parameters].sort((a, b) => b.total_effect - a.total_effect).map((p) => cut(p.name, 30));
    return chart({
      id: "chart-importance", title: "Importance: share of the score's variance", pick: false, height: Math.min(46 * order.length, 600),
      about: (i.method === "analysis_of_variance" ? "By analysis of variance." : "By a Gaussian process.") + (se ? " Lines are 95 % intervals (jackknife)." : ""),
      spec: (c) => ({
        data: { values: rows },
        encoding: { y: { field: "name", type: "nominal", sort: order, title: null, axis: { labelFontSize: 13, labelColor: c.ink } }, yOffset: { field: "kind" } },
        layer: [
          { mark: { type: "bar", cornerRadiusEnd: 3 }, encoding: { x: { field: "share", type: "quantitative", title: null, axis: { format: ".0%", tickCount: 5 }, scale: { domainMin: 0 } }, color: { field: "kind", type: "nominal", scale: { range: [c.accent, c.good] }, legend: { title: null, orient: "top" } }, tooltip: [{ field: "name" }, { field: "kind" }, { field: "share", format: ".1%" }] } },
          ...(se ? [{ mark: { type: "rule", strokeWidth: 2, color: c.ink }, encoding: { x: { field: "lo", type: "quantitative" }, x2: { field: "hi" } } }] : []),
        ],
      }),
      plain: null,
    });
  }

  const importanceTable = (d) => (d.importance?.method ? table("Importance", [["parameter"], ["alone", "right"], ["with interactions", "right"], ["winner in its range"]],
    d.importance.parameters.map((p) => [named(p.name, 30), share(p.main_effect), share(p.total_effect), p.at_bound ? `at the ${cut(p.at_bound, 10)} end` : "inside"])) : null);

  // Which parameters, the most important first.
  function byImportance(d) {
    const total = new Map((d.importance?.parameters ?? []).map((p) => [p.name, p.total_effect ?? 0]));
    return d.space.map((_, k) => k).sort((a, b) => (total.get(d.space[b].name) ?? 0) - (total.get(d.space[a].name) ?? 0));
  }

  function slice(d, k) {
    const p = d.space[k], rows = some(d).map((t) => ({ trial: t.trial, setting: t.setting, value: t.x[k], score: t.score }));
    const name = cut(p.name, 30), scale = robust(rows.map((r) => r.score));
    return trialChart({
      id: `chart-slice-${k}`, title: p.name, about: cut(p.about ?? "", 120), small: true, height: 190,
      plain: () => {
        const xnames = p.names ? [...new Set(rows.map((r) => r.value))].sort() : null;
        return { x: name, y: "score", log: p.log, xnames, points: rows.map((r) => ({ ...r, x: xnames ? xnames.indexOf(r.value) : r.value, y: r.score })) };
      },
    }, rows, (c) => withRing(c, {
      x: { field: "value", ...paramScale(p, rows.map((r) => r.value)), title: name, axis: { grid: false, labelAngle: 0, tickCount: 5, labelOverlap: true } },
      y: { field: "score", type: "quantitative", title: "score", scale: { domain: scale, clamp: true, zero: false, nice: true }, axis: { tickCount: 5 } },
      tooltip: tip(d, { field: "value", title: name }),
    }, { color: c.accent }, rows));
  }

  // Two parameters, coloured by the score. The parameters can be chosen.
  function pair(d) {
    const order = byImportance(d);
    if (order.length < 2) return null;
    let [a, b] = order;
    const scored = some(d);
    const domain = robust(scored.map((t) => t.score));
    const rows = () => scored.map((t) => ({ trial: t.trial, setting: t.setting, a: t.x[a], b: t.x[b], score: t.score }));
    const figure = chart({
      id: "chart-pair", title: "Two parameters together", about: "A stronger colour is better." + drawn(d), height: 300,
      spec: (c) => {
        const list = rows(), axis = (k, field) => ({ field, ...paramScale(d.space[k], list.map((r) => r[field])), title: cut(d.space[k].name, 30), axis: { labelAngle: 0, tickCount: 5, labelOverlap: true } });
        return { rehearseMarks: list.length, ...withRing(c, {
          x: axis(a, "a"), y: axis(b, "b"),
          color: { field: "score", type: "quantitative", scale: { domain, clamp: true, range: c.ramp }, legend: { title: "score", orient: "right", gradientLength: 160 } },
          tooltip: tip(d, { field: "a", title: cut(d.space[a].name, 30) }, { field: "b", title: cut(d.space[b].name, 30) }),
        }, { size: list.length > 2000 ? 16 : 80, opacity: 0.9 }, list) };
      },
      plain: null,
    });
    const one = charts[charts.length - 1];
    one.picked = () => picked(rows());
    const chooser = (label, start, set) => {
      const box = make("select", {}, d.space.map((p, k) => make("option", { value: k, selected: k === start }, cut(p.name, 30))));
      box.addEventListener("change", () => {
        set(Number(box.value));
        draw(one).catch(console.error);
      });
      return make("label", {}, label, " ", box);
    };
    figure.insertBefore(make("div", { class: "choosers" }, chooser("across", a, (k) => (a = k)), chooser("up", b, (k) => (b = k))), figure.lastChild);
    return figure;
  }

  // One line per setting through its values, the best on top.
  function parallel(d) {
    if (d.space.length < 2) return null;
    const scored = d.ranked.filter((t) => known(t.score));
    const most = 240, some = scored.length <= most ? scored : scored.filter((_, i) => i < most / 2 || i % Math.ceil(scored.length / (most / 2)) === 0);
    const ends = d.space.map((p, k) => {
      if (p.names) return { names: [...new Set(d.search.map((t) => t.x[k]))].sort() };
      const list = d.search.map((t) => t.x[k]).filter(known), log = p.log && list.every((x) => x > 0);
      return { lo: Math.min(...list), hi: Math.max(...list), f: log ? Math.log : (x) => x };
    });
    const place = (k, x) => (ends[k].names ? (ends[k].names.indexOf(x) + 0.5) / ends[k].names.length : ends[k].hi > ends[k].lo ? (ends[k].f(x) - ends[k].f(ends[k].lo)) / (ends[k].f(ends[k].hi) - ends[k].f(ends[k].lo)) : 0.5);
    const scores = robust(scored.map((t) => t.score));
    const up = (x) => Math.min(Math.max((x - scores[0]) / (scores[1] - scores[0]), 0), 1);
    const axes = [...d.space.map((p) => cut(p.name, 16)), "score"].map((name, k) => `${k + 1} ${name}`);
    const rows = [...some].reverse().flatMap((t) => axes.map((axis, k) => ({ axis, trial: t.trial, setting: t.setting, score: t.score, at: k < d.space.length ? place(k, t.x[k]) : up(t.score) })));
    const text = (p, k, high) => (ends[k].names ? cut(ends[k].names[high ? ends[k].names.length - 1 : 0], 10) : number(high ? ends[k].hi : ends[k].lo, 3));
    const labels = axes.flatMap((axis, k) => [{ axis, at: 1, text: k < d.space.length ? text(d.space[k], k, true) : number(scores[1], 3), dy: -9 }, { axis, at: 0, text: k < d.space.length ? text(d.space[k], k, false) : number(scores[0], 3), dy: 13 }]);
    return chart({
      id: "chart-parallel", title: "All parameters together", height: 260,
      about: `A line per setting; a stronger colour is better.${some.length < scored.length ? ` The best ${most / 2} and some of the others.` : ""}`,
      spec: (c) => {
        const x = { field: "axis", type: "nominal", title: null, sort: axes, scale: { padding: 0.12 }, axis: { labelAngle: 0, labelExpr: "slice(datum.label, indexof(datum.label, ' ') + 1)", domain: false, ticks: false, labelPadding: 22, labelFontSize: 12, labelColor: c.ink, grid: false, labelOverlap: false } };
        const y = { field: "at", type: "quantitative", axis: null, scale: { domain: [0, 1] } };
        return {
          layer: [
            { data: { values: axes.map((axis) => ({ axis })) }, mark: { type: "rule", color: c.faint }, encoding: { x, y: { datum: 0, type: "quantitative", axis: null }, y2: { datum: 1 } } },
            { data: { values: rows }, mark: { type: "line", opacity: some.length > 100 ? 0.35 : 0.55, strokeWidth: 1.4, cursor: "pointer" }, encoding: { x, y, detail: { field: "trial" }, color: { field: "score", type: "quantitative", scale: { domain: scores, clamp: true, range: c.ramp }, legend: null } } },
            { data: { name: "picked", values: picked(rows) }, mark: { type: "line", aria: false, color: c.second, strokeWidth: 3.5 }, encoding: { x, y } },
            ...[[1, -9], [0, 13]].map(([at, dy]) => ({ data: { values: labels.filter((l) => l.at === at) }, mark: { type: "text", dy, fontSize: 11, color: c.quiet }, encoding: { x, y, text: { field: "text" } } })),
          ],
        };
      },
      plain: null,
    });
  }

  function sensitivity(d) {
    if (!d.search.some((t) => known(t.score))) return section("sensitivity", "Which parameters matter", make("p", { class: "quiet" }, "No setting has a score."));
    const order = byImportance(d).slice(0, 12);
    const both = [importance(d), importanceTable(d)];
    const small = make("div", { class: "grid" }, order.map((k) => slice(d, k)));
    const together = [pair(d)];
    const lines = parallel(d);
    if (lines) {
      const one = charts[charts.length - 1], rows = one.spec(colours()).layer[1].data.values;
      one.picked = () => picked(rows);
    }
    return section("sensitivity", "Which parameters matter", both, make("h3", {}, "Each parameter and the score"), small,
      library ? [make("h3", {}, "Parameters together"), make("div", { class: "grid wide" }, together, lines)] : null);
  }

  // ---------------------------------------------------------------- the search

  function history(d) {
    let best = -Infinity, cost = 0;
    const rows = d.search.map((t) => {
      if (known(t.score)) best = Math.max(best, t.score);
      cost += t.steps ?? 0;
      return { trial: t.trial, setting: t.setting, score: known(t.score) ? t.score : null, best: Number.isFinite(best) ? best : null, cost, state: t.state };
    });
    const kept = new Set(some(d).map((t) => t.trial)), scored = rows.filter((r) => kept.has(r.trial));
    const path = rows.filter((r, i) => r.best !== null && (i === rows.length - 1 || r.best !== rows[i - 1]?.best));
    if (!scored.length) return [];
    const domain = robust(scored.map((r) => r.score));
    const y = { field: "score", type: "quantitative", title: "score", scale: { domain, clamp: true, zero: false, nice: true } };
    const order = { field: "setting", type: "quantitative", scale: { domain: [0, Math.max(rows.length - 1, 1)], nice: false, padding: 6 } };
    const found = trialChart({
      id: "chart-history", title: "Settings in the order of the search", about: "The line is the best so far." + drawn(d), height: 240,
      plain: () => ({ x: "setting", y: "score", points: scored.map((r) => ({ ...r, x: r.setting, y: r.score })), lines: [{ name: "the best so far", shade: 2, points: rows.map((r) => ({ x: r.setting, y: r.best })) }] }),
    }, scored, (c) => {
      const base = withRing(c, { x: { ...order, title: "setting", axis: { grid: false, tickMinStep: 1, format: "d", tickCount: 6 } }, tooltip: tip(d, { field: "state" }) },
        { color: c.accent }, scored);
      base.layer.forEach((l) => (l.encoding = { ...l.encoding, y }));
      base.layer.unshift({ data: { values: path }, mark: { type: "line", interpolate: "step-after", color: c.good, strokeWidth: 2 }, encoding: { y: { ...y, field: "best" } } });
      return base;
    });
    const spent = chart({
      id: "chart-cost", title: "Cost of the search", about: "Steps that agents took in the model, added up.", height: 240, pick: false,
      plain: () => ({ x: "setting", y: "steps", lines: [{ points: rows.map((r) => ({ x: r.setting, y: r.cost })) }] }),
      spec: (c) => ({ data: { values: rows.length > 1000 ? rows.filter((_, i) => i % Math.ceil(rows.length / 1000) === 0 || i === rows.length - 1) : rows }, mark: { type: "area", interpolate: "step-after", color: c.accent, opacity: 0.25, line: { color: c.accent } },
        encoding: { x: { ...order, title: "setting", axis: { grid: false, tickMinStep: 1, format: "d", tickCount: 6 } }, y: { field: "cost", type: "quantitative", title: "steps", axis: { labelExpr: SHORT, tickCount: 5 } } } }),
    });
    return [found, spent];
  }

  // All settings, the best first, a hundred at a time.
  function settingsTable(d) {
    const all = [...d.confirmed, ...d.ranked];
    const body = table("Settings, confirmations first, then the best of the search",
      [["setting"], ["stage"], ...d.space.map((p) => [named(p.name, 20), "right"]), ["score", "right"], ["95 % interval", "right"], ["runs", "right"], ["out of coverage", "right"], ["state"]], []);
    const rows = body.querySelector("tbody"), said = make("p", { class: "quiet" });
    const more = make("button", { type: "button" }, "Show 100 more");
    let shown = 0;
    const add = (n) => {
      for (const t of all.slice(shown, shown + n)) rows.append(make("tr", {},
        make("th", { scope: "row" }, pickButton(t, t.setting)), make("td", {}, t.confirm ? "confirmation" : "search"), t.x.map((x) => make("td", { class: "number" }, value(x))),
        [...scoreCells(t.score, t.lo, t.hi), count(t.runs), share(t.coverage)].map((x) => make("td", { class: "number" }, x)), make("td", {}, t.diverged ? `${t.state}, ${count(t.diverged)} diverged` : t.state)));
      shown = Math.min(shown + n, all.length);
      said.textContent = `${count(shown)} of ${plural(all.length, "trial")}. runs.csv has a row per run.`;
      more.hidden = shown >= all.length;
    };
    more.addEventListener("click", () => add(100));
    add(20);
    return make("details", { open: true }, make("summary", {}, "Table of all settings"), body, said, more);
  }

  // The search may prefer another setting than the one with the highest score.
  function leads(d) {
    const lead = d.best_in_search?.setting, top = d.ranked[0]?.setting;
    return known(lead) && lead !== top ? make("p", { class: "quiet" }, `Single scores are noisy, so the search estimates each from all settings near it. By this estimate setting ${lead} leads; setting ${top} has the highest score of its own. The settings that lead by the estimate are confirmed.`) : null;
  }

  function searching(d) {
    const p = d.plan ?? {};
    return section("search", "The search",
      facts([
        ["method", named(p.method ?? "–", 40)], ["settings tried", count(d.search.length)], ["confirmed", count(d.confirmed.length)],
        ["runs", count(d.runs)], ["steps in all runs", count(d.steps)],
        ["diverged", plural(d.trials.reduce((n, t) => n + (t.diverged || 0), 0), "run")]]),
      leads(d), make("div", { class: "grid wide" }, history(d)), d.trials.length ? settingsTable(d) : null);
  }
