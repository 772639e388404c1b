// truth.c - true scores: every setting of a grid in the simulator, and what is known from them.
//
// A table is a cell like any other. Experiments that choose from the same settings share it.
// Settings that are statistically tied with the best (95 %, paired runs, rh_value__tied()) are
// as good as the best as far as 30 runs can say.

#include "paper_internal.h"

#include "base/base_internal.h"
#include "baseline.h"
#include "eval/eval.h"
#include "numeric/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- the cell

static rh_status measure(const rh_paper *paper, const rh_paper__cell *cell, rh_state *out,
                         rh_error *err)
{
    const rh_paper__problem *problem = cell->problem;
    rh_paper__settings all = {0};
    double *score = NULL;
    rh_status rc = rh_paper__settings_of(&all, paper, problem, err);
    if (rc)
        return rc;
    size_t n = (size_t)all.n, nscore = n * (size_t)rh_paper__ntrue(paper);
    double steps = (double)nscore * (double)rh_paper__nstep(paper, problem->world);
    score = rh_alloc(nscore, sizeof *score);
    rc = score ? rh_paper__deploy(paper, problem->world, all.agent, all.n, all.hp, NULL, score,
                                  err)
               : rh_base__no_memory(err, "paper");
    if (!rc)
        rc = rh_state_put(out, "x", all.x, n * (size_t)rh_paper__nparam(problem), err);
    if (!rc)
        rc = rh_state_put(out, "score", score, nscore, err);
    if (!rc)
        rc = rh_state_put(out, "steps", &steps, 1, err);
    rh_free(score);
    rh_paper__settings_clear(&all);
    return rc;
}

int rh_paper__truth(rh_paper *paper, const rh_paper__problem *problem)
{
    int64_t nstep = (int64_t)rh_paper__nsetting(paper, problem) * rh_paper__ntrue(paper) *
                    rh_paper__nstep(paper, problem->world);
    return rh_paper__add(
        paper,
        (rh_paper__cell){.run = measure,
                         .what = "truth",
                         .problem = problem,
                         .after = -1,
                         .nstep = nstep,
                         .cost = (double)nstep * problem->world->in_env * problem->slower});
}

// ---------------------------------------------------------------------------- looking up

static int find(const rh_paper *paper, const rh_paper__problem *problem)
{
    return rh_paper__find(paper, &(rh_paper__cell){.what = "truth", .problem = problem});
}

int rh_paper__row_of(const rh_paper *paper, const rh_paper__problem *problem, const double *x)
{
    size_t size = 0;
    int nparam = rh_paper__nparam(problem);
    const double *all = rh_paper__array(paper, find(paper, problem), "x", &size);
    for (int i = 0; all && i < (int)size / nparam; i++) {
        bool same = true;
        for (int k = 0; k < nparam; k++)
            same = same && all[i * nparam + k] == x[k];
        if (same)
            return i;
    }
    return -1;
}

static double median_of(const double *x, int n)
{
    double sorted[RH_PAPER__NSETTING];
    memcpy(sorted, x, (size_t)n * sizeof *x);
    return rh_stats__quantile(sorted, n, 0.5);
}

// Whether setting b is statistically tied with a, by runs that share their streams.
static bool is_tied(const double *a, const double *b, int nrun)
{
    rh_result ra[RH_PAPER__NTRUE], rb[RH_PAPER__NTRUE];
    double work[16 * RH_PAPER__NTRUE];
    if (nrun > RH_PAPER__NTRUE || rh_value__nwork(1, nrun) > sizeof work / sizeof *work)
        return false;
    for (int i = 0; i < nrun; i++) {
        ra[i] = (rh_result){.score = a[i], .outcome = RH_FINISHED};
        rb[i] = (rh_result){.score = b[i], .outcome = RH_FINISHED};
    }
    return rh_value__tied((rh_judge){RH_ACROSS_MEAN, RH_POOL_MEAN}, 1, nrun, ra, nrun, rb,
                          work);
}

bool rh_paper__table_of(const rh_paper *paper, const rh_paper__problem *problem,
                        rh_paper__table *table)
{
    size_t size = 0;
    int nrun = rh_paper__ntrue(paper);
    double work[RH_PAPER__NTRUE];
    const double *score = rh_paper__array(paper, find(paper, problem), "score", &size);
    *table = (rh_paper__table){.median = NAN};
    if (!score)
        return false;
    table->n = (int)size / nrun;
    for (int i = 0; i < table->n; i++) {
        rh_summary s = rh_summarise(score + (size_t)i * nrun, nrun, work);
        table->mean[i] = s.mean;
        table->error[i] = s.stderr_;
        if (s.mean > table->mean[table->best])
            table->best = i;
    }
    for (int i = 0; i < table->n; i++)
        table->tied[i] = i == table->best || is_tied(score + (size_t)table->best * nrun,
                                                     score + (size_t)i * nrun, nrun);
    table->median = median_of(table->mean, table->n);
    return true;
}

double rh_paper__true_of(const rh_paper *paper, int cell, const rh_paper__problem *problem)
{
    size_t n = 0;
    double sum = 0.0;
    const double *deployed = rh_paper__array(paper, cell, "deployed", &n);
    const double *chosen = rh_paper__array(paper, cell, "chosen", NULL);
    rh_paper__table table;
    for (size_t i = 0; deployed && i < n; i++)
        sum += deployed[i];
    if (deployed)
        return sum / (double)n;
    int row = chosen ? rh_paper__row_of(paper, problem, chosen) : -1;
    return row >= 0 && rh_paper__table_of(paper, problem, &table) ? table.mean[row] : NAN;
}

// ---------------------------------------------------------------------------- Random

// The authors' draws where the grid has their 54 settings; later logs and other grids have
// their own.
static int drawn(const rh_paper *paper, int log, int nsetting)
{
    int released = nsetting == 54 ? rh_baseline_paper(log) : -1;
    return released >= 0 ? released
                         : rh_baseline_random(nsetting, paper->opt.seed, (uint64_t)log);
}

void rh_paper__random(const rh_paper *paper, const rh_paper__problem *problem, double *y)
{
    rh_paper__table table;
    bool known = rh_paper__table_of(paper, problem, &table);
    for (int i = 0; i < paper->opt.nlog; i++)
        y[i] = known ? table.mean[drawn(paper, i, table.n)] : NAN;
}
