// module.cpp - the module, its exceptions, the lists of kinds, and small conversions.

#include "core.h"

#include <cmath>

nb::object real(double x)
{
    return std::isnan(x) ? nb::object(nb::none()) : nb::object(nb::float_(x));
}

nb::object copied(const double *x, size_t n)
{
    if (!x)
        return nb::none();
    Fresh<double> out(n);
    std::copy(x, x + n, out.data);
    return out.array({n});
}

nb::object param_value(const rh_param *param, double value)
{
    if (param->choice)
        return nb::str(param->choice[(int)value]);
    if (param->whole)
        return nb::int_((int64_t)value);
    return nb::float_(value);
}

nb::dict param_table(const rh_param *param)
{
    nb::dict d;
    d["name"] = param->name;
    d["about"] = param->about;
    d["low"] = param->lo;
    d["high"] = param->hi;
    d["initial"] = param_value(param, param->initial);
    d["log"] = param->scale == RH_LOG;
    d["whole"] = param->whole;
    d["fixed"] = param->fixed;
    d["usual"] = param->usual_lo == param->usual_hi
                     ? nb::object(nb::none())
                     : nb::object(nb::make_tuple(param->usual_lo, param->usual_hi));
    nb::list choices;
    for (int i = 0; param->choice && i <= (int)param->hi; i++)
        choices.append(param->choice[i]);
    d["choices"] = choices;
    return d;
}

nb::dict task_dict(const rh_task *task)
{
    nb::dict d;
    nb::list names;
    for (int i = 0; i < task->nobs; i++)
        names.append(task->obs_name[i]);
    d["sensors"] = names;
    d["low"] = copied(task->obs_lo, (size_t)task->nobs);
    d["high"] = copied(task->obs_hi, (size_t)task->nobs);
    d["actions"] = task->naction;
    d["action_low"] = copied(task->act_lo, task->naction ? 0 : (size_t)task->nact);
    d["action_high"] = copied(task->act_hi, task->naction ? 0 : (size_t)task->nact);
    d["continuing"] = task->continuing;
    d["gamma"] = task->gamma;
    d["steps"] = task->nstep;
    return d;
}

nb::list findings_list(const rh_findings *findings)
{
    nb::list list;
    for (int i = 0; findings && i < findings->n; i++) {
        const rh_finding *f = &findings->item[i];
        nb::dict d;
        d["severity"] = rh_severity_name(f->severity);
        d["id"] = rh_finding_name(f->id);
        d["origin"] = rh_origin_name(f->origin);
        d["accepted"] = f->accepted;
        d["evidence"] = f->evidence;
        d["remedy"] = f->remedy;
        d["count"] = f->count;
        list.append(d);
    }
    return list;
}

nb::object described(const rh_fields *fields, const void *data, const rh_log *log)
{
    if (!data)
        return nb::none();
    rh_names names = log ? rh_log_names(log) : rh_names{};
    std::unique_ptr<char, void (*)(void *)> text(
        rh_describe(RH_DOC_JSON, fields, data, log ? &names : nullptr), rh_free);
    if (!text)
        throw std::bad_alloc();
    return nb::module_::import_("json").attr("loads")(text.get());
}

// {name: {"about": ..., "parameters": [...]}} of all kinds of one sort.
template <class Type> static void add_kind(nb::dict &out, const Type *type)
{
    nb::dict d;
    nb::list params;
    for (int i = 0; i < type->nparam; i++)
        params.append(param_table(&type->param[i]));
    d["about"] = type->about;
    d["parameters"] = params;
    out[type->name] = d;
}

static nb::dict kinds(const std::string &topic)
{
    nb::dict out;
    if (topic == "agents")
        for (int i = 0; i < rh_agent_ntype(); i++)
            add_kind(out, rh_agent_type_at(i));
    else if (topic == "envs")
        for (int i = 0; i < rh_env_ntype(); i++)
            add_kind(out, rh_env_type_at(i));
    else if (topic == "models")
        for (int i = 0; i < rh_model_ntype(); i++)
            add_kind(out, rh_model_type_at(i));
    else if (topic == "methods")
        for (int i = 0; i < rh_search_ntype(); i++)
            add_kind(out, rh_search_type_at(i));
    else if (topic == "representations")
        for (int i = 0; i < rh_repr_ntype(); i++)
            add_kind(out, rh_repr_type_at(i));
    else
        refuse("no list '" + topic + "', expected agents, envs, models, methods or representations");
    return out;
}

static void plugin(const std::string &path)
{
    rh_error err;
    check(rh_plugin_load(path.c_str(), &err), err);
}

static void set_timeout(double seconds)
{
    rh_error err;
    check(rh_plugin_set_timeout(seconds, &err), err);
}

// A Fault is raised as the exception of its status.
static void translate(const std::exception_ptr &p, void *)
{
    static const char *const name[] = {"Error",     "InvalidError", "OutOfMemory",
                                       "FileError", "FormatError",  "Stopped"};
    try {
        std::rethrow_exception(p);
    } catch (const Fault &fault) {
        nb::object type = nb::module_::import_("rehearse._errors").attr(name[fault.status]);
        PyErr_SetString(type.ptr(), fault.text.c_str());
    }
}

NB_MODULE(_core, m)
{
    nb::register_exception_translator(translate);
    m.def("version", [] { return rh_version(); });
    m.def("kinds", kinds);
    m.def("load_plugin", plugin);
    m.def("set_timeout", set_timeout);
    bind_log(m);
    bind_model(m);
    bind_env(m);
    bind_eval(m);
    bind_remote(m);
    bind_study(m);
}
