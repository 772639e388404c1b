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
#define NERROR 3 // numbers of an rh_prediction_error

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

void rh_model_file__write_fidelity(rh_store *store, const rh_fidelity *f, const rh_log *log)
{
    rh_model_file__put_fields(store, "fidelity/field", &rh_model__fidelity, f);
    rh_store__put(store, "fidelity/sensor", RH_STATE_F64, f->sensor, NERROR * log->nobs);
    rh_store__put(store, "fidelity/action", RH_STATE_F64, f->action, NERROR * log->naction);
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
    read_findings(store, f, log->nobs);
    if (store->rc) {
        rh_fidelity__destroy(f);
        f = NULL;
    }
    return f;
}
