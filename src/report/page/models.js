
  // ---------------------------------------------------------------- the models

  function comparedModels(d) {
    const c = d.models?.compared_models;
    if (!c) return make("p", { class: "quiet" }, "The kind of model was given: no others were compared.");
    const label = (m) => cut(m.name, 50);
    const tried = c.models.filter((m) => m.tried && known(m.score));
    const rows = [];
    for (const m of tried) for (const [part, what] of [["states", "states"], ["rewards", "rewards"], ["ends", "ends"]])
      (m[part]?.at ?? []).forEach((score, h) => known(score) && rows.push({ model: label(m), part: what, horizon: c.horizons[h], score }));
    const parts = [...new Set(rows.map((r) => r.part))];
    const names = tried.map(label);
    return [
      make("p", {}, named(c.reason, 240)),
      table(`Candidates, by replays of ${plural(c.stretches, "held-out stretch").replace("stretchs", "stretches")} of the log; 0 is perfect, 1 is as a random stretch`,
        [["model"], ["score", "right"], ["states", "right"], ["rewards", "right"], ["ends", "right"], ["why"]],
        c.models.map((m) => [m.chosen ? make("b", {}, label(m)) : label(m), known(m.score) ? `${number(m.score, 3)} ± ${number(m.stderr, 2)}` : "–", number(m.states?.score, 3), number(m.rewards?.score, 3), number(m.ends?.score, 3),
          named((m.note ?? "") + (m.credible && !m.chosen ? "; used to confirm settings" : ""), 160)])),
      library && parts.length ? colourKey(names) : null,
      parts.length ? make("div", { class: "grid" }, parts.map((part) => chart({
        id: `chart-horizon-${part}`, small: true, pick: false, height: 190, title: `Replay error in ${part}`, about: "Over the steps that the model runs by itself.",
        spec: (k) => ({ data: { values: rows.filter((r) => r.part === part) }, mark: { type: "line", point: true, strokeWidth: 2 },
          encoding: { x: { field: "horizon", type: "quantitative", scale: { type: "log" }, title: "steps ahead", axis: { format: "d", values: c.horizons, grid: false, labelOverlap: true } }, y: { field: "score", type: "quantitative", title: "0 perfect, 1 random", scale: { domain: [0, Math.max(...robust(rows.filter((r) => r.part === part).map((r) => r.score)), 1)], clamp: true } },
            color: { field: "model", type: "nominal", scale: { domain: names, range: k.set }, legend: null }, tooltip: [{ field: "model" }, { field: "horizon" }, { field: "score", format: ".3f" }] } }),
        plain: () => ({ x: "steps ahead", y: "0 perfect, 1 random", log: true, lines: names.map((name) => ({ name, points: rows.filter((r) => r.part === part && r.model === name).map((r) => ({ x: r.horizon, y: r.score })) })) }),
      }))) : null,
    ];
  }

  function fidelity(d) {
    const f = d.models?.fidelity;
    if (!f) return null;
    const spread = (s) => (s?.n ? `${number(s.median)} (${number(s.q25)} to ${number(s.q75)})` : "–");
    const h = f.held_out;
    return [
      make("h3", {}, "Does the model behave like the log?"),
      make("div", { class: "columns" }, table("The logged behaviour, imitated in the model: median and quartiles", [["of"], ["in the log", "right"], ["in the model", "right"]],
        [["return", spread(f.logged_return), spread(f.simulated_return)], ["episode length", spread(f.logged_length), spread(f.simulated_length)]]),
      h?.sensors?.length ? table(`Errors on ${plural(h.steps, "held-out step")} (root mean square)`, [["of"], ["model", "right"], ["always the mean", "right"], ["no change", "right"]],
        [...h.sensors.slice(0, 20).map((s) => [named(s.name, 30), number(s.model, 3), number(s.mean, 3), number(s.persistence, 3)]), ["reward", number(h.reward?.model, 3), number(h.reward?.mean, 3), "–"]]) : null),
    ];
  }

  // Where an action was taken, among all states of the log.
  function coverage(d) {
    const s = d.models?.sample, f = d.models?.fidelity;
    if (!s?.first?.length || !s?.second?.length) return null;
    const all = s.first.map((x, i) => ({ x, y: s.second[i], action: s.action[i] })).filter((r) => known(r.x) && known(r.y));
    const x = robust(all.map((r) => r.x)), y = robust(all.map((r) => r.y));
    const axes = (c) => ({ x: { field: "x", type: "quantitative", title: "first component", scale: { domain: x, clamp: true, zero: false }, axis: { tickCount: 4 } }, y: { field: "y", type: "quantitative", title: "second component", scale: { domain: y, clamp: true, zero: false }, axis: { tickCount: 4 } } });
    const one = (id, title, about, rows, colour) => chart({
      id, small: true, pick: false, height: 190, title, about,
      spec: (c) => ({ rehearseMarks: all.length + rows.length, encoding: axes(c), layer: [
        { data: { values: all }, mark: { type: "point", filled: true, size: 7, color: c.faint, opacity: 0.3 } },
        { data: { values: rows }, mark: { type: "point", filled: true, size: 12, opacity: 0.8, ...(colour ? {} : { color: c.accent }) }, ...(colour ? { encoding: { color: { field: "action", type: "quantitative", scale: { range: c.ramp }, legend: { title: cut(s.action_name, 20), orient: "bottom" } } } } : {}) }] }),
      plain: () => ({ x: "first component", y: "second component", points: [...all.map((r) => ({ ...r, faint: true })), ...rows] }),
    });
    const title = (label) => (/^[-+.\d]*$/.test(label) ? `${s.action_name ?? "action"} ${label}` : label);
    const list = s.labels?.length
      ? s.labels.slice(0, 12).map((label, a) => one(`chart-cover-${a}`, title(label), f?.actions?.[a] ? `${share(f.actions[a].share)} of the steps; out of coverage in ${share(f.actions[a].out_of_coverage)} of the states` : "", all.filter((r) => r.action === a), false))
      : [one("chart-cover-0", s.action_name ?? "action", "Coloured by the action.", all, true)];
    return [make("h3", {}, "Where each action was tried"),
      make("p", { class: "quiet" }, `States of the log in the first two of ${plural(d.models.dimensions, "dimension")} of the representation (${cut(d.models.representation, 20)}). Grey: all states; coloured: those in which the action was taken. The model knows little of an action where there is grey only.`),
      make("div", { class: list.length === 2 || list.length === 4 ? "grid wide" : "grid" }, list)];
  }

  // Held-out stretches, one beside the other along the steps: what was logged, and replays of it.
  function replays(d) {
    const r = d.models?.replays, all = (r?.stretches ?? []).filter((s) => known(s.steps) && known(s.first));
    if (!all.length) return null;
    const gap = Math.max(...all.map((s) => s.steps)) * 0.12 + 1, from = [];
    let width = 0;
    for (const s of all) {
      from.push(width);
      width += s.steps + gap;
    }
    const series = [...r.sensors.map((s) => cut(s.name, 40) + (s.unit ? ` [${cut(s.unit, 12)}]` : "")), "sum of rewards"];
    const one = (name, k) => {
      const rows = all.flatMap((s, i) => s.step.map((step, p) => ({ stretch: i + 1, at: from[i] + step, step: s.first + step, ...Object.fromEntries(["logged", "lo", "median", "hi"].map((key) => [key, s.series[k]?.[key]?.[p] ?? null])) })));
      const ended = all.map((s, i) => (s.ended ? rows.findLast((x) => x.stretch === i + 1 && known(x.logged)) : null)).filter(Boolean);
      const scale = { domain: robust(rows.flatMap((x) => [x.logged, x.lo, x.hi])), clamp: true, zero: false, nice: true };
      const y = (field) => ({ field, type: "quantitative", title: null, scale, axis: { tickCount: 4 } });
      const known_ = (field) => [{ filter: `isValid(datum.${field})` }];
      return chart({
        id: `chart-replay-${k}`, small: true, pick: false, height: 150, title: name,
        spec: (c) => ({
          data: { values: rows },
          encoding: {
            x: { field: "at", type: "quantitative", title: "step of the log at which a stretch begins", scale: { domain: [0, width - gap], nice: false }, axis: { values: from, labelExpr: from.map((x, i) => `abs(datum.value - ${x}) < 0.01 ? '${count(all[i].first)}' : `).join("") + "''", grid: true, labelAlign: "left", labelOverlap: true } },
            detail: { field: "stretch" },
          },
          layer: [
            { transform: known_("lo"), mark: { type: "area", color: c.accent, opacity: 0.25 }, encoding: { y: y("lo"), y2: { field: "hi" } } },
            { transform: known_("median"), mark: { type: "line", color: c.accent, strokeWidth: 1.6, strokeDash: [4, 2] }, encoding: { y: y("median") } },
            { transform: known_("logged"), mark: { type: "line", color: c.second, strokeWidth: 2 }, encoding: { y: y("logged"), tooltip: [{ field: "step", format: ",d", title: "step of the log" }, { field: "logged", format: ",.4~g" }, { field: "median", format: ",.4~g", title: "median of the replays" }, { field: "lo", format: ",.4~g", title: "lowest" }, { field: "hi", format: ",.4~g", title: "highest" }] } },
            { data: { values: ended }, mark: { type: "point", shape: "cross", filled: true, size: 70, angle: 45, color: c.second, opacity: 1 }, encoding: { y: y("logged") } },
          ],
        }),
        plain: () => ({ x: "steps of the stretches, one beside the other", lines: all.flatMap((_, i) => [["logged", 1], ["median", 0]].map(([key, shade]) => ({ name: i ? null : key === "logged" ? "logged" : "median of the replays", shade, dash: !shade, points: rows.filter((x) => x.stretch === i + 1).map((x) => ({ x: x.at, y: x[key], ...(shade ? {} : { lo: x.lo, hi: x.hi }) })) }))) }),
      });
    };
    const few = r.varying > r.sensors.length ? ` The first ${r.sensors.length} of ${plural(r.varying, "sensor")} that vary.` : "";
    return [make("h3", {}, "What really happened, and what the model makes of it"),
      make("p", { class: "quiet" }, `Stretches of the log, evenly spaced, each replayed ${count(r.replays)} times in a model that was fitted without it. A replay takes the logged actions while it is near the logged path, and acts as the log does elsewhere.${few}`),
      library ? make("ul", { class: "key" }, make("li", { class: "logged" }, "logged (a cross: the episode ended)"), make("li", { class: "median" }, "median of the replays"), make("li", { class: "band" }, "from the lowest to the highest replay")) : null,
      make("div", { class: "grid wide" }, series.map(one)),
      table("The stretches", [["begins at step", "right"], ["steps", "right"], ["ended in the log"], ["replays that ended by then", "right"]],
        all.map((s) => [count(s.first), count(s.steps), s.ended ? "yes" : "no", `${count(s.replays_ended)} of ${count(r.replays)}`]))];
  }

  function ends(d) {
    const f = d.models?.facts;
    if (!f) return null;
    const about = (s) => [s.constant ? "constant" : null, known(s.period) ? `wraps round after ${number(s.period)}` : null, known(s.wall_lo) ? `stops at ${number(s.wall_lo)} below` : null, known(s.wall_hi) ? `stops at ${number(s.wall_hi)} above` : null,
      s.partner ? `on a circle with ${cut(s.partner, 30)}` : null, s.noise ? "noise" : null, s.exogenous ? "not moved by actions" : null].filter(Boolean).join(", ");
    const known_ = f.sensors.filter((s) => about(s));
    return [make("h3", {}, "Limits and resets found"),
      make("p", {}, !f.resets && !f.terminal && !f.limits.length ? "None: the log has no unmarked resets, and no terminal step whose next state it knows." : `${f.resets ? `${plural(f.resets, "reset")} found where the log marks none` : "No unmarked resets"}; ${plural(f.terminal, "terminal arrival")}, ${count(f.terminal - f.unexplained)} of them beyond a limit of a sensor.`),
      f.limits.length ? table("Limits beyond which steps end", [["sensor"], ["side"], ["limit", "right"], ["arrivals", "right"], ["mean reward", "right"]],
        f.limits.slice(0, 40).map((l) => [named(l.sensor, 30), cut(l.side, 10), number(l.value), count(l.terminal), number(l.reward)])) : null,
      known_.length ? table("What the log shows of its sensors", [["sensor"], ["behaviour"]], known_.slice(0, 40).map((s) => [named(s.name, 30), about(s)])) : null];
  }

  function models(d) {
    const m = d.models, chosen = m?.compared_models?.models.find((x) => x.chosen);
    if (!m) return null;
    return section("models", "The models",
      facts([["kind", named(chosen?.name ?? m.kind, 50)], ["representation", `${cut(m.representation, 30)}, ${plural(m.dimensions, "dimension")}`], ["dynamics awareness", number(m.awareness, 3)], ["task", m.continuing ? "continuing" : "episodic"]]),
      make("h3", {}, "How it was chosen"), comparedModels(d), replays(d), fidelity(d), coverage(d), ends(d),
      make("h3", {}, "Findings about the model"), findings(d.model?.findings, "None."));
  }
