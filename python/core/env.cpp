// env.cpp - environments and many copies of one, stepped together.

#include "core.h"

#include <cmath>

void set_params(const rh_param *param, int nparam, const char *owner,
                const std::map<std::string, std::string> &given, std::vector<double> &value)
{
    rh_error err;
    for (const auto &[name, text] : given) {
        int i;
        check(rh_param_lookup(param, nparam, owner, name.c_str(), &i, &err), err);
        check(rh_param_parse(&param[i], owner, text.c_str(), &value[(size_t)i], &err), err);
    }
}

static Env simulator(const std::string &name, const std::map<std::string, std::string> &given)
{
    rh_error err;
    rh_env *env = nullptr;
    const rh_env_type *type = rh_env_find(name.c_str(), &err);
    if (!type)
        throw Fault{RH_EINVAL, err.text};
    std::vector<double> value((size_t)type->nparam);
    rh_param_initial(type->param, type->nparam, value.data());
    set_params(type->param, type->nparam, type->name, given, value);
    check(rh_env_create(&env, type, value.data(), &err), err);
    return Env{EnvPtr(env, [](const rh_env *p) { rh_env_destroy(const_cast<rh_env *>(p)); })};
}

static Env model_env(const Model &model, int member, const std::map<std::string, std::string> &given)
{
    rh_error err;
    rh_env *env = nullptr;
    const rh_model_type *type = rh_model_type_of(model.p.get());
    const double *fitted = rh_model_params(model.p.get());
    int nmember = rh_model_nmember(model.p.get());
    if (member < 0 || member >= nmember)
        refuse("model: member = " + std::to_string(member) + ", expected 0 to " +
               std::to_string(nmember - 1));
    std::vector<double> value(fitted, fitted + type->nparam);
    set_params(type->param, type->nparam, type->name, given, value);
    check(rh_model_env(&env, model.p.get(), member, value.data(), &err), err);
    ModelPtr keep = model.p;
    return Env{EnvPtr(env, [keep](const rh_env *p) { rh_env_destroy(const_cast<rh_env *>(p)); })};
}

// ---------------------------------------------------------------------------- copies

class Copies {
  public:
    Copies(const Env &from, int ncopy, int64_t cutoff) : env(from.p), n((size_t)ncopy)
    {
        rh_error err;
        rh_copies *made = nullptr;
        const rh_task *task = rh_env_task(env.get());
        check(rh_copies_create(&made, env.get(), ncopy, cutoff, &err), err);
        copies.reset(made);
        nobs = (size_t)task->nobs;
        nact = (size_t)task->nact;
        naction = task->naction;
        act.resize(n * nact);
    }

    void seed(int i, uint64_t value)
    {
        if (i < 0 || (size_t)i >= n)
            refuse("copies: copy " + std::to_string(i) + ", expected 0 to " + std::to_string(n - 1));
        rh_copies_seed(copies.get(), i, value);
    }

    // Start those of `which`, or all; obs (n x nobs) is written in place.
    void start(std::optional<Bytes> which,
               nb::ndarray<nb::numpy, double, nb::c_contig, nb::device::cpu> obs)
    {
        if (obs.size() != n * nobs || (which && which->size() != n))
            refuse("copies: arrays of another shape, expected one row per copy");
        const uint8_t *mask = which ? which->data() : nullptr;
        double *to = obs.data();
        nb::gil_scoped_release release;
        rh_copies_start(copies.get(), mask, to);
    }

    // Indices of discrete actions (n).
    nb::tuple step_discrete(nb::ndarray<nb::numpy, const int64_t, nb::c_contig, nb::device::cpu> a)
    {
        if (!naction || a.size() != n)
            refuse("step: " + std::to_string(a.size()) + " actions, expected " + std::to_string(n));
        for (size_t i = 0; i < n; i++) {
            int64_t x = a.data()[i];
            if (x < 0 || x >= naction)
                refuse("step: action " + std::to_string(x) + ", expected 0 to " +
                       std::to_string(naction - 1));
            act[i] = (double)x;
        }
        return step();
    }

    // Vectors of continuous actions (n x nact).
    nb::tuple step_continuous(Doubles a)
    {
        if (naction || a.size() != n * nact)
            refuse("step: " + std::to_string(a.size()) + " numbers, expected " +
                   std::to_string(n * nact));
        const rh_task *task = rh_env_task(env.get());
        for (size_t i = 0; i < n * nact; i++) {
            double lo = task->act_lo[i % nact], hi = task->act_hi[i % nact], x = a.data()[i];
            if (std::isnan(x))
                refuse("step: action nan, expected a number");
            act[i] = x < lo ? lo : x > hi ? hi : x;
        }
        return step();
    }

    nb::object uncovered() const
    {
        Fresh<bool> which(n);
        rh_copies_uncovered(copies.get(), which.data);
        return which.array({n});
    }

  private:
    nb::tuple step()
    {
        Fresh<double> obs(n * nobs), reward(n);
        Fresh<bool> terminal(n), truncated(n);
        {
            nb::gil_scoped_release release;
            rh_copies_step(copies.get(), act.data(), obs.data, reward.data, terminal.data,
                           truncated.data);
        }
        for (size_t i = 0; i < n; i++)
            if (std::isnan(reward.data[i])) {
                const char *reason = rh_copies_reason(copies.get(), (int)i);
                throw Fault{RH_EIO, reason ? reason : "step: the environment's reward is nan"};
            }
        return nb::make_tuple(obs.array({n, nobs}), reward.array({n}), terminal.array({n}),
                              truncated.array({n}));
    }

    struct Destroy {
        void operator()(rh_copies *p) const { rh_copies_destroy(p); }
    };
    EnvPtr env;
    std::unique_ptr<rh_copies, Destroy> copies;
    size_t n, nobs, nact;
    int naction;
    std::vector<double> act; // (n x nact)
};

void bind_env(nb::module_ &m)
{
    m.def("simulator", simulator, nb::arg("name"), nb::arg("options"));
    m.def("model_env", model_env, nb::arg("model"), nb::arg("member"), nb::arg("options"));
    nb::class_<Env>(m, "Env").def_prop_ro("task", [](const Env &e) { return task_dict(rh_env_task(e.p.get())); });
    nb::class_<Copies>(m, "Copies")
        .def(nb::init<const Env &, int, int64_t>(), nb::arg("env"), nb::arg("n"), nb::arg("cutoff"))
        .def("seed", &Copies::seed)
        .def("start", &Copies::start, nb::arg("which").none(), nb::arg("obs"))
        .def("step_discrete", &Copies::step_discrete)
        .def("step_continuous", &Copies::step_continuous)
        .def("uncovered", &Copies::uncovered);
}
