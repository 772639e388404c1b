
  // ---------------------------------------------------------------- learning curves

  let study = null; // the one whose settings are selected
  let selected = null; // a trial of it
  const listeners = [];

  function select(trial, go) {
    if (!study?.trials[trial]) return;
    selected = trial;
    for (const tell of listeners) tell();
    for (const one of charts) mark(one);
    for (const button of document.querySelectorAll("button.pick")) button.setAttribute("aria-pressed", String(Number(button.dataset.trial) === trial));
    if (go) document.getElementById("curves").scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  }

  // The curve of a trial as rows; none where the page does not have it.
  function curveRows(d, t, name, order) {
    const k = d.curveOf.get(t.trial);
    if (k === undefined) return [];
    const n = d.curves.points, rows = [];
    for (let p = 0; p < n; p++) {
      const mean = d.curves.mean[k]?.[p], spread = d.curves.spread[k]?.[p];
      if (!known(mean)) continue;
      rows.push({ name, order, trial: t.trial, setting: t.setting, step: ((p + 1) * (d.curves.steps || n)) / n, mean, lo: known(spread) ? mean - spread : mean, hi: known(spread) ? mean + spread : mean });
    }
    return rows;
  }

  // The settings that are always drawn: to deploy, those that follow it, the median and the worst.
  function shownCurves(d) {
    const list = [], seen = new Set();
    const add = (t, name) => {
      if (!t || seen.has(t.trial) || !curveRows(d, t, "", 0).length) return;
      seen.add(t.trial);
      list.push({ t, name: `${name}: setting ${t.setting}` });
    };
    add(d.winnerTrial, d.finished ? "to deploy" : "leading");
    const leading = d.winnerTrial?.confirm ? d.confirmed : d.ranked;
    for (const t of leading.slice(0, 4)) if (list.length < 3) add(t, "next best");
    const scored = d.ranked.filter((t) => known(t.score));
    add(scored[Math.floor((scored.length - 1) / 2)], "median of the search");
    add(scored[scored.length - 1], "worst of the search");
    return list;
  }

  const FAINT = /^(median|worst|logged)/; // names of dashed curves

  // A point is a mean over episodes, or the reward of its steps in a continuing task.
  const perPoint = (d) => (d.score_per === "steps" ? d.curves.steps / d.curves.points : null);
  const pointUnit = (d) => (perPoint(d) ? `per ${plural(Math.round(perPoint(d)), "step")}` : unit(d));

  // The score of the logged controller across the chart.
  function todayRows(d, order) {
    const y = d.logged?.score * (perPoint(d) ? perPoint(d) / d.score_steps : 1);
    return known(y) ? [0, d.curves.steps].map((step) => ({ name: "logged controller, today", order, trial: null, step, mean: y, lo: y, hi: y })) : [];
  }

  function curves(d) {
    const shown = shownCurves(d);
    if (!shown.length) return section("curves", "Learning curves", make("p", { class: "quiet" }, "No learning curve is known yet."));
    selected = selected ?? shown[0].t.trial;
    const rowsNow = () => {
      const rows = [...shown.flatMap((s, k) => curveRows(d, s.t, s.name, k)), ...todayRows(d, shown.length + 1)];
      const t = d.trials[selected];
      return shown.some((s) => s.t.trial === selected) ? rows : rows.concat(curveRows(d, t, `selected: setting ${t.setting}`, shown.length));
    };
    const names = () => [...new Set(rowsNow().map((r) => r.name))];
    const figure = chart({
      id: "chart-curves", title: `Reward ${pointUnit(d)} while learning`, height: 320,
      about: "Lines are means over the runs. The bands of the setting to deploy and of the selected one are one standard deviation between runs: where a single run lies.",
      spec: (c) => {
        const rows = rowsNow(), t = d.trials[selected];
        const domain = names();
        const range = domain.map((name, k) => (name.startsWith("selected") ? c.second : name.startsWith("logged") ? c.set[4] : name.startsWith("median") ? c.ink : name.startsWith("worst") ? c.faint : [c.accent, c.good, c.set[3]][k % 3]));
        const dash = domain.map((name) => (FAINT.test(name) ? [5, 4] : [1, 0]));
        const [lo, hi] = robust(rows.flatMap((r) => (r.order === 0 ? [r.lo, r.hi, r.mean] : [r.mean])));
        const y = (field) => ({ field, type: "quantitative", title: `reward ${pointUnit(d)}`, scale: { domain: [lo, hi], zero: false, nice: true, clamp: true } });
        const colour = { field: "name", type: "nominal", scale: { domain, range }, legend: { title: null, orient: "top", columns: innerWidth < 600 ? 1 : 3, symbolType: "stroke", symbolOpacity: 1 } };
        return {
          data: { values: rows },
          encoding: { x: { field: "step", type: "quantitative", title: "steps in the environment", scale: { nice: false, domainMin: 0 }, axis: { format: ",d", grid: false, tickCount: 6, labelOverlap: true } } },
          layer: [
            { transform: [{ filter: { or: [{ field: "order", equal: 0 }, { field: "trial", equal: t.trial }] } }], mark: { type: "area", opacity: 0.16 }, encoding: { y: y("lo"), y2: { field: "hi" }, color: colour } },
            { mark: { type: "line", point: { size: 22 } }, encoding: { y: y("mean"), color: colour, strokeDash: { field: "name", type: "nominal", scale: { domain, range: dash }, legend: colour.legend },
              strokeWidth: { condition: { test: { field: "trial", equal: t.trial }, value: 3.5 }, value: 1.8 },
              tooltip: [{ field: "name", title: "curve" }, { field: "step", format: ",.0f" }, { field: "mean", format: ",.4~g" }, { field: "lo", format: ",.4~g", title: "mean − sd" }, { field: "hi", format: ",.4~g", title: "mean + sd" }] } },
          ],
        };
      },
      plain: () => ({ x: "steps in the environment", y: `reward ${pointUnit(d)}`, lines: names().map((name) => ({
        name, dash: FAINT.test(name), points: rowsNow().filter((r) => r.name === name).map((r) => ({ x: r.step, y: r.mean, ...(r.order === 0 || r.trial === selected ? { lo: r.lo, hi: r.hi } : {}) })) })) }),
    });
    const one = charts[charts.length - 1];
    const about = make("div", { class: "selected", "aria-live": "polite" });
    const order = d.winnerTrial?.confirm ? [...d.confirmed, ...d.ranked] : d.ranked;
    const step = (by) => {
      const at = order.findIndex((t) => t.trial === selected);
      const next = order[Math.min(Math.max(at + by, 0), order.length - 1)];
      if (next) select(next.trial);
    };
    const describe = () => {
      const t = d.trials[selected];
      about.replaceChildren(
        make("p", {}, make("b", {}, `Setting ${t.setting}`), t.confirm ? ", its confirmation" : ", in the search", ": ", setting(d, t)),
        make("p", { class: "quiet" }, `Score ${scoreCells(t.score, t.lo, t.hi).join(", 95 % interval ")}; ${plural(t.runs, "run")}, ${share(t.coverage)} out of coverage`, t.diverged ? `, ${plural(t.diverged, "run")} diverged` : "", t.state === STATE[1] ? "." : `; ${t.state}.`,
          d.curveOf.has(t.trial) ? "" : " The page does not have its curve; study.log has."));
    };
    listeners.push(() => {
      describe();
      draw(one).catch(console.error);
    });
    describe();
    return section("curves", "Learning curves", figure,
      make("div", { class: "picker" }, about, make("div", { class: "buttons" },
        make("button", { type: "button", onclick: () => step(-1) }, "Better setting"), make("button", { type: "button", onclick: () => step(1) }, "Worse setting"))),
      make("p", { class: "quiet" }, "Click a setting in any chart or table to see its curve here."));
  }
