// journal_sample.h - a plan by hand, and trials for it, with the doubles most easily lost.

#ifndef JOURNAL_SAMPLE_H
#define JOURNAL_SAMPLE_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "study/journal.h"
#include "study/plan.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define NCURVE 4

static char runs_value[] = "10", trials_value[] = "100", // those that tests change
    odd_value[] = "it's \"\xc3\xa4\", \xff and \x01 and 100 %";
static rh_plan__line sample_line[] = {
    {.key = (char[]){"agent.name"}, .value = (char[]){"esarsa"}},
    {.key = (char[]){"parameters.alpha"}, .value = (char[]){"{min: 0.001, max: 1}"}},
    {.key = (char[]){"evaluation.runs"}, .value = runs_value},
    {.key = (char[]){"search.trials"}, .value = trials_value, .open = true},
    {.key = (char[]){"name"}, .value = odd_value},
};
static rh_plan__book sample_book = {.line = sample_line, .nline = LENGTH(sample_line)};

static const double lambda_list[] = {0.0, 0.5, 0.9, 0.99};
static const double optimiser_list[] = {0, 1};
static const rh_search_type sample_method = {.name = "race", .finite = true};

// alpha: a range on a log scale; tilings: whole; lambda: a list; optimiser: names; tau: steps.
static inline rh_plan sample_plan(void)
{
    static const struct {
        const char *name;
        rh_dim dim;
    } dims[] = {
        {"alpha", {.kind = RH_DIM_RANGE, .scale = RH_LOG, .lo = 1e-3, .hi = 1.0}},
        {"tilings", {.kind = RH_DIM_RANGE, .lo = 1, .hi = 32, .step = 1}},
        {"lambda", {.kind = RH_DIM_LIST, .value = lambda_list, .nvalue = 4}},
        {"optimiser", {.kind = RH_DIM_NAMES, .value = optimiser_list, .nvalue = 2}},
        {"tau", {.kind = RH_DIM_RANGE, .lo = 0.05, .hi = 1.0, .step = 0.1}},
    };
    const rh_agent_type *esarsa = rh_agent_find("esarsa", NULL);
    rh_plan plan = {.agent = esarsa,
                    .agents = {.type = {esarsa}, .n = 1},
                    .method = &sample_method,
                    .ncurve = NCURVE,
                    .book = &sample_book};
    for (size_t i = 0; i < LENGTH(dims); i++) {
        plan.space.dim[i] = dims[i].dim;
        plan.space.dim[i].name = dims[i].name;
        plan.dim[i].param = rh_param_find(plan.agent->param, plan.agent->nparam, dims[i].name);
    }
    plan.space.ndim = LENGTH(dims);
    return plan;
}

static inline rh_journal__head sample_head(const rh_plan *plan)
{
    return (rh_journal__head){.name = "plant",
                              .log = "logs/plant \"1\".csv",
                              .fingerprint = UINT64_C(0x0123456789abcdef),
                              .plan = plan,
                              .ncurve = NCURVE,
                              .nstep = 1001};
}

// A trial to write.
typedef struct planned {
    int setting;
    bool confirm, finished;
    double x[RH_MAX_DIM];
} planned;

static inline planned sample_trial(int i, bool confirm)
{
    return (planned){
        .setting = i,
        .confirm = confirm,
        .x = {0.001 + i / 30.0, 1 + i % 32, lambda_list[i % 4], i % 2, 0.1 * (1 + i % 9)}};
}

static inline rh_study__run sample_run(int trial, int member, int run)
{
    static const double odd[] = {1.0 / 3.0, -0.0,    5e-324, DBL_MAX, -1e22,    123456789.0,
                                 1e15,      -1e-310, 0.1,    -17.25,  INFINITY, -INFINITY};
    int n = LENGTH(odd), i = trial * 31 + member * 7 + run;
    rh_study__run sample = {
        .member = member,
        .run = run,
        .result = {.score = odd[i % n],
                   .total = odd[(i + 5) % n],
                   .nstep = INT64_C(1000000007) * i,
                   .nepisode = i,
                   .nuncovered = i / 2,
                   .nfailure = i / 3,
                   .nfailure_first = i / 5,
                   .nfailure_last = i / 7,
                   .nepisode_first = i / 4,
                   .nepisode_last = i / 6,
                   .last = i % 4 ? odd[(i + 3) % n] : (double)NAN,
                   .caught_up = INT64_C(100003) * (i / 8),
                   .outcome = i % 5 == 0 ? RH_DIVERGED : RH_FINISHED},
    };
    for (int p = 0; p < NCURVE; p++)
        sample.curve[p] = (i + p) % 3 == 0 ? NAN : odd[(i + p) % n] / 7.0;
    return sample;
}

static inline bool same_bits(const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++)
        if (!(isnan(a[i]) && isnan(b[i])) && memcmp(&a[i], &b[i], sizeof *a) != 0)
            return false;
    return true;
}

static inline bool same_run(const rh_study__run *a, const rh_study__run *b)
{
    return a->member == b->member && a->run == b->run &&
           same_bits(&a->result.score, &b->result.score, 1) &&
           same_bits(&a->result.total, &b->result.total, 1) &&
           a->result.nstep == b->result.nstep && a->result.nepisode == b->result.nepisode &&
           a->result.nuncovered == b->result.nuncovered &&
           memcmp(&a->result.nfailure, &b->result.nfailure, 5 * sizeof(int64_t)) == 0 &&
           same_bits(&a->result.last, &b->result.last, 1) &&
           a->result.caught_up == b->result.caught_up &&
           a->result.outcome == b->result.outcome && same_bits(a->curve, b->curve, NCURVE);
}

// A trial as it is finished. run (2 x 3): room for its runs.
static inline rh_trial sample_end(const rh_plan *plan, const planned *trial, double value,
                                  rh_setting_state state, rh_result *result, double *hp)
{
    static const double curve[NCURVE] = {-9.5, NAN, -3.25, -1.0 / 3.0};
    rh_param_initial(plan->agent->param, plan->agent->nparam, hp);
    for (int i = 0; i < plan->space.ndim; i++)
        hp[plan->dim[i].param] = trial->x[i];
    for (int i = 0; i < 6; i++)
        result[i] = sample_run(trial->setting, i / 3, i % 3).result;
    return (rh_trial){.setting = trial->setting,
                      .confirm = trial->confirm,
                      .x = trial->x,
                      .hp = hp,
                      .state = state,
                      .nmember = 2,
                      .nrun = 3,
                      .result = result,
                      .curve = curve,
                      .value = value,
                      .lo95 = value - 1.5,
                      .hi95 = value + 1.5,
                      .out_of_coverage = 0.125,
                      .ndiverged = 1};
}

static inline rh_status begin_trial(rh_journal *journal, const planned *trial, int *number,
                                    rh_error *err)
{
    return rh_journal__begin(journal, trial->setting, trial->confirm, trial->x, number, err);
}

// Begin a trial, add two runs, and with `end` finish it.
static inline rh_status put_trial(rh_journal *journal, const rh_plan *plan,
                                  const planned *trial, bool end, double value,
                                  rh_setting_state state, rh_error *err)
{
    int number = -1;
    rh_result result[6];
    double hp[RH_STUDY__NHP];
    rh_status rc = begin_trial(journal, trial, &number, err);
    for (int run = 0; run < 2 && !rc; run++) {
        rh_study__run l = sample_run(trial->setting, run % 2, run);
        rc = rh_journal__add_run(journal, number, &l, err);
    }
    rh_trial t = sample_end(plan, trial, value, state, result, hp);
    return rc || !end ? rc : rh_journal__finish(journal, number, &t, err);
}

#endif
