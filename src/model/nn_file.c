// nn_file.c - neural network models in a file: ranges and weights.
//
// 1. Adam's moments would triple the file; training is never resumed, so they are not stored.
// 2. All shapes follow from the model; a range or network of another size is refused. The
//    ranges determine which networks exist.

#include "nn_internal.h"

#include <math.h>
#include <stdio.h>

enum { NAME = 32 };
static const char *const target_name[RH_NN_NNET] = {"state", "reward", "end"};

static const char *label(char *text, int which, const char *what)
{
    snprintf(text, NAME, "%s_%s", target_name[which], what);
    return text;
}

// ---------------------------------------------------------------------------- writing

static void write_span(rh_store *store, const char *name, const rh_nn__span *span)
{
    rh_store__lend(store, name, RH_STATE_F64, span->lo, 2 * (int64_t)span->n);
}

static void write_network(rh_store *store, const char *name, const rh_mlp *mlp)
{
    size_t n = rh_mlp__nparam(mlp);
    double *x = rh_alloc(n, sizeof *x);
    float *w = rh_alloc(n, sizeof *w);
    if (x && w) {
        rh_mlp__get(mlp, RH_MLP_WEIGHTS, x);
        for (size_t i = 0; i < n; i++)
            w[i] = (float)x[i];
        rh_store__put(store, name, RH_STATE_F32, w, (int64_t)n);
    } else {
        rh_store__no_memory(store);
    }
    rh_free(x);
    rh_free(w);
}

void rh_nn__write(const rh_model *model, const void *member, rh_store *store)
{
    (void)model;
    char text[NAME];
    const rh_nn *nn = member;
    write_span(store, "inputs", &nn->input);
    write_span(store, "sensors", &nn->sensor);
    for (int i = 0; i < RH_NN_NNET; i++) {
        write_span(store, label(text, i, "range"), &nn->target[i]);
        if (nn->net[i])
            write_network(store, label(text, i, "weights"), nn->net[i]);
    }
}

// ---------------------------------------------------------------------------- reading

static void read_span(rh_store *store, const char *name, rh_nn__span *span)
{
    double *x = rh_store__take(store, name, RH_STATE_F64, 2 * (int64_t)span->n, NULL);
    if (!x)
        return;
    rh_free(span->lo);
    span->lo = x;
    span->hi = span->lo + span->n;
    for (int i = 0; i < span->n; i++)
        if (!(isfinite(span->lo[i]) && isfinite(span->hi[i]) && span->lo[i] <= span->hi[i]))
            rh_store__refuse(store, name, "range %d is %g to %g", i + 1, span->lo[i],
                             span->hi[i]);
}

// An end is always 0, always 1, or either.
static void check_end(rh_store *store, const char *name, const rh_nn__span *end)
{
    double lo = end->lo[0], hi = end->hi[0];
    if (!((lo == 0.0 && hi == 0.0) || ((lo == 1.0 || lo == -1.0) && hi == 1.0)))
        rh_store__refuse(store, name, "%g to %g, expected 0 to 0, 1 to 1 or -1 to 1", lo, hi);
}

static void read_network(rh_store *store, const char *name, rh_mlp *mlp)
{
    size_t n = rh_mlp__nparam(mlp);
    const float *w = rh_store__look(store, name, RH_STATE_F32, (int64_t)n, NULL);
    if (!w)
        return;
    double *x = rh_alloc(n, sizeof *x);
    if (!x)
        rh_store__no_memory(store);
    for (size_t i = 0; i < n && x && !store->rc; i++) {
        x[i] = (double)w[i];
        if (!isfinite(x[i]))
            rh_store__refuse(store, name, "weight %zu is %g", i + 1, x[i]);
    }
    if (!store->rc)
        rh_mlp__set(mlp, RH_MLP_WEIGHTS, x);
    rh_free(x);
}

void *rh_nn__read(const rh_model *model, rh_store *store)
{
    char text[NAME];
    rh_nn *nn = NULL;
    rh_rng rng = rh_rng_stream(0, RH_STREAM_NOISE, 0, 0); // initial weights are replaced
    store->rc = rh_nn__create(&nn, model, store->err);
    if (store->rc)
        return NULL;
    read_span(store, "inputs", &nn->input);
    read_span(store, "sensors", &nn->sensor);
    for (int i = 0; i < RH_NN_NNET && !store->rc; i++) {
        read_span(store, label(text, i, "range"), &nn->target[i]);
        if (i == RH_NN_OF_END)
            check_end(store, text, &nn->target[i]);
        if (store->rc || !rh_nn__varies(nn, i))
            continue;
        store->rc = rh_nn__network(&nn->net[i], nn, i, (int)model->param[RH_NN_HIDDEN], &rng,
                                   store->err);
        if (!store->rc)
            read_network(store, label(text, i, "weights"), nn->net[i]);
    }
    if (store->rc) {
        rh_nn__destroy(nn);
        nn = NULL;
    }
    return nn;
}
