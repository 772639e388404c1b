// folds.c - deals the episodes of a log into folds.
//
// 1. Steps of one episode resemble each other, so folds that shared an episode would be
//    predicted too easily: episodes are dealt whole.
// 2. But a log may be one episode, or nearly. An episode longer than a fold is cut into pieces
//    half that long, which are dealt like episodes.
// 3. In random order, each goes to the fold with the fewest steps.

#include "repr_internal.h"

// Where the pieces begin and which are in use. Unused episodes are pieces too.
static void cut(rh_folds *f, const rh_log *log, const uint8_t *use, int nfold)
{
    int64_t total = 0;
    for (int e = 0; e < log->nepisode; e++)
        if (!use || use[e])
            total += log->first[e + 1] - log->first[e];
    int64_t piece = total / (2 * nfold) > 2 ? total / (2 * nfold) : 2;

    int n = 0;
    for (int e = 0; e < log->nepisode; e++) {
        int64_t length = log->first[e + 1] - log->first[e], parts = 1;
        if ((!use || use[e]) && length > total / nfold)
            parts = (length + piece - 1) / piece;
        for (int64_t i = 0; i < parts; i++) {
            f->fold[n] = !use || use[e] ? 0 : -1;
            f->first[n++] = log->first[e] + length * i / parts;
        }
    }
    f->first[n] = log->n;
    f->log.nepisode = n;
}

// Give each piece in use its fold, in the given order.
static void deal(rh_folds *f, const int *order, int n, int nfold)
{
    int64_t steps[16] = {0};
    f->nfold = n < nfold ? n : nfold;
    for (int i = 0; i < n; i++) {
        int fold = 0;
        for (int k = 1; k < f->nfold; k++)
            if (steps[k] < steps[fold])
                fold = k;
        f->fold[order[i]] = fold;
        steps[fold] += f->first[order[i] + 1] - f->first[order[i]];
    }
}

rh_status rh_folds__deal(rh_folds *out, const rh_log *log, const uint8_t *use, int nfold,
                         rh_rng rng, rh_error *err)
{
    rh_folds f = {.log = *log};
    int *order = NULL;
    rh_status rc = RH_OK;

    // fewer than nfold episodes are cut, into at most 2 nfold pieces and one more each
    size_t room = (size_t)log->nepisode + 3 * (size_t)nfold + 1;
    f.first = rh_alloc(room, sizeof *f.first);
    f.fold = rh_alloc(room, sizeof *f.fold);
    order = rh_alloc(room, sizeof *order);
    if (!f.first || !f.fold || !order) {
        rc = rh_base__no_memory(err, "representation");
        goto done;
    }
    cut(&f, log, use, nfold);
    f.log.first = f.first;
    f.log.episode = f.log.step = NULL;
    f.log.start = NULL;

    // those in use, shuffled
    int n = 0;
    for (int i = 0; i < f.log.nepisode; i++)
        if (f.fold[i] >= 0)
            order[n++] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = (int)rh_rng_below(&rng, (uint32_t)i + 1), other = order[k];
        order[k] = order[i];
        order[i] = other;
    }
    deal(&f, order, n, nfold);
    *out = f;
    f = (rh_folds){.nfold = 0};

done:
    rh_free(order);
    rh_folds__clear(&f);
    return rc;
}

void rh_folds__clear(rh_folds *folds)
{
    rh_free(folds->first);
    rh_free(folds->fold);
    *folds = (rh_folds){.nfold = 0};
}

void rh_folds__use(const rh_folds *folds, int fold, bool inside, uint8_t *use)
{
    for (int i = 0; i < folds->log.nepisode; i++)
        use[i] = folds->fold[i] >= 0 && (folds->fold[i] == fold) == inside;
}
