// file_fidelity.c - the fidelity of a model in its file.
//
// Numbers are stored by name. One that a file lacks stays as rh_fidelity__create() sets it.

#include "base/base_internal.h"
#include "fidelity.h"
#include "file.h"

#include <math.h>
#include <string.h>

#define MOST_FINDINGS 1000

// A number of rh_fidelity; whole: an int64_t.
typedef struct field {
    const char *name;
    size_t at;
    bool whole;
} field;

#define AT(x) #x, offsetof(rh_fidelity, x)

static const field fields[] = {
    {AT(nheld), true},
    {AT(held_out_of_coverage), false},
    {AT(state.model), false},
    {AT(state.mean), false},
    {AT(state.persistence), false},
    {AT(reward.model), false},
    {AT(reward.mean), false},
    {AT(reward.persistence), false},
    {AT(terminal.model), false},
    {AT(terminal.mean), false},
    {AT(terminal.persistence), false},
    {AT(logged_return.n), true},
    {AT(logged_return.q25), false},
    {AT(logged_return.median), false},
    {AT(logged_return.q75), false},
    {AT(logged_return.mean), false},
    {AT(simulated_return.n), true},
    {AT(simulated_return.q25), false},
    {AT(simulated_return.median), false},
    {AT(simulated_return.q75), false},
    {AT(simulated_return.mean), false},
    {AT(logged_length.n), true},
    {AT(logged_length.q25), false},
    {AT(logged_length.median), false},
    {AT(logged_length.q75), false},
    {AT(logged_length.mean), false},
    {AT(simulated_length.n), true},
    {AT(simulated_length.q25), false},
    {AT(simulated_length.median), false},
    {AT(simulated_length.q75), false},
    {AT(simulated_length.mean), false},
    {AT(logged_truncated), false},
    {AT(simulated_truncated), false},
    {AT(cutoff), true},
    {AT(out_of_coverage), false},
    {AT(reach), false},
    {AT(step), false},
    {AT(stitched), false},
    {AT(jump), false},
    {AT(jump90), false},
    {AT(random_jump), false},
    {AT(random_return), false},
    {AT(random_better), false},
    {AT(logged_better), false},
    {AT(random_steps), false},
};

enum { NFIELD = sizeof fields / sizeof *fields };

// ---------------------------------------------------------------------------- writing

static rh_status write_numbers(rh_store *store, const rh_fidelity *f, rh_error *err)
{
    const char *name[NFIELD + 1];
    double x[NFIELD + 1];
    for (int i = 0; i < NFIELD; i++) {
        const char *from = (const char *)f + fields[i].at;
        int64_t whole;
        name[i] = fields[i].name;
        if (fields[i].whole) {
            memcpy(&whole, from, sizeof whole);
            x[i] = (double)whole;
        } else {
            memcpy(&x[i], from, sizeof *x);
        }
    }
    name[NFIELD] = "nfold";
    x[NFIELD] = f->nfold;
    return rh_model_file__put_named(store, "fidelity/number", name, x, NFIELD + 1, err);
}

// One text of every finding: 0 id, 1 evidence, 2 remedy.
static rh_status write_texts(rh_store *store, const rh_fidelity *f, int which, rh_error *err)
{
    static const char *const name[] = {"fidelity/finding/id", "fidelity/finding/evidence",
                                       "fidelity/finding/remedy"};
    const char **text = rh_alloc((size_t)f->findings.n + 1, sizeof *text);
    if (!text)
        return rh_fail(err, RH_ENOMEM, "%s: cannot write: out of memory",
                       rh_base__path_tail(rh_store__path(store)));
    for (int i = 0; i < f->findings.n; i++) {
        const rh_finding *finding = &f->findings.item[i];
        text[i] = which == 0   ? rh_finding_name(finding->id)
                  : which == 1 ? finding->evidence
                               : finding->remedy;
    }
    rh_status rc = rh_store__put_texts(store, name[which], text, f->findings.n, err);
    rh_free((void *)text);
    return rc;
}

// severity, count, first, column of every finding.
static rh_status write_findings(rh_store *store, const rh_fidelity *f, rh_error *err)
{
    int64_t *x = rh_alloc((size_t)f->findings.n + 1, 4 * sizeof *x);
    if (!x)
        return rh_fail(err, RH_ENOMEM, "%s: cannot write: out of memory",
                       rh_base__path_tail(rh_store__path(store)));
    for (int i = 0; i < f->findings.n; i++) {
        const rh_finding *finding = &f->findings.item[i];
        int64_t *row = x + (size_t)4 * (size_t)i;
        row[0] = finding->severity;
        row[1] = finding->count;
        row[2] = finding->first;
        row[3] = finding->dim;
    }
    rh_status rc = rh_store__put(store, "fidelity/finding/numbers", RH_STORE_I64, x,
                                 4 * (int64_t)f->findings.n, err);
    for (int which = 0; which < 3 && !rc; which++)
        rc = write_texts(store, f, which, err);
    rh_free(x);
    return rc;
}

rh_status rh_model_file__write_fidelity(rh_store *store, const rh_fidelity *f,
                                        const rh_log *log, rh_error *err)
{
    rh_status rc = write_numbers(store, f, err);
    if (!rc) // rows of three doubles
        rc = rh_store__put(store, "fidelity/sensor", RH_STORE_F64, f->sensor,
                           3 * (int64_t)log->nobs, err);
    if (!rc)
        rc = rh_store__put(store, "fidelity/action", RH_STORE_F64, f->action,
                           3 * (int64_t)log->naction, err);
    return rc ? rc : write_findings(store, f, err);
}

// ---------------------------------------------------------------------------- reading

static rh_status read_numbers(rh_store *store, rh_fidelity *f, rh_error *err)
{
    char **name = NULL;
    double *x = NULL;
    int n = 0;
    rh_status rc = rh_model_file__get_named(store, "fidelity/number", &name, &x, &n, err);
    for (int i = 0; i < n && !rc; i++) {
        int k = 0;
        while (k < NFIELD && strcmp(fields[k].name, name[i]) != 0)
            k++;
        bool whole = k < NFIELD ? fields[k].whole : strcmp(name[i], "nfold") == 0;
        if (whole && !(x[i] >= 0.0 && x[i] <= 1e15)) {
            rc = rh_store__refuse(store, "fidelity/number", err, "%.40s = %g", name[i], x[i]);
        } else if (k < NFIELD && whole) {
            memcpy((char *)f + fields[k].at, &(int64_t){(int64_t)x[i]}, sizeof(int64_t));
        } else if (k < NFIELD) {
            memcpy((char *)f + fields[k].at, &x[i], sizeof *x);
        } else if (whole) {
            f->nfold = x[i] < 1e6 ? (int)x[i] : 0;
        }
    }
    rh_free((void *)name);
    rh_free(x);
    return rc;
}

static rh_status read_rows(rh_store *store, const char *name, void *to, int n, rh_error *err)
{
    void *x = NULL;
    rh_status rc = rh_store__get(store, name, RH_STORE_F64, 3 * (int64_t)n, &x, NULL, err);
    if (!rc && n)
        memcpy(to, x, (size_t)n * 3 * sizeof(double));
    rh_free(x);
    return rc;
}

static rh_status read_finding(rh_store *store, rh_fidelity *f, int i, const int64_t x[4],
                              const char *id, const char *evidence, const char *remedy,
                              int nobs, rh_error *err)
{
    rh_finding *finding = &f->findings.item[i];
    if (x[0] < RH_NOTICE || x[0] > RH_ERROR || x[3] < -1 || x[3] >= nobs ||
        !rh_findings__find(id, &finding->id) || strlen(evidence) >= sizeof finding->evidence ||
        strlen(remedy) >= sizeof finding->remedy)
        return rh_store__refuse(store, "fidelity/finding", err, "finding %d is invalid", i);
    finding->severity = (rh_severity)x[0];
    finding->count = x[1];
    finding->first = x[2];
    finding->line = -1;
    finding->dim = (int)x[3];
    memcpy(finding->evidence, evidence, strlen(evidence));
    memcpy(finding->remedy, remedy, strlen(remedy));
    f->findings.count[x[0]]++;
    return RH_OK;
}

static rh_status read_findings(rh_store *store, rh_fidelity *f, int nobs, rh_error *err)
{
    void *x = NULL;
    int64_t got = 0;
    char **id = NULL, **evidence = NULL, **remedy = NULL;
    rh_status rc =
        rh_store__get(store, "fidelity/finding/numbers", RH_STORE_I64, -1, &x, &got, err);
    int n = (int)(got / 4);
    if (!rc && (got % 4 || got / 4 > MOST_FINDINGS))
        rc = rh_store__refuse(store, "fidelity/finding/numbers", err, "%lld numbers",
                              (long long)got);
    if (!rc)
        rc = rh_store__get_texts(store, "fidelity/finding/id", n, &id, err);
    if (!rc)
        rc = rh_store__get_texts(store, "fidelity/finding/evidence", n, &evidence, err);
    if (!rc)
        rc = rh_store__get_texts(store, "fidelity/finding/remedy", n, &remedy, err);
    rh_finding *all = rc ? NULL : rh_alloc((size_t)n + 1, sizeof *all);
    if (!rc && !all)
        rc = rh_base__no_memory(err, rh_base__path_tail(rh_store__path(store)));
    if (all) {
        rh_findings__clear(&f->findings);
        f->findings = (rh_findings){.item = all, .n = n, .room = n + 1};
    }
    for (int i = 0; i < n && !rc; i++)
        rc = read_finding(store, f, i, (int64_t *)x + (size_t)4 * (size_t)i, id[i], evidence[i],
                          remedy[i], nobs, err);
    rh_free(x);
    rh_free((void *)id);
    rh_free((void *)evidence);
    rh_free((void *)remedy);
    return rc;
}

rh_status rh_model_file__read_fidelity(rh_store *store, rh_fidelity **out, const rh_log *log,
                                       rh_error *err)
{
    rh_fidelity *f = NULL;
    rh_status rc = rh_fidelity__create(&f, log->nobs, log->naction, err);
    if (!rc)
        rc = read_numbers(store, f, err);
    if (!rc)
        rc = read_rows(store, "fidelity/sensor", f->sensor, log->nobs, err);
    if (!rc)
        rc = read_rows(store, "fidelity/action", f->action, log->naction, err);
    if (!rc)
        rc = read_findings(store, f, log->nobs, err);
    if (rc)
        rh_fidelity__destroy(f);
    else
        *out = f;
    return rc;
}
