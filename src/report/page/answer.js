
  // ---------------------------------------------------------------- the data of a study

  const STATE = ["not finished", "done", "dropped by the race"];

  // A study with its trials as objects and in the order of their scores.
  function prepare(d) {
    const s = d.settings ?? {}, n = s.setting?.length ?? 0;
    const space = d.space ?? [];
    d.trials = Array.from({ length: n }, (_, i) => ({
      trial: i, setting: s.setting[i], confirm: i >= n - (s.confirmations ?? 0),
      score: s.score[i], lo: s.lo95[i], hi: s.hi95[i], state: STATE[s.state[i]] ?? STATE[0],
      coverage: s.out_of_coverage[i], diverged: s.diverged[i], runs: s.runs[i], steps: s.steps[i],
      x: space.map((_, k) => s.values[k][i]),
    }));
    d.search = d.trials.filter((t) => !t.confirm);
    const better = (a, b) => (known(b.score) - known(a.score)) || (known(a.score) ? b.score - a.score : 0) || a.trial - b.trial;
    d.ranked = [...d.search].sort(better);
    d.confirmed = d.trials.filter((t) => t.confirm).sort(better);
    d.winnerTrial = known(s.winner) ? d.trials[s.winner] ?? null : null;
    d.curveOf = new Map((d.curves?.trial ?? []).map((t, k) => [t, k]));
    d.title = d.name || String(d.study ?? "study").replace(/\/+$/, "").replace(/^.*\//, "").replace(/\.study$/, "") || "study";
    return d;
  }

  const unit = (d) => (d.score_per === "steps" ? `per ${plural(d.score_steps, "step")}` : "per episode");
  const setting = (d, t) => make("span", { class: "chips" }, (d.space ?? []).map((p, k) =>
    make("span", { class: "chip" }, named(p.name, 24), " ", make("b", {}, value(t.x[k])))));

  // ---------------------------------------------------------------- the answer

  function tiedTable(d) {
    const tied = d.tied ?? [];
    if (tied.length < 2) return d.winner ? make("p", { class: "quiet" }, `No other ${d.winnerTrial?.confirm ? "confirmed" : "tried"} setting is statistically tied with it (95 %).`) : null;
    const find = (t) => d.trials.find((u) => u.setting === t.setting && u.confirm === (t.stage === "confirm"));
    return table(`${plural(tied.length, "setting")} statistically tied (95 %), the chosen one first`,
      [["setting"], ...d.space.map((p) => [named(p.name, 20), "right"]), ["score", "right"], ["95 % interval", "right"]],
      tied.slice(0, 12).map((t) => [
        pickButton(find(t), t.setting), ...d.space.map((p) => value(t.parameters?.[p.name])), ...scoreCells(t.score, t.lo95, t.hi95)]));
  }

  // A button that selects a setting.
  const pickButton = (t, label) => (t ? make("button", { type: "button", class: "pick", "data-trial": t.trial, "aria-label": `show the learning curve of setting ${label}`, onclick: () => select(t.trial, true) }, String(label)) : String(label));

  // With further scores: the confirmed settings that no other one beats in all of them.
  function front(d) {
    const also = d.also ?? [], of = d.front ?? [];
    if (!also.length || !of.length) return null;
    return table("Settings that no other one beats in every score", [["setting"], ["agent"], ["reward", "right"], ...also.map((a) => [named(a.formula, 30), "right"])],
      of.map((t) => [`${t.setting}${t.setting === d.winner?.setting ? " (chosen)" : ""}`, named(t.agent, 20), number(t.score), ...t.also.map((a) => number(a.score))]));
  }

  // A clone of the controller won: the controller stays.
  const cloned = (d) => d.agent === "clone" && d.trust?.decision === "keep the controller";

  // Whether the setting is to be deployed, as in trust.c.
  const deploys = (d) => /^deploy/.test(d.trust?.decision ?? "");

  function answer(d) {
    const w = d.winner, t = d.winnerTrial;
    if (!w || !t) {
      const limited = d.finished && known(d.limits?.nearest);
      const none = d.search.length === 0 ? "No setting has finished yet." : limited ? "No setting keeps the limits: nothing to deploy." : d.finished ? "No setting has a finite score: nothing to deploy." : "No setting has a score yet.";
      return section("answer", "The answer", limited ? keeps(d) : null, trust(d), make("p", { class: "lead" }, none), logNext(d), findings((d.findings ?? []).filter((f) => !isAlert(f))));
    }
    const kinds = (w.kinds ?? []).length > 1 ? table("The same setting in every kind of model", [["kind of model"], ["score", "right"], ["95 % interval", "right"]],
      w.kinds.map((k) => [named(k.kind), ...scoreCells(k.score, k.lo95, k.hi95)])) : null;
    const fine = (x) => rounded(x, width(w.lo95, w.hi95));
    const sure = known(w.lo95) && known(w.hi95);
    return section("answer", "The answer", better(d), keeps(d), fails(d), trust(d), front(d),
      make("div", { class: "card" },
        make("p", { class: "label" }, !d.finished ? "Leading so far" : cloned(d) ? "A clone of the controller, not to deploy" : deploys(d) ? "Deploy" : "The best setting found, not to deploy yet", " · ", named(d.agent, 30), ", setting ", String(w.setting)),
        setting(d, t),
        d.today ? null : make("p", { class: "score" }, make("b", {}, fine(w.score)), ` ${unit(d)} in the model`),
        make("p", { class: "quiet" }, d.today ? "" : sure ? `95 % interval ${interval(w.lo95, w.hi95, fine)}. ` : "The 95 % interval is not known. ",
          w.stage === "confirm" ? `Confirmed by ${plural(w.finished_runs, "run")} in ${plural(w.members, "new model")}, each fitted to another part of the log.` : "Not confirmed: the best of many trials overestimates its score.")),
      make("div", { class: "columns" },
        facts([
          ["score of the study", d.today ? `${scoreCells(w.score, w.lo95, w.hi95).join(", 95 % interval ")}` : null],
          ["random actions", known(d.random?.score) ? scoreCells(d.random.score, d.random.lo95, d.random.hi95).join(", 95 % interval ") : null],
          ["its defaults fail", known(d.failures?.defaults?.rate) ? rate(d.failures, d.failures.defaults.rate) : null],
          ["found by the search", known(d.winner_in_search?.score) ? `${number(d.winner_in_search.score)}${d.winner_in_search.score > w.score ? "; the best of many trials overestimates" : ""}` : null],
          ["out of coverage", known(w.out_of_coverage) ? `${share(w.out_of_coverage)} of its steps` : null],
          ["diverged", w.diverged ? plural(w.diverged, "run") : null],
          ["rare failures", d.rare_failures?.runs ? `${plural(d.rare_failures.runs, "run")} scored ${number(d.rare_failures.mean_score)} on average; the median run ${number(d.rare_failures.median_of_all)}` : null],
          ["transfer", d.transfer?.share >= 0.1 ? `agents that learned in a model of half of the log score ${number(d.transfer.same_model)} there and ${number(d.transfer.other_model)} in a model of the other half; the interval allows for the difference` : null],
          ["practice", known(d.transfer?.practice) && known(d.transfer?.practised) ? `scored ${number(d.transfer.practice)} in the models it was in, and ${number(d.transfer.practised)}, frozen, in models of the other part of the log` : null],
          ["clone", d.imitation?.text],
          ["optimism", d.optimism > 0 ? `${number(d.optimism)}, included in the interval` : null],
        ]), kinds),
      logNext(d),
      make("h3", {}, "Findings"),
      findings([...(d.findings ?? []).filter((f) => !isAlert(f)), ...(d.model?.findings ?? []).filter((f) => f.severity !== "notice")], "Nothing was found that speaks against this setting."),
      cloned(d) ? null : [make("h3", {}, "Tied settings"), tiedTable(d)],
      make("h3", {}, "Use it"),
      d.deploy ? copyable(deploys(d) ? "Deploy it" : "Try it beside the controller", d.deploy, true) : null,
      d.next ? copyable("Run it in the model", d.next, true) : null,
      d.best_yaml ? copyable("best.yaml, for rehearse deploy", d.best_yaml, false) : null);
  }
