// file_fidelity.c - the fidelity of a model in its file.
//
// Numbers are stored by name. One that a file lacks stays as rh_fidelity__create() sets it.

#include "base/base_internal.h"
#include "fidelity.h"
#include "file.h"

#include <math.h>
#include <string.h>

#define MOST_FINDINGS 1000
#define NERROR 3 // numbers of an rh_prediction_error

enum { SEVERITY, COUNT, FIRST, DIM, NNUMBER }; // numbers of a finding
enum { ID, EVIDENCE, REMEDY, NTEXT };          // and texts

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

static void write_numbers(rh_store *store, const rh_fidelity *f)
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
    rh_store__put_named(store, "fidelity/number", name, x, NFIELD + 1);
}

// Four numbers and three texts of every finding.
static void write_findings(rh_store *store, const rh_fidelity *f)
{
    size_t n = (size_t)f->findings.n;
    int64_t *x = rh_alloc(n + 1, NNUMBER * sizeof *x);
    const char **text = rh_alloc(n + 1, NTEXT * sizeof *text);
    if (!x || !text)
        rh_store__no_memory(store);
    for (size_t i = 0; i < n && x && text; i++) {
        const rh_finding *finding = &f->findings.item[i];
        const int64_t row[NNUMBER] = {[SEVERITY] = finding->severity,
                                      [COUNT] = finding->count,
                                      [FIRST] = finding->first,
                                      [DIM] = finding->dim};
        memcpy(x + NNUMBER * i, row, sizeof row);
        text[NTEXT * i + ID] = rh_finding_name(finding->id);
        text[NTEXT * i + EVIDENCE] = finding->evidence;
        text[NTEXT * i + REMEDY] = finding->remedy;
    }
    rh_store__put(store, "fidelity/finding/number", RH_STATE_I64, x, NNUMBER * (int64_t)n);
    rh_store__put_texts(store, "fidelity/finding/text", text, NTEXT * f->findings.n);
    rh_free((void *)text);
    rh_free(x);
}

void rh_model_file__write_fidelity(rh_store *store, const rh_fidelity *f, const rh_log *log)
{
    write_numbers(store, f);
    rh_store__put(store, "fidelity/sensor", RH_STATE_F64, f->sensor, NERROR * log->nobs);
    rh_store__put(store, "fidelity/action", RH_STATE_F64, f->action, NERROR * log->naction);
    write_findings(store, f);
}

// ---------------------------------------------------------------------------- reading

static void read_numbers(rh_store *store, rh_fidelity *f)
{
    const double *x = NULL;
    int n = 0;
    const char **name = rh_store__named(store, "fidelity/number", &x, &n);
    for (int i = 0; i < n && name; i++) {
        int k = 0;
        while (k < NFIELD && strcmp(fields[k].name, name[i]) != 0)
            k++;
        bool whole = k < NFIELD ? fields[k].whole : strcmp(name[i], "nfold") == 0;
        if (whole && !(x[i] >= 0.0 && x[i] <= 1e15)) {
            rh_store__refuse(store, "fidelity/number", "%.40s = %g", name[i], x[i]);
        } else if (k < NFIELD && whole) {
            memcpy((char *)f + fields[k].at, &(int64_t){(int64_t)x[i]}, sizeof(int64_t));
        } else if (k < NFIELD) {
            memcpy((char *)f + fields[k].at, &x[i], sizeof *x);
        } else if (whole) {
            f->nfold = x[i] < 1e6 ? (int)x[i] : 0;
        }
    }
    rh_free((void *)name);
}

static void read_finding(rh_store *store, rh_fidelity *f, int i, const int64_t x[NNUMBER],
                         const char *const text[NTEXT], int nobs)
{
    rh_finding *finding = &f->findings.item[i];
    if (x[SEVERITY] < RH_NOTICE || x[SEVERITY] > RH_ERROR || x[DIM] < -1 || x[DIM] >= nobs ||
        !rh_findings__find(text[ID], &finding->id) ||
        strlen(text[EVIDENCE]) >= sizeof finding->evidence ||
        strlen(text[REMEDY]) >= sizeof finding->remedy) {
        rh_store__refuse(store, "fidelity/finding", "finding %d is invalid", i);
        return;
    }
    finding->severity = (rh_severity)x[SEVERITY];
    finding->count = x[COUNT];
    finding->first = x[FIRST];
    finding->line = -1;
    finding->dim = (int)x[DIM];
    finding->origin = RH_OF_MODEL;
    memcpy(finding->evidence, text[EVIDENCE], strlen(text[EVIDENCE]));
    memcpy(finding->remedy, text[REMEDY], strlen(text[REMEDY]));
    f->findings.count[x[SEVERITY]]++;
}

static void read_findings(rh_store *store, rh_fidelity *f, int nobs)
{
    int64_t got = 0;
    const int64_t *x = rh_store__look(store, "fidelity/finding/number", RH_STATE_I64, -1, &got);
    if (x && (got % NNUMBER || got / NNUMBER > MOST_FINDINGS))
        rh_store__refuse(store, "fidelity/finding/number", "%lld numbers", (long long)got);
    int n = (int)(got / NNUMBER);
    const char **text = rh_store__texts(store, "fidelity/finding/text", NTEXT * n, NULL);
    if (!text)
        return;
    rh_finding *all = rh_alloc((size_t)n + 1, sizeof *all);
    if (all) {
        rh_findings__clear(&f->findings);
        f->findings = (rh_findings){.item = all, .n = n, .room = n + 1};
    } else {
        rh_store__no_memory(store);
    }
    for (int i = 0; i < n && !store->rc; i++)
        read_finding(store, f, i, x + (ptrdiff_t)NNUMBER * i, text + (ptrdiff_t)NTEXT * i,
                     nobs);
    rh_free((void *)text);
}

rh_fidelity *rh_model_file__read_fidelity(rh_store *store, const rh_log *log)
{
    rh_fidelity *f = NULL;
    if (store->rc)
        return NULL;
    if (rh_fidelity__create(&f, log->nobs, log->naction, NULL)) {
        rh_store__no_memory(store);
        return NULL;
    }
    read_numbers(store, f);
    rh_store__copy(store, "fidelity/sensor", RH_STATE_F64, NERROR * log->nobs, f->sensor);
    rh_store__copy(store, "fidelity/action", RH_STATE_F64, NERROR * log->naction, f->action);
    read_findings(store, f, log->nobs);
    if (store->rc) {
        rh_fidelity__destroy(f);
        f = NULL;
    }
    return f;
}
