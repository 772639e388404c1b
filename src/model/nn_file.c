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

static rh_status write_span(rh_store *store, const char *name, const rh_nn__span *span,
                            rh_error *err)
{
    return rh_store__put(store, name, RH_STORE_F64, span->lo, 2 * (int64_t)span->n, err);
}

static rh_status write_network(rh_store *store, const char *name, const rh_mlp *mlp,
                               rh_error *err)
{
    size_t n = rh_mlp__nparam(mlp);
    double *x = rh_alloc(n, sizeof *x);
    float *w = rh_alloc(n, sizeof *w);
    rh_status rc;
    if (x && w) {
        rh_mlp__get(mlp, RH_MLP_WEIGHTS, x);
        for (size_t i = 0; i < n; i++)
            w[i] = (float)x[i];
        rc = rh_store__put(store, name, RH_STORE_F32, w, (int64_t)n, err);
    } else {
        rc = rh_fail(err, RH_ENOMEM, "nn: out of memory for writing");
    }
    rh_free(x);
    rh_free(w);
    return rc;
}

rh_status rh_nn__write(const rh_model *model, const void *member, rh_store *store,
                       rh_error *err)
{
    (void)model;
    char text[NAME];
    const rh_nn *nn = member;
    rh_status rc = write_span(store, "inputs", &nn->input, err);
    if (!rc)
        rc = write_span(store, "sensors", &nn->sensor, err);
    for (int i = 0; !rc && i < RH_NN_NNET; i++) {
        rc = write_span(store, label(text, i, "range"), &nn->target[i], err);
        if (!rc && nn->net[i])
            rc = write_network(store, label(text, i, "weights"), nn->net[i], err);
    }
    return rc;
}

// ---------------------------------------------------------------------------- reading

static rh_status read_span(rh_store *store, const char *name, rh_nn__span *span, rh_error *err)
{
    void *x = NULL;
    rh_status rc =
        rh_store__get(store, name, RH_STORE_F64, 2 * (int64_t)span->n, &x, NULL, err);
    if (rc)
        return rc;
    rh_free(span->lo);
    span->lo = x;
    span->hi = span->lo + span->n;
    for (int i = 0; i < span->n; i++)
        if (!(isfinite(span->lo[i]) && isfinite(span->hi[i]) && span->lo[i] <= span->hi[i]))
            return rh_store__refuse(store, name, err, "range %d is %g to %g", i + 1,
                                    span->lo[i], span->hi[i]);
    return RH_OK;
}

// An end is always 0, always 1, or either.
static rh_status check_end(const rh_store *store, const char *name, const rh_nn__span *end,
                           rh_error *err)
{
    double lo = end->lo[0], hi = end->hi[0];
    if (lo == 0.0 && hi == 0.0)
        return RH_OK;
    if ((lo == 1.0 || lo == -1.0) && hi == 1.0)
        return RH_OK;
    return rh_store__refuse(store, name, err, "%g to %g, expected 0 to 0, 1 to 1 or -1 to 1",
                            lo, hi);
}

static rh_status read_network(rh_store *store, const char *name, rh_mlp *mlp, rh_error *err)
{
    size_t n = rh_mlp__nparam(mlp);
    void *got = NULL;
    double *x = NULL;
    rh_status rc = rh_store__get(store, name, RH_STORE_F32, (int64_t)n, &got, NULL, err);
    if (rc)
        goto done;
    x = rh_alloc(n, sizeof *x);
    if (!x) {
        rc = rh_fail(err, RH_ENOMEM, "nn: out of memory for reading");
        goto done;
    }
    const float *w = got;
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)w[i];
        if (!isfinite(x[i])) {
            rc = rh_store__refuse(store, name, err, "weight %zu is %g", i + 1, x[i]);
            goto done;
        }
    }
    rh_mlp__set(mlp, RH_MLP_WEIGHTS, x);

done:
    rh_free(x);
    rh_free(got);
    return rc;
}

rh_status rh_nn__read(void **out, const rh_model *model, rh_store *store, rh_error *err)
{
    char text[NAME];
    rh_nn *nn = NULL;
    rh_rng rng = rh_rng_stream(0, RH_STREAM_NOISE, 0, 0); // initial weights are replaced
    rh_status rc = rh_nn__create(&nn, model, err);
    if (rc)
        goto done;
    rc = read_span(store, "inputs", &nn->input, err);
    if (!rc)
        rc = read_span(store, "sensors", &nn->sensor, err);
    for (int i = 0; !rc && i < RH_NN_NNET; i++) {
        label(text, i, "range");
        rc = read_span(store, text, &nn->target[i], err);
        if (!rc && i == RH_NN_OF_END)
            rc = check_end(store, text, &nn->target[i], err);
        if (rc || !rh_nn__varies(nn, i))
            continue;
        rc = rh_nn__network(&nn->net[i], nn, i, (int)model->param[RH_NN_HIDDEN], &rng, err);
        if (!rc)
            rc = read_network(store, label(text, i, "weights"), nn->net[i], err);
    }
    if (rc)
        goto done;
    *out = nn;
    nn = NULL;

done:
    rh_nn__destroy(nn);
    return rc;
}
