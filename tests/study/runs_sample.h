// runs_sample.h - for tests of threads and ranks: a stage with one small model and a stage with
// two kinds of model, settings, and all their runs as rh_eval_runs() does them.

#ifndef TESTS_RUNS_SAMPLE_H
#define TESTS_RUNS_SAMPLE_H

#include "model/model_sample.h"
#include "study/study_internal.h"

enum { NSETTING = 3, NMEMBER = 2, NRUN = 3, NUNIT = NSETTING * NMEMBER * NRUN, NCURVE = 4 };
enum { NSTAGE = 2, NALL = NSTAGE * NUNIT };

static const rh_stage stages[NSTAGE] = {RH_STAGE_SEARCH, RH_STAGE_CONFIRM};

typedef struct sample {
    rh_log *log;
    rh_model *model[NSTAGE][NMEMBER];
    rh_members members[NSTAGE];
    rh_task task;
    rh_eval_options opt;
    const rh_agent_type *agent;
    double hp[NSETTING * RH_STUDY__NHP]; // (NSETTING x nparam)
    rh_result result[NSTAGE][NUNIT];
    double curve[NSTAGE][NUNIT * NCURVE];
} sample;

// Settings: the default, another step size, another construction.
static inline void choose_settings(sample *s)
{
    int n = s->agent->nparam;
    for (int i = 0; i < NSETTING; i++)
        rh_param_initial(s->agent->param, n, s->hp + i * n);
    s->hp[n] = 0.03;
    s->hp[2 * n + rh_param_find(s->agent->param, n, "tiles")] = 4;
}

// The models of a stage: one of two members, or two of different kinds.
static inline void add_model(sample *s, int stage, int kind, const char *type, int nmember)
{
    rh_error err = {""};
    rh_model_options how = plain_options();
    double param[64];
    const rh_model_type *of = rh_model_find(type, NULL);
    rh_param_initial(of->param, of->nparam, param);
    int epochs = rh_param_find(of->param, of->nparam, "epochs");
    if (epochs >= 0)
        param[epochs] = 2;
    how.param = param;
    how.nmember = nmember;
    how.resample = stage ? RH_RESAMPLE_BOOTSTRAP : RH_RESAMPLE_SUBSET;
    rh_repr *repr = plain_repr(s->log, false);
    rh_model **model = &s->model[stage][kind];
    if (rh_model_fit(model, of, s->log, repr, &how, &err) ||
        rh_members__open(&s->members[stage], *model, &err))
        fail_msg("%s", err.text);
    rh_repr_destroy(repr);
}

static inline void begin_sample(sample *s)
{
    memset(s, 0, sizeof *s);
    s->log = log_by_chance(5, 400, 2, 3);
    s->agent = rh_agent_find("esarsa", NULL);
    add_model(s, 0, 0, "knn", NMEMBER);
    add_model(s, 1, 0, "knn", 1);
    add_model(s, 1, 1, "nn", 1);
    s->task = *rh_env_task(s->members[0].env[0]);
    s->opt = rh_eval_defaults(&s->task);
    s->opt.nstep = 400;
    s->opt.nrun = NRUN;
    s->opt.ncurve = NCURVE;
    s->opt.cutoff = 50;
    s->opt.seed = 3;
    choose_settings(s);
    for (int k = 0; k < NSTAGE; k++) {
        rh_eval_options opt = s->opt;
        opt.replicate = k ? RH_STUDY__FRESH : 0;
        assert_int_equal(rh_eval_runs(s->members[k].env, NMEMBER, s->agent, &s->task, NSETTING,
                                      s->hp, &opt, s->result[k], s->curve[k], NULL),
                         RH_OK);
    }
}

static inline void end_sample(sample *s)
{
    for (int k = 0; k < NSTAGE; k++) {
        rh_members__clear(&s->members[k]);
        for (int m = 0; m < NMEMBER; m++)
            rh_model_destroy(s->model[k][m]);
    }
    rh_log_destroy(s->log);
}

// The i-th of all runs; its setting is its trial.
static inline rh_study__unit unit_of(const sample *s, int i)
{
    rh_study__unit unit = {.stage = stages[i / NUNIT]};
    i %= NUNIT;
    unit.trial = i / NRUN / NMEMBER;
    unit.member = i / NRUN % NMEMBER;
    unit.run = i % NRUN;
    memcpy(unit.hp, s->hp + unit.trial * s->agent->nparam,
           (size_t)s->agent->nparam * sizeof *unit.hp);
    return unit;
}

// Index of a finished run, or -1 if it differs from rh_eval_runs().
static inline int which(const sample *s, const rh_study__done *done)
{
    const rh_study__run *run = &done->run;
    int k = run->stage == RH_STAGE_CONFIRM;
    int i = (run->trial * NMEMBER + run->member) * NRUN + run->run;
    const rh_result *a = &run->result, *b = &s->result[k][i];
    bool same = done->rc == RH_OK && a->score == b->score && a->total == b->total &&
                a->nstep == b->nstep && a->nepisode == b->nepisode &&
                a->nuncovered == b->nuncovered && a->nfailure == b->nfailure &&
                memcmp(&a->last, &b->last, sizeof a->last) == 0 && a->outcome == b->outcome &&
                memcmp(run->curve, s->curve[k] + i * NCURVE, NCURVE * sizeof(double)) == 0;
    return same ? k * NUNIT + i : -1;
}

static sample s; // of this test program

static inline int begin(void **unused)
{
    (void)unused;
    begin_sample(&s);
    return 0;
}

static inline int end(void **unused)
{
    (void)unused;
    end_sample(&s);
    return 0;
}

#endif
