// log.cpp - logs: read, built from arrays, inspected; their columns as NumPy views.

#include "core.h"

#include <cmath>

using Texts = std::map<std::string, std::string>;

// ---------------------------------------------------------------------------- reading

static Log own(rh_log *log)
{
    return Log{LogPtr(log, [](const rh_log *p) { rh_log_destroy(const_cast<rh_log *>(p)); })};
}

// The log at path, or that a file of roles names; text: further options by their keys.
static Log read_log(const std::optional<std::string> &path, const std::optional<std::string> &file,
                    const Texts &text)
{
    rh_log *log = nullptr;
    rh_log_roles *roles = nullptr;
    rh_error err;
    rh_log_options opt = rh_log_defaults();
    rh_status rc;
    {
        nb::gil_scoped_release release;
        rc = rh_log_roles_create(&roles, &err);
        if (!rc && file)
            rc = rh_log_roles_read(roles, file->c_str(), &err);
        for (const auto &[key, value] : text)
            if (!rc)
                rc = rh_log_roles_set(roles, key.c_str(), value.c_str(), nullptr, &err);
        const char *from = path ? path->c_str() : roles ? rh_log_roles_path(roles) : nullptr;
        if (!rc && !from)
            rc = rh_fail(&err, RH_EINVAL, "%s: no path: in it, expected the log's",
                         file ? file->c_str() : "log");
        if (!rc) {
            rh_log_roles_apply(roles, &opt);
            rc = rh_log_read(&log, from, &opt, &err);
        }
        rh_log_roles_destroy(roles);
    }
    check(rc, err);
    return own(log);
}

// Logs of one plant as one.
static Log join_logs(const std::vector<Log> &logs)
{
    std::vector<const rh_log *> from;
    rh_log *log = nullptr;
    rh_error err;
    rh_status rc;
    for (const Log &one : logs)
        from.push_back(one.p.get());
    {
        nb::gil_scoped_release release;
        rc = rh_log_join(&log, from.data(), (int)from.size(), &err);
    }
    check(rc, err);
    return own(log);
}

static std::vector<const char *> pointers(const std::vector<std::string> &from)
{
    std::vector<const char *> out;
    for (const std::string &s : from)
        out.push_back(s.c_str());
    return out;
}

// Rows of arrays; begins: where episodes begin. kind: rh_action_kind.
static Log from_arrays(Doubles obs, Doubles act, Doubles reward, Bytes terminal, Bytes truncated,
                       Bytes begins, std::optional<Doubles> next, int kind, bool whole,
                       const std::vector<std::string> &obs_name,
                       const std::vector<std::string> &label, const std::string &path)
{
    size_t n = obs.shape(0), nobs = obs.shape(1), nact = act.shape(1);
    std::vector<const char *> names = pointers(obs_name), labels = pointers(label);
    rh_log_shape shape = {};
    shape.nobs = (int)nobs;
    shape.nact = (int)nact;
    shape.action = (rh_action_kind)kind;
    shape.whole = whole;
    shape.obs_name = names.empty() ? nullptr : names.data();
    shape.label = labels.empty() ? nullptr : labels.data();
    shape.nlabel = (int)labels.size();
    shape.declared = !labels.empty();
    shape.path = path.c_str();
    shape.format = "arrays";
    rh_log_builder *builder = nullptr;
    rh_log *log = nullptr;
    rh_error err;
    rh_status rc;
    {
        nb::gil_scoped_release release;
        rc = rh_log_builder_create(&builder, &shape, &err);
        for (size_t i = 0; !rc && i < n; i++) {
            rh_log_row row = {};
            row.obs = obs.data() + i * nobs;
            row.act = act.data() + i * nact;
            row.reward = reward.data()[i];
            row.next = next ? next->data() + i * nobs : nullptr;
            row.terminal = terminal.data()[i];
            row.truncated = truncated.data()[i];
            row.begins = begins.data()[i];
            rc = rh_log_push(builder, &row, &err);
        }
        if (!rc)
            rc = rh_log_finish(builder, &log, &err);
        rh_log_builder_destroy(builder);
    }
    check(rc, err);
    return own(log);
}

// ---------------------------------------------------------------------------- facts

static nb::list texts(const char *const *from, int n)
{
    nb::list out;
    for (int i = 0; from && i < n; i++)
        out.append(from[i]);
    return out;
}

static nb::object inspect(const Log &self)
{
    const rh_log *log = self.p.get();
    rh_log_report *report = nullptr;
    rh_error err;
    rh_status rc;
    {
        nb::gil_scoped_release release;
        rc = rh_log_inspect(&report, log, &err);
    }
    check(rc, err);
    std::unique_ptr<rh_log_report, void (*)(rh_log_report *)> keep(report, rh_log_report_destroy);
    return described(rh_log_report_fields(), report, log);
}

static void write_log(const Log &self, const std::string &path, const std::optional<std::string> &format)
{
    rh_error err;
    rh_status rc;
    {
        nb::gil_scoped_release release;
        rc = rh_log_write(self.p.get(), path.c_str(), format ? format->c_str() : nullptr, &err);
    }
    check(rc, err);
}

void bind_log(nb::module_ &m)
{
    m.def("read_log", read_log, nb::arg("path").none(), nb::arg("roles").none(), nb::arg("text"));
    m.def("join_logs", join_logs, nb::arg("logs"));
    m.def("log_from_arrays", from_arrays, nb::arg("obs"), nb::arg("act"), nb::arg("reward"),
          nb::arg("terminal"), nb::arg("truncated"), nb::arg("begins"), nb::arg("next").none(),
          nb::arg("kind"), nb::arg("whole"), nb::arg("obs_name"), nb::arg("label"),
          nb::arg("path"));
    nb::class_<Log>(m, "Log")
        .def_prop_ro("n", [](const Log &l) { return l.p->n; })
        .def_prop_ro("nepisode", [](const Log &l) { return l.p->nepisode; })
        .def_prop_ro("naction", [](const Log &l) { return l.p->naction; })
        .def_prop_ro("path", [](const Log &l) { return l.p->path ? l.p->path : ""; })
        .def_prop_ro("format", [](const Log &l) { return l.p->reading.format ? l.p->reading.format : ""; })
        .def_prop_ro("notes", [](const Log &l) { return texts(l.p->reading.note, l.p->reading.nnote); })
        .def_prop_ro("sensors", [](const Log &l) { return texts(l.p->obs_name, l.p->nobs); })
        .def_prop_ro("units", [](const Log &l) { return texts(l.p->obs_unit, l.p->nobs); })
        .def_prop_ro("action_names", [](const Log &l) { return texts(l.p->act_name, l.p->nact); })
        .def_prop_ro("labels", [](const Log &l) { return texts(l.p->label, l.p->naction); })
        .def_prop_ro("reward_name", [](const Log &l) { return l.p->reward_name ? l.p->reward_name : ""; })
        .def_prop_ro("fingerprint", [](const Log &l) { return rh_log_fingerprint(l.p.get()); })
        .def_prop_ro("states", [](const Log &l) {
            return view(l.p->obs, {(size_t)l.p->nstate, (size_t)l.p->nobs}, l.p);
        })
        .def_prop_ro("from_row", [](const Log &l) { return view(l.p->from, {(size_t)l.p->n}, l.p); })
        .def_prop_ro("to_row", [](const Log &l) { return view(l.p->to, {(size_t)l.p->n}, l.p); })
        .def_prop_ro("actions", [](const Log &l) {
            return view(l.p->act, {(size_t)l.p->n, (size_t)l.p->nact}, l.p);
        })
        .def_prop_ro("rewards", [](const Log &l) { return view(l.p->reward, {(size_t)l.p->n}, l.p); })
        .def_prop_ro("flags", [](const Log &l) { return view(l.p->flag, {(size_t)l.p->n}, l.p); })
        .def_prop_ro("episodes", [](const Log &l) { return view(l.p->episode, {(size_t)l.p->n}, l.p); })
        .def_prop_ro("times", [](const Log &l) { return view(l.p->time, {(size_t)l.p->n}, l.p); })
        .def("inspect", inspect)
        .def("write", write_log, nb::arg("path"), nb::arg("format").none());
}
