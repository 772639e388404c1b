
  // ---------------------------------------------------------------- the paper's experiments

  // Linear between order statistics, as in the library.
  function quantile(sorted, p) {
    if (!sorted.length) return null;
    const at = p * (sorted.length - 1), low = Math.floor(at);
    return sorted[low] + (at - low) * (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]);
  }

  const VERDICT = { holds: "good", "does not hold": "bad", "not decided": "open" };

  // One row per series: quartiles, whiskers to the farthest within one and a half boxes, the rest.
  function boxes(f) {
    return f.series.map((s) => {
      const y = s.y.filter(known).sort((a, b) => a - b);
      const [q25, median, q75] = [0.25, 0.5, 0.75].map((p) => quantile(y, p));
      const reach = 1.5 * (q75 - q25), inside = y.filter((x) => x >= q25 - reach && x <= q75 + reach);
      return { series: cut(s.name, 40), n: y.length, q25, median, q75, lo: inside[0] ?? q25, hi: inside[inside.length - 1] ?? q75,
        out: y.filter((x) => x < q25 - reach || x > q75 + reach), released: (s.released ?? []).every(known) && s.released?.length === 3 ? s.released : null };
    }).filter((b) => b.n);
  }

  const axisTitle = { box: "true score", bar: "true score", dots: "score in the model" };

  // Scores of bad choices press all boxes of good ones together: these get a second axis, from the lower
  // quartiles of the better half to the best. null where one axis shows both.
  function nearAxis(f, rows) {
    const order = [...rows].sort((a, b) => b.median - a.median), half = order.slice(0, Math.ceil(order.length / 2));
    const lo = Math.min(...half.map((b) => b.q25)), hi = Math.max(...rows.flatMap((b) => [b.hi, ...b.out]), known(f.best) ? f.best : -Infinity);
    const least = Math.min(...rows.flatMap((b) => [b.lo, ...b.out])), pad = 0.1 * (hi - lo);
    return rows.length > 2 && hi > lo && hi - least > 4 * (hi - lo) && Number.isFinite(hi - least) ? [lo - pad, hi + pad] : null;
  }

  // near: the second axis, or null.
  function boxSpec(f, rows, c, near) {
    const outliers = rows.flatMap((b) => b.out.map((y) => ({ series: b.series, y }))).filter((o) => !near || o.y >= near[0]);
    const theirs = rows.filter((b) => b.released).map((b) => ({ series: b.series, lo: b.released[0], median: b.released[1], hi: b.released[2] }));
    const x = { field: "series", type: "nominal", sort: null, title: null, axis: { labelAngle: -25, labelFontSize: 12, labelColor: c.ink, labelLimit: 180 } };
    const y = (field) => ({ field, type: "quantitative", title: f.draw === "box" || f.draw === "bar" ? axisTitle[f.draw] : null, scale: near ? { domain: near, zero: false, nice: true } : { zero: false } });
    const color = { field: "series", type: "nominal", sort: null, legend: null };
    const bars = f.draw === "bar";
    const layer = [
      ...(known(f.best) ? [{ data: { values: [{ best: f.best }] }, mark: { type: "rule", strokeDash: [6, 4], color: c.good, strokeWidth: 2 }, encoding: { y: { field: "best", type: "quantitative" } } }] : []),
      { mark: { type: "rule", strokeWidth: bars ? 3 : 1.5 }, encoding: { x, y: y(bars ? "q25" : "lo"), y2: { field: bars ? "q75" : "hi" }, color } },
      ...(bars ? [] : [{ mark: { type: "bar", size: 26, opacity: 0.45 }, encoding: { x, y: y("q25"), y2: { field: "q75" }, color } }]),
      { mark: { type: "tick", thickness: 3, size: 30 }, encoding: { x, y: y("median"), color, tooltip: [{ field: "series" }, { field: "median" }, { field: "q25" }, { field: "q75" }, { field: "n" }] } },
      ...(outliers.length ? [{ data: { values: outliers }, mark: { type: "point", size: 28, opacity: 0.7 }, encoding: { x, y: y("y"), color } }] : []),
      ...(theirs.length ? [{ data: { values: theirs }, mark: { type: "rule", color: c.faint, strokeWidth: 2, xOffset: 22 }, encoding: { x, y: y("lo"), y2: { field: "hi" } } },
        { data: { values: theirs }, mark: { type: "point", shape: "diamond", filled: true, size: 90, color: c.ink, xOffset: 22 }, encoding: { x, y: y("median"), tooltip: [{ field: "series" }, { field: "median", title: "released median" }] } }] : []),
    ];
    if (near) for (const one of layer) one.mark.clip = true;
    return { data: { values: rows }, layer };
  }

  // All estimates, best first: a falling line of dots for each kind of data.
  function fallRows(f) {
    return f.series.flatMap((s) => {
      const y = s.y.filter(known).sort((a, b) => b - a);
      return y.map((score, i) => ({ series: cut(s.name, 40), share: (i + 0.5) / y.length, score }));
    });
  }

  function figureOf(f) {
    const rows = boxes(f), falls = f.draw === "dots" ? fallRows(f) : [];
    const near = f.draw === "dots" ? null : nearAxis(f, rows), id = "chart-" + f.id.replace(/[^a-z0-9-]/g, "");
    const place = new Map(rows.map((b, k) => [b.series, k]));
    const drawBoxes = (axis) => ({ spec: (c) => boxSpec(f, rows, c, axis),
      plain: () => ({ x: "", y: axisTitle[f.draw], xnames: rows.map((b) => b.series), points: f.series.flatMap((s) => s.y.filter((y) => known(y) && (!axis || y >= axis[0])).map((y) => ({ x: place.get(cut(s.name, 40)), y }))) }) });
    const drawFall = () => ({ spec: (c) => ({ rehearseMarks: falls.length, data: { values: falls }, mark: { type: "point", filled: true, size: 14, opacity: 0.6 }, encoding: {
        x: { field: "share", type: "quantitative", title: "share of the settings, best first", axis: { format: "%" } },
        y: { field: "score", type: "quantitative", title: axisTitle.dots },
        color: { field: "series", type: "nominal", sort: null, legend: { title: null, orient: "top" }, scale: { range: c.set } } } }),
      plain: () => ({ x: "share of the settings, best first", y: "score", lines: f.series.map((s) => ({ name: s.name, points: falls.filter((r) => r.series === cut(s.name, 40)).map((r) => ({ x: r.share, y: r.score })) })) }) });
    if (!rows.length) return [make("p", { class: "quiet" }, named(f.title, 90), ": no numbers.")];
    const theirs = rows.some((b) => b.released);
    const columns = [["series"], ["n", "right"], ["25 %", "right"], ["median", "right"], ["75 %", "right"], ...(theirs ? [["released median (quartiles)", "right"]] : [])];
    const released = (b) => (b.released ? `${number(b.released[1])} (${number(b.released[0])} to ${number(b.released[2])})` : "–");
    return [
      make("div", { class: near ? "grid wide" : null }, chart({ id, title: f.title, about: f.about, height: 300, pick: false, ...(f.draw === "dots" ? drawFall() : drawBoxes(null)) }),
        near ? chart({ id: id + "-near", title: `${f.title}, near the best`, about: `The same numbers on a second axis. What is below ${number(near[0], 3)} is not drawn.`, height: 300, pick: false, ...drawBoxes(near) }) : null),
      table(`Numbers of ${cut(f.id, 40)}`, columns, rows.map((b) => [named(b.series, 40), count(b.n), number(b.q25), number(b.median), number(b.q75), ...(theirs ? [released(b)] : [])])),
      known(f.best) ? make("p", { class: "quiet" }, `Line: ${number(f.best)}, the true score of the best setting of the grid.${theirs ? " Diamonds: the authors' released medians and quartiles." : ""}`) : null,
    ];
  }

  const verdictOf = (c) => make("strong", { class: "decided " + (VERDICT[c.verdict] ?? "open") }, cut(c.verdict, 20));

  function claimTable(list) {
    return table("All claims", [["claim"], ["verdict"], ["what the paper says"], ["what was measured"], ["statistic", "right"], ["95 % interval", "right"], ["logs", "right"]],
      list.map((c) => [named(c.id, 40), verdictOf(c), named(c.sentence, 500), [named(c.measured, 320), make("p", { class: "quiet" }, "Rule: ", named(c.rule, 400), ".")], number(c.value), interval(c.lo95, c.hi95), count(c.logs)]));
  }

  function factTable(list, name) {
    return list.length ? table(`Measured in ${cut(name, 20)}`, [["what"], ["ours", "right"], ["standard error", "right"], ["released", "right"], ["note"]],
      list.map((f) => [named(f.what, 160), number(f.ours), number(f.error), number(f.released), named(f.note, 200)])) : null;
  }

  function paperSections(d) {
    const of = (list, e) => list.filter((x) => x.experiment === e.name);
    const n = (word) => d.claims.filter((c) => c.verdict === word).length;
    return [
      section("claims", "Claims",
        make("p", { class: "lead" }, `${n("holds")} hold, ${n("does not hold")} do not hold, ${n("not decided")} are not decided.`),
        d.quick ? make("p", { class: "note" }, "A quick battery: fewer settings and runs, shorter runs. It shows that everything works, not what is true.") : null,
        make("p", {}, `Every verdict follows from a statistic over ${plural(d.logs, "log")}, its 95 % interval and the rule beside it. Below 6 logs nothing is decided.`),
        claimTable(d.claims)),
      ...d.experiments.map((e) => {
        const one = section("part-" + e.name.replace(/[^a-z0-9-]/g, ""), cut(e.title, 80),
          make("p", {}, named(e.about, 200)), of(d.figures, e).flatMap(figureOf), factTable(of(d.facts, e), e.name));
        one.dataset.name = cut(e.name, 20);
        return one;
      }),
      section("made", "How it was made", facts([
        ["command", make("code", {}, named(d.command, 300))], ["version", named(d.version, 30)], ["logs of a condition", count(d.logs)], ["of these, for the costliest methods", count(d.costly_logs)],
        ["constants", named(d.constants, 20)], ["seed", count(d.seed)], ["cells", count(d.cells)], ["learning steps", count(d.learning_steps)],
        ["CPU time", `${number(d.spent.cpu_seconds / 3600, 3)} h`]]),
        make("p", {}, "Beside this page: results.csv has every number of the figures, settings.csv every setting of every model with its true score, claims.csv this table, cells the results that a battery resumes from.")),
    ];
  }

  function buildPaper() {
    const d = JSON.parse(document.querySelector("script.paper").textContent);
    const page = document.getElementById("page");
    const sections = paperSections(d);
    document.title = "The paper, again – Rehearse";
    page.before(make("a", { class: "skip", href: "#page" }, "Skip to the content"),
      make("header", {}, make("div", { class: "inner" }, make("h1", {}, "The paper, again"),
        make("p", {}, "No More Pesky Hyperparameters: ", plural(d.experiments.length, "experiment"), ", ", plural(d.claims.length, "claim")),
        make("nav", { "aria-label": "Sections" }, make("ul", {}, sections.map((s) => make("li", {}, make("a", { href: "#" + s.id }, s.dataset.name ?? s.querySelector("h2").textContent))))))));
    page.append(...sections);
  }

  build(buildPaper);
