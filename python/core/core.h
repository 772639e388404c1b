// core.h - shared by the files of rehearse._core, the compiled half of the Python package.
//
// 1. nanobind and not cffi: the wheel needs nothing at run time but NumPy, arrays are passed
//    without copies in both directions, and a call costs 0.1 us. The price is a C++ compiler at
//    build time and one wheel per minor version of Python.
// 2. This half only converts: options come as checked Python values, results leave as numbers,
//    arrays, lists and dicts. What users see is written in Python.
// 3. No Python code runs inside a callback of the library. A long call releases the GIL and
//    leaves its news in a Watch; the caller's main thread reads it, draws the progress bar and
//    takes Ctrl-C.

#ifndef REHEARSE_PYTHON_CORE_H
#define REHEARSE_PYTHON_CORE_H

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <rehearse/rehearse.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace nb = nanobind;

// A status of the library that becomes an exception of rehearse._errors.
struct Fault {
    rh_status status;
    std::string text;
};

inline void check(rh_status rc, const rh_error &err)
{
    if (rc)
        throw Fault{rc, err.text};
}

[[noreturn]] inline void refuse(const std::string &text)
{
    throw Fault{RH_EINVAL, text};
}

// ---------------------------------------------------------------------------- arrays

using Doubles = nb::ndarray<nb::numpy, const double, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<nb::numpy, const uint8_t, nb::c_contig, nb::device::cpu>;

// A read-only view of memory that `owner` keeps.
template <class T, class P>
nb::object view(const T *data, std::initializer_list<size_t> shape, const std::shared_ptr<P> &owner)
{
    using Owner = std::shared_ptr<P>;
    if (!data)
        return nb::none();
    nb::capsule keep(new Owner(owner), [](void *p) noexcept { delete static_cast<Owner *>(p); });
    return nb::cast(nb::ndarray<nb::numpy, const T>(data, shape, keep));
}

// A new array that NumPy owns, to be filled.
template <class T> struct Fresh {
    T *data;
    nb::capsule owner;
    explicit Fresh(size_t n)
        : data(new T[n]), owner(data, [](void *p) noexcept { delete[] static_cast<T *>(p); })
    {
    }
    nb::object array(std::initializer_list<size_t> shape) const
    {
        return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
    }
};

nb::object copied(const double *x, size_t n); // None: x is NULL

// ---------------------------------------------------------------------------- the parts

// The news of a long call, and the wish to stop it.
struct Watch {
    std::atomic<bool> stopped{false};
    std::mutex lock;
    int stage = -1; // of rh_stage; RH_STAGE_FIT in a fit
    std::string what;
    double share = 0.0;
    int64_t nrun = 0, nrun_max = 0, nrun_resumed = 0;
    int nsetting = 0, nsetting_max = 0;
    double value = NAN;

    rh_watch hooks(); // for the options of a fit
    void hook(rh_study_options &opt);
    void hook(rh_eval_options &opt);
    nb::dict news();
};

using LogPtr = std::shared_ptr<const rh_log>;
using ModelPtr = std::shared_ptr<const rh_model>;
using EnvPtr = std::shared_ptr<const rh_env>;
using PlanPtr = std::shared_ptr<rh_plan>;

struct Log {
    LogPtr p;
    std::string roles = ""; // how a file was read, as `roles:` of a study file
};

// What inspect() says of a log, for the plan that uses it.
struct Checked {
    std::shared_ptr<rh_log_report> p;
};

struct Model {
    ModelPtr p;
};

struct Env {
    EnvPtr p; // keeps its model
};

struct Plan {
    PlanPtr p;
};

// A value as Python sees it: a number, a whole number or the name of a choice.
nb::object param_value(const rh_param *param, double value);
nb::dict param_table(const rh_param *param);
// Values of parameters as text, over those of `value`.
void set_params(const rh_param *param, int nparam, const char *owner,
                const std::map<std::string, std::string> &given, std::vector<double> &value);
nb::dict task_dict(const rh_task *task);
nb::list findings_list(const rh_findings *findings);
// A result by the table of its fields, with the keys of --json; None for no data. Nullable: log.
nb::object described(const rh_fields *fields, const void *data, const rh_log *log);
nb::object real(double x); // None for NAN

// What write(out) prints.
template <class F> rh_status printed(std::string &text, F write)
{
    char *data = nullptr;
    size_t size = 0;
    FILE *out = open_memstream(&data, &size);
    if (!out)
        throw std::bad_alloc();
    rh_status rc = write(out);
    fclose(out);
    text.assign(data ? data : "", data ? size : 0);
    free(data);
    return rc;
}

void bind_log(nb::module_ &m);
void bind_model(nb::module_ &m);
void bind_env(nb::module_ &m);
void bind_eval(nb::module_ &m);
void bind_study(nb::module_ &m);
void bind_remote(nb::module_ &m);

#endif
