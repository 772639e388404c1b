
  // ---------------------------------------------------------------- the three questions
  //
  // Is it better than today, how often does it fail, can it be believed: a line each, beside a picture.
  // The library words the answers ("Yes: the rest."). A study of a version that did not ask shows what
  // it has.

  const signOf = (level) => [LEVEL[level][0], LEVEL[level][2]];
  const SIGN = { yes: signOf("high"), no: signOf("low"), open: signOf("cannot answer") };

  function question(id, title, [kind, path], words, lines, picture) {
    return make("div", { class: `question ${kind}`, id }, make("div", {}, make("h3", {}, title), make("p", { class: "level" }, icon(path, "icon"), make("span", {}, words)), lines), picture);
  }

  // What comes before the colon of an answer, and what comes after it.
  function told(text) {
    const all = String(text ?? "").replace(/(^|[\s(])-(?=\d)/g, "$1−"), [, head, rest] = /^([^:.]{1,60}): (.+)$/s.exec(all) ?? [];
    return head ? [head, rest[0].toUpperCase() + rest.slice(1)] : [null, all];
  }

  function better(d) {
    const t = d.today, w = d.winner, chosen = "chosen agent", [head, rest] = told(t?.text);
    const row = (who, r, note, look) => ({ who, note, score: r?.score, lo: r?.lo95, hi: r?.hi95, look });
    const today = row("logged controller", d.logged, "today, in the log", "today");
    const picture = dots("compared", `Score ${unit(d)}`, "95 % intervals; farther right is better", t
      ? [row(chosen, t.end, "end of its run", "chosen"), row(chosen, t.learning, "learning included", "chosen"), row("its defaults", t.defaults, "learning included"), ...(known(t.clone?.score) ? [row("its clone", t.clone, "the controller, imitated in the models")] : []), today]
      : [row(chosen, w, "learning included", "chosen"), today, row("random actions", d.random, "in the model")]);
    const sure = known(w?.lo95) && known(w?.hi95) && known(d.logged?.score);
    const said = t ? (Object.hasOwn(SIGN, t.better) ? t.better : "open") : sure && w.lo95 > d.logged.score ? "yes" : sure && w.hi95 < d.logged.score ? "no" : "open";
    const doubtful = said === "yes" && OFTEN[d.failures?.often] === "no"; // better, and fails more often
    return question("better", "Is it better than today?", doubtful ? signOf("medium") : SIGN[said], cut(head ?? { yes: "Yes", no: "No", open: "Not known" }[said], 60), rest ? make("p", {}, named(rest, 400)) : null, picture);
  }

  const OFTEN = { "less often": "yes", "about as often": "open", "more often": "no", "far more often": "no" };
  const perSteps = (f) => f.per === "1000 steps";
  const rateText = (f, x) => (perSteps(f) ? number(x, 2) : x >= 0.1 ? `${Math.round(100 * x)} %` : share(x));
  const rate = (f, x) => (perSteps(f) ? `${rateText(f, x)} in 1,000 steps` : `${rateText(f, x)} of episodes`);

  function fails(d) {
    const f = d.failures, rule = f?.rule?.words, title = "How often does it fail?", [head, rest] = told(f?.text);
    if (!f) return null;
    if (!known(f.all?.rate)) return question("fails", title, SIGN.open, cut(head ?? "Not known", 60), rest ? make("p", {}, named(rest, 400)) : null, null);
    const row = (who, r, note, look) => ({ who, note, score: r?.rate, lo: r?.lo95, hi: r?.hi95, look }), chosen = "chosen agent";
    const sign = SIGN[Object.hasOwn(OFTEN, f.often) ? OFTEN[f.often] : "open"];
    return question("fails", title, sign, [rate(f, f.all.rate), known(f.logged?.rate) ? [" ", make("small", {}, `today ${rateText(f, f.logged.rate)}`)] : null], [
      head ? make("p", {}, cut(head, 60), sign === SIGN.open ? ": the intervals overlap." : ".") : null,
      rule ? make("p", { class: "quiet" }, "A failure is ", named(rule, 200), ".") : null],
      dots("failing", perSteps(f) ? "Failures in 1,000 steps" : "Episodes that end in a failure", "95 % intervals; farther left is better", [
        row(chosen, f.first, "first tenth of its run", "chosen"), row(chosen, f.all, "all of its run", "chosen"), row(chosen, f.last, "last tenth of its run", "chosen"), row("logged controller", f.logged, "today, in the log", "today")],
        { text: (x) => rateText(f, x), least: 0 }));
  }

  // Only of a study with limits. The library words the answer.
  function keeps(d) {
    const l = d.limits, [head, rest] = told(l?.text);
    if (!l) return null;
    const said = d.winner ? (/^Yes/.test(l.text ?? "") ? "yes" : "open") : d.finished ? "no" : "open";
    return question("keeps", "Does it keep the limits?", SIGN[said], cut(head ?? { yes: "Yes", no: "No setting keeps them", open: "Not known" }[said], 60), rest ? make("p", {}, named(rest, 800)) : null, null);
  }

  // Errors and warnings of the log, before everything else. Warnings are folded to a line.
  const isAlert = (f) => f.origin === "log" && ["error", "warning"].includes(f.severity);

  function logAlerts(d) {
    const seen = new Set(), ofLog = (d.inspected?.findings ?? []).map((f) => ({ ...f, origin: "log" }));
    const all = [...(d.findings ?? []), ...ofLog].filter((f) => isAlert(f) && !seen.has(f.id + f.evidence) && seen.add(f.id + f.evidence));
    const of = (severity, word) => {
      const some = all.filter((f) => f.severity === severity), said = `The log has ${plural(some.length, word)}`;
      if (!some.length) return null;
      return severity === "error" ? make("div", { class: "alerts error", role: "alert" }, make("p", {}, make("strong", {}, said), some.every((f) => f.accepted) ? ", accepted by name. What follows is built on it." : ". What follows is built on it."), findings(some))
        : make("details", { class: "alerts warning" }, make("summary", {}, make("strong", {}, said), ": ", some.slice(0, 6).map((f) => cut(f.id, 30)).join(", "), some.length > 6 ? " …" : ""), findings(some));
    };
    return [of("error", "error"), of("warning", "warning")];
  }
