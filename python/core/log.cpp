// log.cpp - logs: read, built from arrays, inspected; their columns as NumPy views.

#include "core.h"

#include <cmath>

using Texts = std::map<std::string, std::string>;

// ---------------------------------------------------------------------------- reading

static Log own(rh_log *log, const std::string &roles = "")
{
    return Log{LogPtr(log, [](const rh_log *p) { rh_log_destroy(const_cast<rh_log *>(p)); }), roles};
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
    std::string said;
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
        if (!rc)
            rc = printed(said, [&](FILE *out) { return rh_log_roles_write(roles, log, out, &err); });
        rh_log_roles_destroy(roles);
    }
    check(rc, err);
    return own(log, said);
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

static nb::list texts(const char *const *from, int n)
{
    nb::list out;
    for (int i = 0; from && i < n; i++)
        out.append(from[i]);
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

// ---------------------------------------------------------------------------- parts

static int64_t rh_log_reading::*const count[] = {
    &rh_log_reading::nrow,     &rh_log_reading::nlost,    &rh_log_reading::nincomplete,
    &rh_log_reading::nshort,   &rh_log_reading::nmissing, &rh_log_reading::nfilled,
    &rh_log_reading::nsentinel, &rh_log_reading::ngap,    &rh_log_reading::nreverse,
    &rh_log_reading::reverse_at, &rh_log_reading::nmismatch, &rh_log_reading::lost_at,
    &rh_log_reading::incomplete_at};
static const char *rh_log::*const log_text[] = {&rh_log::reward_name, &rh_log::reward_formula,
                                                &rh_log::failure, &rh_log::derive, &rh_log::path};
static const char *rh_log_reading::*const reading_text[] = {
    &rh_log_reading::format, &rh_log_reading::sentinels, &rh_log_reading::place};

static nb::object maybe(const char *text)
{
    return text ? nb::object(nb::str(text)) : nb::object(nb::none());
}

// All of a log, in the order in which from_parts() takes it; arrays are views.
static nb::tuple parts(const Log &self)
{
    const rh_log *l = self.p.get();
    size_t n = (size_t)l->n, nstate = (size_t)l->nstate, nepisode = (size_t)l->nepisode;
    nb::list counts, words;
    for (auto field : count)
        counts.append(l->reading.*field);
    for (auto field : log_text)
        words.append(maybe(l->*field));
    for (auto field : reading_text)
        words.append(maybe(l->reading.*field));
    return nb::make_tuple(
        view(l->obs, {nstate, (size_t)l->nobs}, self.p), view(l->from, {n}, self.p),
        view(l->to, {n}, self.p), view(l->act, {n, (size_t)l->nact}, self.p),
        view(l->reward, {n}, self.p), view(l->flag, {n}, self.p), view(l->first, {nepisode + 1}, self.p),
        view(l->start, {nepisode}, self.p), view(l->time, {n}, self.p), view(l->line, {nstate}, self.p),
        texts(l->obs_name, l->nobs), texts(l->obs_unit, l->nobs), texts(l->act_name, l->nact),
        texts(l->label, l->naction), texts(l->reading.note, l->reading.nnote), counts, words,
        nb::make_tuple(l->stack, l->reading.sentinels_kept));
}

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

static Log from_parts(Table<double> obs, Array<int32_t> from, Array<int32_t> to, Table<double> act,
                      Array<double> reward, Bytes flag, Array<int64_t> first, Bytes start,
                      std::optional<Array<double>> time, std::optional<Array<int64_t>> line,
                      const std::vector<std::string> &obs_name, const std::vector<std::string> &unit,
                      const std::vector<std::string> &act_name, const std::vector<std::string> &label,
                      const std::vector<std::string> &note, const std::vector<int64_t> &counts,
                      const std::vector<std::optional<std::string>> &words, std::tuple<int, bool> rest)
{
    const size_t nlog = std::size(log_text), nreading = std::size(reading_text);
    std::vector<const char *> names[] = {pointers(obs_name), pointers(unit), pointers(act_name),
                                         pointers(label), pointers(note)};
    rh_log l = {};
    l.n = (int64_t)reward.shape(0);
    l.nstate = (int64_t)obs.shape(0);
    l.nepisode = (int)start.shape(0);
    l.nobs = (int)obs.shape(1);
    l.nact = (int)act.shape(1);
    l.naction = (int)label.size();
    size_t n = (size_t)l.n;
    if (from.shape(0) != n || to.shape(0) != n || act.shape(0) != n || flag.shape(0) != n ||
        first.shape(0) != start.shape(0) + 1 || (time && time->shape(0) != n) ||
        (line && line->shape(0) != obs.shape(0)) || obs_name.size() != obs.shape(1) ||
        unit.size() != obs.shape(1) || act_name.size() != act.shape(1) ||
        counts.size() != std::size(count) || words.size() != nlog + nreading)
        refuse("log: parts of different lengths, expected those of one log");
    l.obs = obs.data();
    l.from = from.data();
    l.to = to.data();
    l.act = act.data();
    l.reward = reward.data();
    l.flag = flag.data();
    l.first = first.data();
    l.start = start.data();
    l.time = time ? time->data() : nullptr;
    l.line = line ? line->data() : nullptr;
    l.obs_name = names[0].data();
    l.obs_unit = names[1].data();
    l.act_name = names[2].data();
    l.label = l.naction ? names[3].data() : nullptr;
    l.reading.note = names[4].data();
    l.reading.nnote = (int)note.size();
    for (size_t i = 0; i < counts.size(); i++)
        l.reading.*count[i] = counts[i];
    for (size_t i = 0; i < words.size(); i++) {
        const char *text = words[i] ? words[i]->c_str() : nullptr;
        if (i < nlog)
            l.*log_text[i] = text;
        else
            l.reading.*reading_text[i - nlog] = text;
    }
    l.stack = std::get<0>(rest);
    l.reading.sentinels_kept = std::get<1>(rest);
    rh_log *log = nullptr;
    rh_error err;
    rh_status rc;
    {
        nb::gil_scoped_release release;
        rc = rh_log_copy(&log, &l, &err);
    }
    check(rc, err);
    return own(log);
}

// ---------------------------------------------------------------------------- facts
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
    m.def("log_from_parts", from_parts, nb::arg("obs"), nb::arg("from_row"), nb::arg("to_row"), nb::arg("act"),
          nb::arg("reward"), nb::arg("flag"), nb::arg("first"), nb::arg("start"), nb::arg("time").none(),
          nb::arg("line").none(), nb::arg("obs_name"), nb::arg("unit"), nb::arg("act_name"), nb::arg("label"),
          nb::arg("note"), nb::arg("counts"), nb::arg("words"), nb::arg("rest"));
    nb::class_<Log>(m, "Log")
        .def_prop_ro("parts", parts)
        .def_ro("roles", &Log::roles)
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
