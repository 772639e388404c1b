
  // ---------------------------------------------------------------- the three questions
  //
  // Is it better than today, how often does it fail, can it be believed: a line each, beside a picture.
  // A study of a version that did not ask them shows what it has.

  const signOf = (level) => [LEVEL[level][0], LEVEL[level][2]];
  const SIGN = { yes: signOf("high"), no: signOf("low"), open: signOf("cannot answer") };

  function question(id, title, [kind, path], words, lines, picture) {
    return make("div", { class: `question ${kind}`, id }, make("div", {}, make("h3", {}, title), make("p", { class: "level" }, icon(path, "icon"), make("span", {}, words)), lines), picture);
  }

  function better(d) {
    const t = d.today, w = d.winner, now = t?.end ?? w, chosen = "chosen agent";
    const row = (who, r, note, look) => ({ who, note, score: r?.score, lo: r?.lo95, hi: r?.hi95, look });
    const today = row("logged controller", d.logged, "today, in the log", "today");
    const picture = dots("compared", `Score ${unit(d)}`, "95 % intervals; farther right is better", t
      ? [row(chosen, t.end, "end of its run", "chosen"), row(chosen, t.learning, "learning included", "chosen"), row("its defaults", t.defaults, "learning included"), today]
      : [row(chosen, w, "learning included", "chosen"), today, row("random actions", d.random, "in the model")]);
    const sure = known(now?.score) && known(d.logged?.score);
    const said = t ? (Object.hasOwn(SIGN, t.better) ? t.better : "open") : !sure || !known(w.lo95) || !known(w.hi95) ? "open" : w.lo95 > d.logged.score ? "yes" : w.hi95 < d.logged.score ? "no" : "open";
    const wide = Math.max(width(now?.lo95, now?.hi95), width(d.logged?.lo95, d.logged?.hi95));
    const why = said !== "open" ? "." : w?.stage === "confirm" ? ": too close to tell." : ", but its score is not confirmed.";
    return question("better", "Is it better than today?", SIGN[said], { yes: "Yes", no: "No", open: "Not known" }[said], [
      make("p", {}, sure ? `It scores ${rounded(now.score, wide)} ${unit(d)}${t ? " at the end of its run" : ""}, the logged controller ${rounded(d.logged.score, wide)}${why}` : "The log does not tell what the logged controller scores."),
      t ? make("p", { class: "quiet" }, cost(d, t)) : null], picture);
  }

  // What learning costs before it pays.
  function cost(d, t) {
    if (known(t.catch_up)) return `Learning has paid for itself after ${plural(t.catch_up, "step")}, in half of the runs.`;
    const run = d.curves?.steps ? `a run of ${plural(d.curves.steps, "step")}` : "a run";
    return known(t.caught_up) ? `Learning does not pay for itself within ${run}${t.caught_up > 0 ? `: it does in ${percent(t.caught_up)} of the runs` : ""}.` : null;
  }

  const OFTEN = { "less often": ["yes", "Less often than the logged controller."], "about as often": ["open", "Not told apart from the logged controller: the intervals overlap."],
    "more often": ["no", "More often than the logged controller."], "far more often": ["no", "Far more often than the logged controller."] };
  const perSteps = (f) => f.per === "1000 steps";
  const rateText = (f, x) => (perSteps(f) ? number(x, 2) : x >= 0.1 ? `${Math.round(100 * x)} %` : share(x));
  const rate = (f, x) => (perSteps(f) ? `${rateText(f, x)} in 1,000 steps` : `${rateText(f, x)} of episodes`);

  function fails(d) {
    const f = d.failures, rule = f?.rule?.words, title = "How often does it fail?";
    if (!f) return null;
    if (!known(f.all?.rate)) return question("fails", title, SIGN.open, "Not known", rule ? make("p", {}, "The log does not show what a failure is: ", named(rule, 200), ".") : null, null);
    const row = (who, r, note, look) => ({ who, note, score: r?.rate, lo: r?.lo95, hi: r?.hi95, look }), chosen = "chosen agent";
    const often = Object.hasOwn(OFTEN, f.often) ? f.often : null;
    return question("fails", title, SIGN[OFTEN[often]?.[0] ?? "open"], [rate(f, f.all.rate), known(f.logged?.rate) ? [" ", make("small", {}, `today ${rateText(f, f.logged.rate)}`)] : null], [
      make("p", {}, OFTEN[often]?.[1] ?? "How often the logged controller fails is not known."),
      rule ? make("p", { class: "quiet" }, "A failure is ", named(rule, 200), ".") : null],
      dots("failing", perSteps(f) ? "Failures in 1,000 steps" : "Episodes that end in a failure", "95 % intervals; farther left is better", [
        row(chosen, f.first, "first tenth of its run", "chosen"), row(chosen, f.all, "all of its run", "chosen"), row(chosen, f.last, "last tenth of its run", "chosen"), row("logged controller", f.logged, "today, in the log", "today")],
        { text: (x) => rateText(f, x), least: 0 }));
  }

  // Errors and warnings of the log, before everything else. Warnings are folded to a line.
  const isAlert = (f) => f.origin === "log" && ["error", "warning"].includes(f.severity);

  function logAlerts(d) {
    const seen = new Set(), ofLog = (d.inspected?.findings ?? []).map((f) => ({ ...f, origin: "log" }));
    const all = [...(d.findings ?? []), ...ofLog].filter((f) => isAlert(f) && !seen.has(f.id + f.evidence) && seen.add(f.id + f.evidence));
    const of = (severity, word) => {
      const some = all.filter((f) => f.severity === severity), said = `The log has ${plural(some.length, word)}`;
      if (!some.length) return null;
      return severity === "error" ? make("div", { class: "alerts error", role: "alert" }, make("p", {}, make("strong", {}, said), ". What follows is built on it."), findings(some))
        : make("details", { class: "alerts warning" }, make("summary", {}, make("strong", {}, said), ": ", some.slice(0, 6).map((f) => cut(f.id, 30)).join(", "), some.length > 6 ? " …" : ""), findings(some));
    };
    return [of("error", "error"), of("warning", "warning")];
  }
