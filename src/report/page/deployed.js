
  // ---------------------------------------------------------------- on the plant
  //
  // What a deployment promised, what it earned, and what to do next: status.json of its folder, beside
  // the study that it was made from (rehearse report STUDY --deployment FOLDER).

  const ALARM = {
    promise: "it earns less than was promised", failures: "it fails more often than was promised", worse: "it earns less than it did before",
    changed: "the plant does something else than before", range: "sensors leave what the log has seen", guard: "the guard acts too often",
    diverged: "the agent diverged and went back to its last state", disk: "log or state cannot be written", silence: "no message comes in",
    limit: "a limit of the study is not kept",
  };

  // A word that the shell takes as it is.
  const quoted = (x) => (/^[\w@%+=:,./-]+$/.test(x) ? x : `'${String(x).replaceAll("'", "'\\''")}'`);

  // The study's command with a further log, into another folder. A command that names a study has no log: its
  // study.yaml is changed.
  function joined(d, folder) {
    const path = String(d.log?.path ?? "plant.csv"), log = quoted(`${folder}/log.csv`), command = `${d.command ?? ""} `;
    if (command.includes(` ${quoted(path)} `))
      return command.replace(` ${quoted(path)} `, () => ` ${quoted(path)} ${log} `).replace(/ (--output=|-o )\S+/, "") + "--output=next.study";
    const data = JSON.stringify([...path.split("\n"), `${folder}/log.csv`]).replaceAll("\\", "\\\\").replaceAll("&", "\\&").replaceAll("|", "\\|");
    return `sed ${quoted(`s|^data:.*|data: ${data}|`)} ${quoted(`${d.study ?? "plant.study"}/study.yaml`)} > next.yaml && rehearse tune next.yaml --output=next.study`;
  }

  function nextSteps(d, folder, s, alarms) {
    const has = (...kinds) => kinds.some((k) => alarms.includes(k));
    const best = quoted(`${d.study ?? "plant.study"}/best.yaml`), where = quoted(folder);
    const again = copyable("Tune again, with what was seen since", joined(d, folder), true);
    const trial = (d.tied?.length ?? 0) > 1 && !s.switch ? copyable("Try the tied settings on the plant, the best one stays", `rehearse deploy ${best} -o ${where} --switch 2000`, true) : null;
    const lead = has("changed", "range") ? "The plant is not that of the log any more: models of the old log alone are of no use. Tune again with both logs."
      : has("promise", "failures", "worse", "limit") ? "The plant does not give what the models promised. A tied setting may do better; models that know the new steps promise less wrongly."
      : has("guard") ? "The agent wants what the guard does not allow: forbid it in the study, by ranges of actions or limits."
      : has("disk", "diverged", "silence") ? "This is a fault of the machine or its connections, and not of the promise."
      : s.judged_steps > 0 ? "Nothing speaks against going on. The log of the deployment makes the next study better." : "Too early to say.";
    return [make("h3", {}, "What is next"), make("p", { class: "lead" }, lead), has("promise", "failures", "worse", "limit") ? trial : null, s.steps > 0 ? again : null];
  }

  function deployed(d, given) {
    const s = given?.status;
    if (!s || typeof s !== "object") return null;
    const alarms = (Array.isArray(s.alarms) ? s.alarms : []).map(String), folder = String(given.folder ?? "");
    const per = s.score_per === "episode" ? "per episode" : `per ${plural(s.score_per, "step")}`;
    const tested = (k) => { const t = s.tests?.[k]; return t && known(t.since) ? `since step ${count(t.since)}; false with a probability of at most ${share(t.false)}` : ""; };
    const f = s.failures ?? {}, failed = (x) => (known(x) ? (f.per === "episode" ? share(x) : `${number(x)} in 1,000 steps`) : "–");
    const arms = list(s.switch?.settings);
    return section("plant", "On the plant",
      table("Promised and earned", [["", ""], ["promised", "right"], ["lower end", "right"], ["on the plant", "right"], ["logged controller", "right"]], [
        [`reward ${per}`, number(s.promised), number(s.promised_lower), number(s.earned), number(d.logged?.score)],
        ["failures", failed(f.all?.rate), known(f.all?.hi95) ? `at most ${failed(f.all.hi95)}` : "–", failed(f.now?.rate), failed(f.logged?.rate)],
        ...list(s.limits).slice(0, 8).map((l) => [`${cut(l.event, 60)}, ${cut(l.unit, 20)}`, "", `at most ${number(l.most)}`, number(l.rate), ""]),
      ]),
      facts([
        ["deployment", named(folder, 80)],
        ["steps", `${count(s.steps)}, learned from ${count(s.learned)}; ${count(s.judged_steps)} with the agent's own actions`],
        ["mode", `${cut(s.mode, 20)}${s.fallback ? "; the fallback acts" : ""}`],
        ["predicted gain over the actions taken", known(s.gain) ? `${number(s.gain)} (${number(s.gain_lower)} to ${number(s.gain_upper)})` : null],
        ["agreement with them", known(s.agreement) ? share(s.agreement) : null],
      ]),
      make("h3", {}, "Alarms"),
      alarms.length ? make("ul", {}, alarms.slice(0, 20).map((k) => make("li", {}, make("b", {}, cut(k, 20)), Object.hasOwn(ALARM, k) ? `: ${ALARM[k]}. ` : ". ", tested(k)))) : make("p", {}, "None."),
      arms.length ? table(`Trial of tied settings: ${count(s.switch.used)} of ${plural(s.switch.steps, "step")}${s.switch.over ? ", over" : ""}`, [["setting"], ["steps", "right"], ["believed to earn", "right"], ["standard error", "right"]],
        arms.slice(0, 8).map((a, k) => [`${k ? `tied ${k}` : "chosen"}${k === s.switch.setting ? (s.switch.over ? ", stays" : ", acts now") : ""}`, count(a.steps), number(a.mean), number(a.error)])) : null,
      nextSteps(d, folder, s, alarms));
  }
