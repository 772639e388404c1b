// nn_train.c - trains a network: Adam on the squared error, shuffled epochs, early stopping.
//
// With y the outputs of a batch of n rows, t the targets and m the numbers of a target:
//
//     loss = sum (y - t)^2 / (n m),   dloss/dy = 2 (y - t) / (n m)
//
// The authors' code gives every row of a batch the mean of (y - t) instead.
//
// 1. Training ends when the held-out error has risen after `patience` consecutive epochs. The
//    weights are then those of the epoch with the lowest error. Without held-out rows, all
//    epochs are trained.
// 2. Networks train side by side in rounds of a few batches. Between rounds the calling thread
//    reports progress and asks whether to stop. Each network has its own random stream, and a
//    round is the same for any number of threads.
// 3. An error that is not finite ends training. That is a failure if no error was finite, or if
//    no rows were held out, so that there is no best epoch to return to.

#include "nn_internal.h"

#include <math.h>
#include <string.h>

enum { ROOM = 128 };
enum { ROUND = 256, ROUND_ROWS = 4096 }; // batches of a round, and their rows: at most

// ---------------------------------------------------------------------------- a learner

rh_status rh_nn__learner_init(rh_nn__learner *l, rh_mlp *mlp, const double *param,
                              const float *x, const float *y, int64_t n, const uint8_t *known,
                              const uint8_t *held, rh_rng rng, rh_error *err)
{
    *l = (rh_nn__learner){.mlp = mlp, .rng = rng, .x = x, .y = y, .least = INFINITY};
    l->size = (int)param[RH_NN_BATCH];
    l->room = l->size > ROOM ? l->size : ROOM;
    l->rate = param[RH_NN_RATE];
    l->epochs = (int)param[RH_NN_EPOCHS];
    l->patience = (int)param[RH_NN_PATIENCE];
    size_t width = (size_t)rh_mlp__ninput(mlp) + 3 * (size_t)rh_mlp__noutput(mlp);
    l->row = rh_alloc((size_t)n, sizeof *l->row);
    l->batch = rh_alloc((size_t)l->room * width, sizeof *l->batch);
    if (!l->row || !l->batch)
        return rh_fail(err, RH_ENOMEM, "nn: out of memory for training");

    // rows to learn from, then the others
    int64_t at = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < n; i++)
            if ((!known || known[i]) && (held[i] != 0) == pass)
                l->row[at++] = (int32_t)i;
        l->ntrain = pass ? l->ntrain : at;
    }
    if (l->ntrain == 0)
        l->ntrain = at;
    l->nheld = at - l->ntrain;
    l->done = at == 0;

    rh_status rc = rh_mlp__pass_create(&l->pass, mlp, l->room, err);
    if (!rc && l->nheld)
        rc = rh_mlp__clone(&l->best, mlp, err);
    return rc;
}

void rh_nn__learner_clear(rh_nn__learner *l)
{
    rh_mlp__destroy(l->mlp);
    rh_mlp__destroy(l->best);
    rh_mlp__pass_destroy(l->pass);
    rh_free(l->row);
    rh_free(l->batch);
    *l = (rh_nn__learner){.mlp = NULL};
}

// ---------------------------------------------------------------------------- epochs

// Evaluate n rows from l->row[first] on. Returns the sum of squared errors; *dy: the
// derivatives of their mean.
static double forward(rh_nn__learner *l, int64_t first, int n, float **dy)
{
    int nin = rh_mlp__ninput(l->mlp), nout = rh_mlp__noutput(l->mlp);
    float *x = l->batch, *target = x + (size_t)l->room * (size_t)nin;
    float *y = target + (size_t)l->room * (size_t)nout;
    *dy = y + (size_t)l->room * (size_t)nout;
    for (int i = 0; i < n; i++) {
        size_t row = (size_t)l->row[first + i], k = (size_t)i;
        memcpy(x + k * (size_t)nin, l->x + row * (size_t)nin, (size_t)nin * sizeof *x);
        memcpy(target + k * (size_t)nout, l->y + row * (size_t)nout,
               (size_t)nout * sizeof *target);
    }
    rh_mlp__forward(l->mlp, l->pass, n, x, y);

    double sum = 0.0;
    float scale = 2.0f / (float)(n * nout);
    for (int i = 0; i < n * nout; i++) {
        float off = y[i] - target[i];
        (*dy)[i] = scale * off;
        sum += (double)off * (double)off;
    }
    return sum;
}

static void shuffle(rh_nn__learner *l)
{
    for (int64_t i = l->ntrain - 1; i > 0; i--) {
        int64_t j = rh_rng_below(&l->rng, (uint32_t)i + 1);
        int32_t row = l->row[i];
        l->row[i] = l->row[j];
        l->row[j] = row;
    }
}

// Mean squared error of the held-out rows or, if there are none, of the last epoch.
static double watched_error(rh_nn__learner *l)
{
    double nout = rh_mlp__noutput(l->mlp);
    if (l->nheld == 0)
        return l->sum / ((double)l->ntrain * nout);
    double sum = 0.0;
    float *dy;
    for (int64_t i = 0; i < l->nheld; i += l->room) {
        int64_t left = l->nheld - i;
        sum += forward(l, l->ntrain + i, left < l->room ? (int)left : l->room, &dy);
    }
    return sum / ((double)l->nheld * nout);
}

// End an epoch and decide whether to stop.
static void judge(rh_nn__learner *l)
{
    double before = l->error;
    l->error = watched_error(l);
    l->nrise = l->nepoch > 0 && l->error > before ? l->nrise + 1 : 0;
    l->nepoch++;
    l->at = 0;
    l->sum = 0.0;
    if (l->error < l->least) {
        l->least = l->error;
        if (l->best)
            rh_mlp__copy(l->best, l->mlp);
    }
    bool enough = l->nheld > 0 && l->nrise >= l->patience;
    l->done = l->nepoch == l->epochs || enough || !isfinite(l->error);
    if (!l->done)
        return;
    l->failed = l->best ? !isfinite(l->least) : !isfinite(l->error);
    if (l->best)
        rh_mlp__copy(l->mlp, l->best);
}

void rh_nn__learn(rh_nn__learner *l, int64_t nbatch)
{
    const rh_mlp__adam adam = {.rate = l->rate, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    for (int64_t i = 0; i < nbatch && !l->done; i++) {
        if (l->at == 0)
            shuffle(l);
        int64_t left = l->ntrain - l->at;
        int n = left < l->size ? (int)left : l->size;
        float *dy;
        l->sum += forward(l, l->at, n, &dy);
        rh_mlp__backward(l->mlp, l->pass, dy);
        rh_mlp__step(l->mlp, &adam);
        l->at += n;
        if (l->at == l->ntrain)
            judge(l);
    }
}

// ---------------------------------------------------------------------------- all of them

static double share_done(const rh_nn__learner *learner, int n)
{
    double made = 0.0, all = 0.0;
    for (int i = 0; i < n; i++) {
        const rh_nn__learner *l = &learner[i];
        double whole = (double)l->ntrain * l->epochs;
        made += l->done ? whole : (double)l->ntrain * l->nepoch + (double)l->at;
        all += whole;
    }
    return all > 0.0 ? made / all : 1.0;
}

// Fewer batches per round if they are large, so that a stop request is noticed soon.
static int64_t round_of(const rh_nn__learner *l)
{
    int64_t n = ROUND_ROWS / l->size;
    return n < 1 ? 1 : n < ROUND ? n : ROUND;
}

rh_status rh_nn__train(rh_nn__learner *learner, int n, int nthread, const rh_watch *watch,
                       rh_error *err)
{
    nthread = nthread < n ? nthread : n > 0 ? n : 1;
    for (double share = 0.0; share < 1.0;) {
        if (watch->stop && watch->stop(watch->context))
            return rh_fail(err, RH_ESTOPPED, "nn: stopped while training");
#pragma omp parallel for schedule(dynamic) num_threads(nthread) if (nthread > 1)
        for (int i = 0; i < n; i++)
            rh_nn__learn(&learner[i], round_of(&learner[i]));
        share = share_done(learner, n);
        if (watch->progress)
            watch->progress(watch->context, "training the networks", share);
    }
    for (int i = 0; i < n; i++)
        if (learner[i].failed)
            return rh_fail(
                err, RH_EINVAL,
                "nn: training diverged with rate = %g, expected a smaller rate for this log",
                learner[i].rate);
    return RH_OK;
}
