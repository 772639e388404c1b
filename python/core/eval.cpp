// eval.cpp - runs of one setting of an agent, in environments or the members of a model.

#include "core.h"

// The same runs as `rehearse run`: run first_run + r of member m has its own random streams.
static nb::dict evaluate(const std::vector<Env> &members, const std::string &name,
                         const std::map<std::string, std::string> &setting,
                         const std::map<std::string, int64_t> &options, Watch &watch)
{
    rh_error err;
    const rh_agent_type *agent = rh_plugin_agent(name.c_str(), &err);
    if (!agent)
        throw Fault{RH_EINVAL, err.text};
    std::vector<double> hp((size_t)agent->nparam);
    rh_param_initial(agent->param, agent->nparam, hp.data());
    set_params(agent->param, agent->nparam, agent->name, setting, hp);

    std::vector<rh_env *> env;
    for (const Env &e : members)
        env.push_back(const_cast<rh_env *>(e.p.get()));
    const rh_task *task = rh_env_task(env[0]);
    rh_eval_options opt = rh_eval_defaults(task);
    if (options.count("steps"))
        opt.nstep = options.at("steps");
    opt.nrun = (int)options.at("runs");
    opt.first_run = (uint64_t)options.at("first_run");
    opt.seed = (uint64_t)options.at("seed");
    opt.nthread = (int)options.at("jobs");
    opt.cutoff = options.at("cutoff");
    opt.criterion = (rh_criterion)options.at("criterion");
    opt.ncurve = (int)options.at("curve");
    watch.hook(opt);

    size_t n = members.size() * (size_t)opt.nrun, nrun = (size_t)opt.nrun, ncurve = (size_t)opt.ncurve;
    std::vector<rh_result> result(n);
    Fresh<double> score(n), total(n), curve(n * ncurve);
    rh_status rc;
    {
        nb::gil_scoped_release release;
        rc = rh_eval_runs(env.data(), (int)env.size(), agent, task, 1, hp.data(), &opt, result.data(),
                          ncurve ? curve.data : nullptr, &err);
    }
    check(rc, err);
    nb::list outcome;
    for (size_t i = 0; i < n; i++) {
        if (result[i].outcome == RH_STOPPED)
            throw Fault{RH_ESTOPPED, "evaluate: stopped"};
        score.data[i] = result[i].score;
        total.data[i] = result[i].total;
        outcome.append(rh_outcome_name(result[i].outcome));
    }
    nb::dict d, all;
    for (int i = 0; i < agent->nparam; i++)
        all[agent->param[i].name] = param_value(&agent->param[i], hp[(size_t)i]);
    d["agent"] = agent->name;
    d["hyperparameters"] = all;
    d["steps"] = opt.nstep;
    d["scores"] = score.array({members.size(), nrun});
    d["totals"] = total.array({members.size(), nrun});
    d["outcomes"] = outcome;
    d["curves"] = curve.array({members.size(), nrun, ncurve});
    return d;
}

void bind_eval(nb::module_ &m)
{
    m.def("evaluate", evaluate, nb::arg("members"), nb::arg("agent"), nb::arg("setting"),
          nb::arg("options"), nb::arg("watch"));
}
