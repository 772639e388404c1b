// baseline.c - settings selected without a model: at random, and by short runs in the real
// task.
//
// The random baseline is the paper's: a setting of the grid, drawn uniformly for every log. The
// k-percent baseline (Mesbahi et al. 2024) uses the real task for a part of the time that an
// agent will run in it, here for as many steps as the log has, to select a setting.
//
// 1. The steps are divided by sequential halving (Karnin, Koren and Somekh 2013): with
//    R = ceil(log2 n) rounds, each of the n_r settings left has budget / (n_r R) steps in round
//    r, and the better half goes on. An equal split would give each of the paper's 54 settings
//    92 steps of a log of 5,000, less than an episode of an untrained agent takes in Acrobot;
//    halving gives the last two 416.
// 2. Every round starts the agents anew. A score is then that of a run from its first step, as
//    everywhere else, and a caller needs no saved agents.
// 3. Ties are broken at random: in short runs most settings have the same score, and the order
//    of a grid is no reason to prefer one of them. Where a round has no steps for its settings,
//    half of them are dropped at random.
// 4. The score of a setting is that of its last round only. Scores of runs of different lengths
//    cannot be compared.

#include "baseline.h"

#include "base/base.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>

// The paper's plotting code, the same list for all its environments.
static const int paper_draw[] = {34, 4,  43, 30, 24, 32, 40, 11, 20, 30, 3, 16, 53, 45, 0,
                                 21, 43, 23, 44, 50, 9,  41, 37, 37, 11, 2, 26, 33, 18, 20};

enum { NPAPER = sizeof paper_draw / sizeof *paper_draw };

int rh_baseline_random(int nsetting, uint64_t seed, uint64_t draw)
{
    if (nsetting < 1)
        return -1;
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_SEARCH, draw, 0);
    return (int)rh_rng_below(&rng, (uint32_t)nsetting);
}

int rh_baseline_paper(int log)
{
    return log >= 0 && log < NPAPER ? paper_draw[log] : -1;
}

int rh_baseline_rounds(int nsetting, int64_t budget, rh_baseline_round *round)
{
    int nround = 0;
    if (budget < 0)
        return 0;
    for (int n = nsetting; n > 1; n = n / 2 + n % 2)
        round[nround++].nsetting = n;
    for (int r = 0; r < nround; r++)
        round[r].nstep = budget / nround / round[r].nsetting;
    return nround;
}

// A setting of a round.
typedef struct entry {
    double score;
    uint64_t lot; // drawn at random, for ties
    int setting;
} entry;

static int best_first(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->lot > y->lot) - (x->lot < y->lot);
}

// Score the n settings of a round and sort them, the best first.
static rh_status play(entry *item, int n, int64_t nstep, int round, rh_baseline_score score,
                      void *context, int *setting, double *got, rh_rng *rng, rh_error *err)
{
    for (int i = 0; i < n; i++) {
        setting[i] = item[i].setting;
        got[i] = 0.0;
    }
    rh_status rc = nstep ? score(context, setting, n, nstep, round, got, err) : RH_OK;
    if (rc)
        return rc;
    for (int i = 0; i < n; i++) {
        item[i].score = isnan(got[i]) ? -INFINITY : got[i];
        item[i].lot = rh_rng__bits(rng);
    }
    qsort(item, (size_t)n, sizeof *item, best_first);
    return RH_OK;
}

rh_status rh_baseline_select(int nsetting, int64_t budget, uint64_t seed,
                             rh_baseline_score score, void *context, int *chosen, int64_t *used,
                             rh_error *err)
{
    rh_baseline_round round[RH_BASELINE_ROUNDS];
    if (nsetting < 1 || budget < 0)
        return rh_fail(err, RH_EINVAL,
                       "baseline: %d settings and %lld steps, expected 1 or more and 0 or more",
                       nsetting, (long long)budget);
    rh_status rc = RH_OK;
    int64_t spent = 0;
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_SEARCH, 0, 1);
    entry *item = rh_alloc((size_t)nsetting, sizeof *item);
    int *setting = rh_alloc((size_t)nsetting, sizeof *setting);
    double *got = rh_alloc((size_t)nsetting, sizeof *got);
    if (!item || !setting || !got) {
        rc = rh_base__no_memory(err, "baseline");
        goto done;
    }

    for (int i = 0; i < nsetting; i++)
        item[i].setting = i;
    for (int r = 0, n = rh_baseline_rounds(nsetting, budget, round); !rc && r < n; r++) {
        rc = play(item, round[r].nsetting, round[r].nstep, r, score, context, setting, got,
                  &rng, err);
        spent += round[r].nsetting * round[r].nstep;
    }
    if (rc)
        goto done;
    *chosen = item[0].setting;
    if (used)
        *used = spent;

done:
    rh_free(item);
    rh_free(setting);
    rh_free(got);
    return rc;
}
