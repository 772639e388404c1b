// study.cpp - plans, fits and studies: started here, watched from Python, results as dicts.

#include "remote.h"

#include <cmath>

// ---------------------------------------------------------------------------- watching

static void fit_progress(void *context, const char *what, double share)
{
    Watch *w = static_cast<Watch *>(context);
    std::lock_guard<std::mutex> hold(w->lock);
    w->stage = RH_STAGE_FIT;
    w->what = what ? what : "";
    w->share = share;
}

static bool wants_stop(void *context)
{
    return static_cast<Watch *>(context)->stopped.load();
}

static void study_progress(void *context, const rh_study_progress *p)
{
    Watch *w = static_cast<Watch *>(context);
    std::lock_guard<std::mutex> hold(w->lock);
    w->stage = p->stage;
    w->what = p->what ? p->what : "";
    w->share = p->fraction;
    w->nrun = p->nrun;
    w->nrun_max = p->nrun_max;
    w->nrun_resumed = p->nrun_resumed;
    w->nsetting = p->nsetting;
    w->nsetting_max = p->nsetting_max;
    w->value = p->value;
}

rh_watch Watch::hooks()
{
    return rh_watch{fit_progress, wants_stop, this};
}

void Watch::hook(rh_study_options &opt)
{
    opt.progress = study_progress;
    opt.stop = wants_stop;
    opt.context = this;
}

void Watch::hook(rh_eval_options &opt)
{
    opt.stop = wants_stop;
    opt.context = this;
}

nb::dict Watch::news()
{
    static const char *const name[] = {"fit", "search", "confirm", "check"};
    std::lock_guard<std::mutex> hold(lock);
    nb::dict d;
    d["stage"] = stage < 0 ? nb::object(nb::none()) : nb::object(nb::str(name[stage]));
    d["what"] = what;
    d["share"] = share;
    d["runs"] = nrun;
    d["runs_max"] = nrun_max;
    d["runs_resumed"] = nrun_resumed;
    d["settings"] = nsetting;
    d["settings_max"] = nsetting_max;
    d["value"] = real(value);
    return d;
}

// ---------------------------------------------------------------------------- plans

static Plan make_plan(const std::string &command)
{
    rh_error err;
    rh_plan *plan = nullptr;
    check(rh_plan_create(&plan, &err), err);
    rh_plan_use(plan, command == "fit" ? RH_PLAN_FIT : RH_PLAN_TUNE);
    return Plan{PlanPtr(plan, rh_plan_destroy)};
}

// The rows of a table: "log", "fit" or "tune".
static nb::list keys(const std::string &table)
{
    static const char *const type[] = {"whole", "real", "text", "file", "flag", "choice", "pairs"};
    bool of_log = table == "log";
    unsigned use = table == "fit" ? RH_PLAN_FIT : RH_PLAN_TUNE;
    nb::list list;
    const rh_key *key;
    for (int i = 0; (key = of_log ? rh_log_key_at(i) : rh_plan_key_at(i)) != nullptr; i++) {
        if (key->fixed || (!of_log && !(key->commands & use))) // fixed: another option of a key
            continue;
        nb::dict d;
        nb::list words;
        for (int k = 0; rh_key_name(key, k); k++)
            words.append(rh_key_name(key, k));
        d["key"] = key->key;
        d["option"] = key->option ? nb::object(nb::str(key->option)) : nb::object(nb::none());
        d["type"] = type[key->type];
        d["words"] = words;
        d["repeats"] = key->repeats;
        d["about"] = key->about;
        d["initial"] = key->initial ? nb::object(nb::str(key->initial)) : nb::object(nb::none());
        list.append(d);
    }
    return list;
}

static nb::dict plan_entries(const Plan &self)
{
    const char *key, *value;
    bool open;
    nb::dict d;
    for (int i = 0; rh_plan_entry(self.p.get(), i, &key, &value, &open); i++)
        d[key] = value;
    return d;
}

static std::string plan_text(const Plan &self)
{
    std::string text;
    rh_error err;
    check(printed(text, [&](FILE *out) { return rh_plan_write(self.p.get(), out, &err); }), err);
    return text;
}

// ---------------------------------------------------------------------------- the log

// Inspect a log; errors that the plan accepts are marked.
static Checked check_log(const Plan &plan, const Log &log)
{
    rh_error err;
    rh_log_report *report = nullptr;
    rh_status rc;
    {
        nb::gil_scoped_release release;
        rc = rh_log_inspect(&report, log.p.get(), &err);
    }
    check(rc, err);
    Checked checked{std::shared_ptr<rh_log_report>(report, rh_log_report_destroy)};
    (void)rh_plan_accept(plan.p.get(), report, &err); // the caller refuses, by all findings
    return checked;
}

// ---------------------------------------------------------------------------- fitting

static Model fit(const Plan &plan, const Log &log, const Log *starts, int nthread, bool fidelity,
                 Watch &watch)
{
    rh_error err;
    rh_model *model = nullptr;
    rh_fit_options opt = rh_fit_defaults();
    opt.starts = starts ? starts->p.get() : nullptr;
    opt.nthread = nthread;
    opt.fidelity = fidelity;
    opt.watch = watch.hooks();
    rh_status rc;
    {
        nb::gil_scoped_release release;
        rc = rh_plan_settle(plan.p.get(), log.p.get(), &err);
        if (!rc)
            rc = rh_plan_check_fit(plan.p.get(), log.p.get(), &opt, &err);
        if (!rc)
            rc = rh_plan_fit(&model, plan.p.get(), log.p.get(), &opt, &err);
    }
    check(rc, err);
    return Model{ModelPtr(model, [](const rh_model *p) { rh_model_destroy(const_cast<rh_model *>(p)); })};
}

// ---------------------------------------------------------------------------- the study

// What --json leaves out of a trial: its runs, as rows of runs.csv, and its learning curve.
static nb::tuple details(const rh_plan *plan, const rh_trial *t)
{
    nb::list runs;
    int ncurve = (int)rh_plan_number(plan, "evaluation.curve");
    for (int m = 0; t->result && m < t->nmember; m++)
        for (int r = 0; r < t->nrun; r++) {
            const rh_result *x = &t->result[m * t->nrun + r];
            if (x->outcome != RH_STOPPED)
                runs.append(nb::make_tuple(m, r, x->score, x->total, x->nstep, x->nepisode,
                                           x->nuncovered, x->nfailure, x->caught_up,
                                           rh_outcome_name(x->outcome)));
        }
    return nb::make_tuple(runs, copied(t->curve, (size_t)ncurve));
}

class Study {
  public:
    Study(const Plan &plan_, const Log *log_, const Log *starts_, const Model *model_)
        : plan(plan_.p), log(log_ ? log_->p : nullptr), starts(starts_ ? starts_->p : nullptr),
          model(model_ ? model_->p : nullptr)
    {
    }
    ~Study() { close(); }

    // Settle the plan and open the folder; fits the model of a new study.
    void open(const std::optional<std::string> &where, int nthread, const Checked &checked, Watch &watch,
              const Remote *remote)
    {
        rh_error err;
        rh_study_options opt = rh_study_defaults();
        folder = where;
        opt.folder = folder ? folder->c_str() : nullptr; // borrowed by the study
        opt.nthread = nthread;
        opt.remote = remote ? &remote->hooks : nullptr; // kept by the caller
        report = checked.p;
        opt.report = report.get();
        watch.hook(opt);
        rh_status rc;
        {
            nb::gil_scoped_release release;
            rc = rh_plan_settle(plan.get(), model ? rh_model_log(model.get()) : log.get(), &err);
            if (!rc)
                rc = rh_study_create(&study, plan.get(), model ? nullptr : log.get(), starts.get(),
                                     model.get(), &opt, &err);
        }
        check(rc, err);
    }

    void run()
    {
        rh_error err;
        rh_status rc;
        if (!study)
            refuse("study: closed, expected an open one");
        {
            nb::gil_scoped_release release;
            rc = rh_study_run(study, &err);
        }
        check(rc, err);
    }

    nb::dict estimate()
    {
        rh_error err;
        rh_estimate e;
        rh_status rc;
        if (!study)
            refuse("study: closed, expected an open one");
        {
            nb::gil_scoped_release release;
            rc = rh_study_estimate(study, &e, &err);
        }
        check(rc, err);
        nb::dict d;
        d["settings"] = e.nsetting;
        d["runs"] = e.nrun;
        d["runs_to_confirm"] = e.nconfirm;
        d["steps_per_run"] = e.eval.nstep;
        d["seconds_per_run"] = e.seconds_per_run;
        d["seconds"] = e.seconds;
        return d;
    }

    // The document of `tune --json`, and the details of its trials.
    nb::tuple verdict()
    {
        const rh_verdict *v = study ? rh_study_verdict(study) : nullptr;
        std::unique_ptr<char, void (*)(void *)> text(v ? rh_study_json(study) : nullptr, rh_free);
        if (!text)
            throw std::bad_alloc();
        nb::list all;
        for (int i = 0; i < v->ntrial; i++)
            all.append(details(plan.get(), &v->trial[i]));
        return nb::make_tuple(nb::module_::import_("json").attr("loads")(text.get()), all);
    }

    void close()
    {
        rh_study_destroy(study);
        study = nullptr;
    }

  private:
    PlanPtr plan;
    LogPtr log, starts;
    ModelPtr model;
    std::shared_ptr<rh_log_report> report;
    std::optional<std::string> folder;
    rh_study *study = nullptr;
};

// ---------------------------------------------------------------------------- models

static nb::object fidelity(const Model &self)
{
    return described(rh_fidelity_fields(), rh_model_fidelity(self.p.get()), rh_model_log(self.p.get()));
}

static nb::object comparison(const Model &self)
{
    return described(rh_comparison_fields(), rh_model_compared(self.p.get()), nullptr);
}

static nb::object facts(const Model &self)
{
    return described(rh_facts_fields(), rh_model_facts(self.p.get()), rh_model_log(self.p.get()));
}

static nb::dict model_parameters(const Model &self)
{
    const rh_model_type *type = rh_model_type_of(self.p.get());
    const double *value = rh_model_params(self.p.get());
    nb::dict d;
    for (int i = 0; i < type->nparam; i++)
        d[type->param[i].name] = param_value(&type->param[i], value[i]);
    return d;
}

static Model read_model(const std::string &path)
{
    rh_error err;
    rh_model *model = nullptr;
    rh_status rc;
    {
        nb::gil_scoped_release release;
        rc = rh_model_read(&model, path.c_str(), &err);
    }
    check(rc, err);
    return Model{ModelPtr(model, [](const rh_model *p) { rh_model_destroy(const_cast<rh_model *>(p)); })};
}

static void write_model(const Model &self, const std::string &path)
{
    rh_error err;
    rh_status rc;
    {
        nb::gil_scoped_release release;
        rc = rh_model_write(self.p.get(), path.c_str(), &err);
    }
    check(rc, err);
}

void bind_model(nb::module_ &m)
{
    m.def("read_model", read_model);
    nb::class_<Model>(m, "Model")
        .def_prop_ro("kind", [](const Model &x) { return rh_model_type_of(x.p.get())->name; })
        .def_prop_ro("representation", [](const Model &x) { return rh_repr_type_of(rh_model_repr(x.p.get()))->name; })
        .def_prop_ro("members", [](const Model &x) { return rh_model_nmember(x.p.get()); })
        .def_prop_ro("parameters", model_parameters)
        .def_prop_ro("task", [](const Model &x) { return task_dict(rh_model_task(x.p.get())); })
        .def_prop_ro("log", [](const Model &x) { return Log{LogPtr(x.p, rh_model_log(x.p.get()))}; })
        .def_prop_ro("fidelity", fidelity)
        .def_prop_ro("facts", facts)
        .def_prop_ro("comparison", comparison)
        .def("cutoff", [](const Model &x, int64_t nstep) { return rh_model_cutoff(rh_model_log(x.p.get()), nstep); })
        .def("write", write_model);
}

void bind_study(nb::module_ &m)
{
    m.def("keys", keys);
    m.def("make_plan", make_plan);
    m.def("check_log", check_log);
    nb::class_<Checked>(m, "Checked")
        .def_prop_ro("findings", [](const Checked &x) { return findings_list(&x.p->findings); });
    m.def("fit", fit, nb::arg("plan"), nb::arg("log"), nb::arg("starts").none(), nb::arg("jobs"),
          nb::arg("fidelity"), nb::arg("watch"));
    nb::class_<Watch>(m, "Watch")
        .def(nb::init<>())
        .def("stop", [](Watch &w) { w.stopped = true; })
        .def("news", &Watch::news);
    nb::class_<Plan>(m, "Plan")
        .def("read", [](Plan &self, const std::string &path) {
            rh_error err;
            check(rh_plan_read(self.p.get(), path.c_str(), &err), err);
        })
        .def("set", [](Plan &self, const std::string &key, const std::string &text, const std::string &where) {
            rh_error err;
            check(rh_plan_set(self.p.get(), key.c_str(), text.c_str(), where.c_str(), &err), err);
        })
        .def("try_values", [](Plan &self, const std::string &name, const std::string &text, const std::string &where) {
            rh_error err;
            check(rh_plan_try(self.p.get(), name.c_str(), text.c_str(), where.c_str(), &err), err);
        })
        .def("setting", [](Plan &self, const std::string &path) {
            rh_error err;
            check(rh_plan_setting(self.p.get(), path.c_str(), true, &err), err);
        })
        .def("check", [](Plan &self) {
            rh_error err;
            rh_status rc;
            {
                nb::gil_scoped_release release; // an agent of another program describes itself
                rc = rh_plan_check(self.p.get(), &err);
            }
            check(rc, err);
        })
        .def("get", [](const Plan &self, const std::string &key) -> nb::object {
            const char *text = rh_plan_text(self.p.get(), key.c_str());
            return text ? nb::object(nb::str(text)) : nb::object(nb::none());
        })
        .def_prop_ro("entries", plan_entries)
        .def_prop_ro("text", plan_text);
    nb::class_<Study>(m, "Study")
        .def(nb::init<const Plan &, const Log *, const Log *, const Model *>(), nb::arg("plan"),
             nb::arg("log").none(), nb::arg("starts").none(), nb::arg("model").none())
        .def("open", &Study::open, nb::arg("folder").none(), nb::arg("jobs"), nb::arg("checked"),
             nb::arg("watch"), nb::arg("remote").none() = nb::none())
        .def("run", &Study::run)
        .def("estimate", &Study::estimate)
        .def("verdict", &Study::verdict)
        .def("close", &Study::close);
}
