// file_fidelity.c - the fidelity of a model in its file.
//
// Numbers are stored by the names of their fields.

#include "base/base_internal.h"
#include "fidelity.h"
#include "fields.h"
#include "file.h"

#include <math.h>
#include <string.h>

#define MOST_FINDINGS 1000
#define NNOT_SHOWN 6 // numbers of an rh_not_shown
#define NERROR 3     // numbers of an rh_prediction_error

enum { SEVERITY, COUNT, FIRST, DIM, NNUMBER }; // numbers of a finding
enum { ID, EVIDENCE, REMEDY, NTEXT };          // and texts

// ---------------------------------------------------------------------------- writing

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

// Six numbers of every effect that the log cannot show.
static void write_not_shown(rh_store *store, const rh_experiments *e)
{
    double x[NNOT_SHOWN * RH_NOT_SHOWN_MOST];
    for (int i = 0; i < e->nnot_shown; i++) {
        const rh_not_shown *one = &e->not_shown[i];
        const double row[NNOT_SHOWN] = {one->action, one->sensor,        one->lo,
                                        one->hi,     (double)one->nstep, (double)one->nchoice};
        memcpy(x + (size_t)NNOT_SHOWN * (size_t)i, row, sizeof row);
    }
    rh_store__put(store, "fidelity/not_shown", RH_STATE_F64, x,
                  (int64_t)NNOT_SHOWN * e->nnot_shown);
}

void rh_model_file__write_fidelity(rh_store *store, const rh_fidelity *f, const rh_log *log)
{
    rh_model_file__put_fields(store, "fidelity/field", &rh_model__fidelity, f);
    rh_store__put(store, "fidelity/sensor", RH_STATE_F64, f->sensor, NERROR * log->nobs);
    rh_store__put(store, "fidelity/action", RH_STATE_F64, f->action, NERROR * log->naction);
    write_not_shown(store, &f->experiments);
    write_findings(store, f);
}

// ---------------------------------------------------------------------------- reading

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

static void read_not_shown(rh_store *store, rh_experiments *e, const rh_log *log)
{
    int naction = log->naction ? log->naction : log->nact;
    double x[NNOT_SHOWN * RH_NOT_SHOWN_MOST];
    if (store->rc || e->nnot_shown > RH_NOT_SHOWN_MOST) {
        rh_store__refuse(store, "fidelity/field", "%d effects", e->nnot_shown);
        return;
    }
    rh_store__copy(store, "fidelity/not_shown", RH_STATE_F64,
                   (int64_t)NNOT_SHOWN * e->nnot_shown, x);
    for (int i = 0; i < e->nnot_shown && !store->rc; i++) {
        const double *row = x + (size_t)NNOT_SHOWN * (size_t)i;
        if (!(row[0] >= 0.0 && row[0] < naction && row[1] >= -1.0 && row[1] < log->nobs &&
              row[4] >= 0.0 && row[5] >= 0.0 && row[4] <= (double)log->n && row[5] <= row[4])) {
            rh_store__refuse(store, "fidelity/not_shown", "effect %d is invalid", i);
            return;
        }
        e->not_shown[i] = (rh_not_shown){.action = (int)row[0],
                                         .sensor = (int)row[1],
                                         .lo = row[2],
                                         .hi = row[3],
                                         .nstep = (int64_t)row[4],
                                         .nchoice = (int64_t)row[5]};
    }
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
    rh_model_file__get_fields(store, "fidelity/field", &rh_model__fidelity, f);
    rh_store__copy(store, "fidelity/sensor", RH_STATE_F64, NERROR * log->nobs, f->sensor);
    rh_store__copy(store, "fidelity/action", RH_STATE_F64, NERROR * log->naction, f->action);
    read_not_shown(store, &f->experiments, log);
    read_findings(store, f, log->nobs);
    if (store->rc) {
        rh_fidelity__destroy(f);
        f = NULL;
    }
    return f;
}
