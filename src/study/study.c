// study.c - a tuning run, from the folder it is kept in to its verdict.
//
// 1. The folder is locked and the plan compared with what its journal says before anything is
//    fitted: a study that cannot be done is refused at once.
// 2. Nothing that depends on threads, ranks or time is in any result. The files that are
//    written at the end hold no dates, so that the same study gives the same bytes.

#include "core.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define COOKIE 0x73747564u
#define MODEL "/study.model"
#define BEST "/best.yaml"
#define RUNS "/runs.csv"
#define TRIED 8       // lives lived to say how long one takes
#define TRY_AT_MOST 2 // seconds for that

double rh_study__now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

rh_judge rh_study__judge(const rh_plan *plan)
{
    return (rh_judge){plan->across, plan->pool};
}

rh_study_options rh_study_defaults(void)
{
    return (rh_study_options){.nthread = 1, .cookie = COOKIE};
}

// ---------------------------------------------------------------------------- taking it up

// folder/name. Owned: the answer; NULL when memory ran out.
static char *path_in(const char *folder, const char *name)
{
    size_t n = strlen(folder) + strlen(name) + 1;
    char *path = rh_alloc(n, 1);
    if (path)
        snprintf(path, n, "%s%s", folder, name);
    return path;
}

// Lock the folder and read its journal.
static rh_status open_folder(rh_study *study, const rh_model *model, rh_error *err)
{
    const char *folder = study->opt.folder;
    study->head = (rh_journal_head){
        .name = study->plan->name ? study->plan->name : "rehearse",
        .log = study->log ? study->log->path : rh_model_log(model)->path,
        .fingerprint =
            study->log ? rh_log_fingerprint(study->log) : rh_model_fingerprint(model),
        .starts = study->starts ? rh_log_fingerprint(study->starts) : 0,
        .plan = study->plan,
        .ncurve = study->plan->ncurve,
    };
    if (!folder)
        return RH_OK;
    study->model_path = path_in(folder, MODEL);
    if (!study->model_path)
        return rh_fail(err, RH_ENOMEM, "study: out of memory");
    return rh_journal__open(&study->journal, folder, &study->head, err);
}

// What is known once there is a model.
static rh_status settle(rh_study *study, rh_error *err)
{
    const rh_plan *plan = study->plan;
    const rh_home *home = &study->home[RH_STAGE_SEARCH];
    study->task = *rh_env_task(home->env[0]);
    rh_status rc =
        rh_plan_eval(plan, &study->task, rh_model_log(home->model), &study->eval, err);
    if (rc)
        return rc;
    study->head.nstep = study->eval.nstep;
    if (study->journal)
        rh_journal__set_steps(study->journal, study->eval.nstep);

    int nmember = home->nmember > plan->confirm_members ? home->nmember : plan->confirm_members;
    int nrun = plan->nrun > plan->confirm_runs ? plan->nrun : plan->confirm_runs;
    study->score = rh_alloc((size_t)nrun, sizeof *study->score);
    study->work = rh_alloc(rh_value_nwork(nmember, nrun), sizeof *study->work);
    if (!study->score || !study->work)
        return rh_fail(err, RH_ENOMEM, "study: out of memory");

    // one agent is born, so that refusals come at once
    rh_agent *agent = NULL;
    rc = rh_agent_create(&agent, plan->agent, &study->task, plan->hp, err);
    rh_agent_destroy(agent);
    return rc;
}

static rh_status make_search(const rh_plan *plan, rh_search **out, rh_error *err)
{
    rh_search_options opt = rh_search_defaults();
    opt.param = plan->method_param;
    opt.budget = plan->trials;
    opt.nrun = plan->nrun;
    opt.batch = plan->batch;
    opt.seed = plan->seed;
    return rh_search_create(out, plan->method, &plan->space, &opt, err);
}

rh_status rh_study_create(rh_study **out, const rh_plan *plan, const rh_log *log,
                          const rh_log *starts, const rh_model *model,
                          const rh_study_options *opt, rh_error *err)
{
    rh_study_options defaults = rh_study_defaults();
    opt = opt ? opt : &defaults;
    if (opt->cookie != COOKIE)
        return rh_fail(err, RH_EINVAL, "study: options must start from rh_study_defaults()");
    if (opt->nthread < 1)
        return rh_fail(err, RH_EINVAL, "study: threads = %d, expected 1 or more", opt->nthread);
    if (plan->agent->nparam > RH_STUDY__NHP)
        return rh_fail(err, RH_EINVAL, "study: %s has %d parameters, expected at most %d",
                       plan->agent->name, plan->agent->nparam, RH_STUDY__NHP);

    rh_study *study = rh_alloc(1, sizeof *study);
    if (!study)
        return rh_fail(err, RH_ENOMEM, "study: out of memory");
    study->plan = plan;
    study->opt = *opt;
    study->log = log;
    study->starts = starts;
    study->begun = study->synced = rh_study__now();
    rh_status rc = make_search(plan, &study->search, err);
    if (!rc && !model) // a folder of a refused study would refuse the mended one
        rc = rh_study__check_fit(study, err);
    if (!rc)
        rc = open_folder(study, model, err);
    if (!rc)
        rc = rh_study__fit(study, model, err);
    if (!rc)
        rc = settle(study, err);
    if (!rc)
        rc = rh_study__restore(study, err);
    if (rc)
        rh_study_destroy(study);
    else
        *out = study;
    return rc;
}

static void forget_verdict(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    rh_free(v->tied);
    rh_free(v->bound);
    rh_free(v->share);
    rh_free(v->total);
    rh_free(v->finding);
    rh_free(study->trial);
    study->trial = NULL;
    *v = (rh_verdict){0};
}

void rh_study_destroy(rh_study *study)
{
    if (!study)
        return;
    rh_fleet__destroy(study->fleet);
    forget_verdict(study);
    rh_study__forget(study);
    rh_search_destroy(study->search);
    rh_journal__close(study->journal);
    for (int i = 0; i < RH_NSTAGE; i++)
        rh_home__clear(&study->home[i]);
    rh_free(study->model_path);
    rh_free(study->score);
    rh_free(study->work);
    rh_free(study);
}

const rh_model *rh_study_model(const rh_study *study)
{
    return study->home[RH_STAGE_SEARCH].model;
}

// ---------------------------------------------------------------------------- what it takes

// Seconds of a life, from a few in settings that would be tried first.
static rh_status time_lives(rh_study *study, double *seconds, rh_error *err)
{
    const rh_plan *plan = study->plan;
    const rh_home *home = &study->home[RH_STAGE_SEARCH];
    rh_search *search = NULL;
    rh_arena *arena = NULL;
    double hp[RH_STUDY__NHP], curve[RH_STUDY__NCURVE];
    const rh_asked *asked;
    rh_life life;
    int nasked, n = 0;

    rh_status rc = make_search(plan, &search, err);
    if (!rc)
        rc = rh_search_ask(search, &asked, &nasked, err);
    if (!rc)
        rc = rh_arena_create(&arena, home->env, home->nmember, plan->agent, &study->task,
                             plan->hp, &study->eval, err);
    double begun = rh_study__now();
    int every = !rc && nasked > TRIED ? nasked / TRIED : 1;
    for (int i = 0; !rc && i < nasked && n < TRIED; i += every) {
        if (n && rh_study__now() - begun > TRY_AT_MOST)
            break;
        rh_plan_hp(plan, rh_search_setting(search, asked[i].setting), hp);
        rc = rh_arena_live(arena, 0, hp, 0, 0, &life, curve, err);
        n++;
    }
    *seconds = n ? (rh_study__now() - begun) / n : NAN;
    rh_arena_destroy(arena);
    rh_search_destroy(search);
    return rc;
}

rh_status rh_study_estimate(rh_study *study, rh_estimate *out, rh_error *err)
{
    const rh_plan *plan = study->plan;
    int64_t nrun;
    *out = (rh_estimate){.how = study->eval};
    rh_search_foresee(study->search, &out->nsetting, &nrun);
    int confirm =
        plan->confirm_settings < out->nsetting ? plan->confirm_settings : out->nsetting;
    out->nconfirm = (int64_t)confirm * plan->confirm_members * plan->confirm_runs;
    out->nlife = nrun * study->home[RH_STAGE_SEARCH].nmember + out->nconfirm;
    rh_status rc = time_lives(study, &out->life, err);
    int nrank = study->opt.ranks ? rh_ranks_count(study->opt.ranks) : 1;
    out->seconds = (double)out->nlife * out->life / study->opt.nthread / nrank;
    return rc;
}

// ---------------------------------------------------------------------------- carrying it out

rh_status rh_study_run(rh_study *study, rh_error *err)
{
    const rh_plan *plan = study->plan;
    rh_status rc = rh_fleet__create(&study->fleet, plan->agent, &study->eval,
                                    study->opt.nthread, study->opt.ranks, err);
    if (!rc)
        rc = rh_fleet__settle(study->fleet, RH_STAGE_SEARCH, &study->home[RH_STAGE_SEARCH],
                              &study->task, plan->hp, err);
    if (!rc)
        rc = rh_study__search(study, err);
    if (!rc && plan->confirm_settings > 0)
        rc = rh_study__confirm(study, err);
    rh_fleet__destroy(study->fleet);
    study->fleet = NULL;
    study->whole = !rc;
    if (rc)
        return rc;
    rc = rh_study_write(study, err);
    const rh_verdict *verdict = rc ? NULL : rh_study_verdict(study);
    if (!rc && !verdict)
        rc = rh_fail(err, RH_ENOMEM, "study: out of memory");
    if (!rc && study->journal)
        rc = rh_journal__conclude(study->journal, verdict, err);
    if (!rc && study->journal)
        rc = rh_journal__sync(study->journal, err);
    return rc;
}

rh_status rh_study_write(rh_study *study, rh_error *err)
{
    if (!study->opt.folder)
        return RH_OK;
    const rh_verdict *verdict = rh_study_verdict(study);
    char *best = path_in(study->opt.folder, BEST), *runs = path_in(study->opt.folder, RUNS);
    rh_status rc = RH_OK;
    if (!verdict || !best || !runs)
        rc = rh_fail(err, RH_ENOMEM, "study: out of memory");
    if (!rc)
        rc = rh_study__write_runs(runs, &study->head, verdict, err);
    if (!rc && verdict->winner >= 0)
        rc = rh_study__write_best(best, &study->head, rh_study_model(study), verdict, err);
    rh_free(best);
    rh_free(runs);
    return rc;
}

const rh_verdict *rh_study_verdict(rh_study *study)
{
    forget_verdict(study);
    if (rh_study__judge_all(study) == RH_OK)
        return &study->verdict;
    forget_verdict(study);
    return NULL;
}
