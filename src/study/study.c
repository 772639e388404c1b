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
#define MODEL "study.model"
#define BEST "best.yaml"
#define RUNS "runs.csv"
#define TRIED 8       // runs of a thread, run to say how long one takes
#define TRY_AT_MOST 2 // seconds for that, and to see how long the search takes
#define PAUSE 0.05    // seconds between two looks at the caller's stop

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

char *rh_study__path(const char *folder, const char *name)
{
    size_t n = strlen(folder), room = n + strlen(name) + 2;
    char *path = rh_alloc(room, 1);
    if (path)
        snprintf(path, room, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
    return path;
}

// Lock the folder and read its journal.
static rh_status open_folder(rh_study *study, const rh_model *model, rh_error *err)
{
    const char *folder = study->opt.folder;
    study->head = (rh_journal__head){
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
    if (model) { // its log alone does not tell it from another
        rh_members members = {0};
        rh_status rc = rh_members__open(&members, model, err);
        study->head.model = rc ? 0 : rh_members__fingerprint(&members);
        rh_members__clear(&members);
        if (rc)
            return rc;
        if (!study->head.model)
            return rh_fail(err, RH_ENOMEM, "study: out of memory");
    }
    study->model_path = rh_study__path(folder, MODEL);
    if (!study->model_path)
        return rh_fail(err, RH_ENOMEM, "study: out of memory");
    return rh_journal__open(&study->journal, folder, &study->head, err);
}

// What is known once there is a model.
static rh_status settle(rh_study *study, rh_error *err)
{
    const rh_plan *plan = study->plan;
    const rh_members *members = &study->members[RH_STAGE_SEARCH];
    study->task = *rh_env_task(members->env[0]);
    rh_status rc =
        rh_plan_eval(plan, &study->task, rh_model_log(members->model), &study->eval, err);
    if (rc)
        return rc;
    study->head.nstep = study->eval.nstep;
    if (study->journal)
        rh_journal__set_steps(study->journal, study->eval.nstep);

    int nmember =
        members->nmember > plan->confirm_members ? members->nmember : plan->confirm_members;
    int nrun = plan->nrun > plan->confirm_runs ? plan->nrun : plan->confirm_runs;
    study->score = rh_alloc((size_t)nrun, sizeof *study->score);
    study->work = rh_alloc(rh_value_nwork(nmember, nrun), sizeof *study->work);
    study->seen = rh_alloc((size_t)nmember * (size_t)nrun, sizeof *study->seen);
    if (!study->score || !study->work || !study->seen)
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
    double begun = rh_study__now();
    if (!rc)
        rc = rh_study__fit(study, model, err);
    study->fitting = rh_study__now() - begun;
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
    study->judged = false;
}

void rh_study_destroy(rh_study *study)
{
    if (!study)
        return;
    rh_workers__destroy(study->workers);
    forget_verdict(study);
    rh_study__forget(study);
    rh_search_destroy(study->search);
    rh_journal__close(study->journal);
    for (int i = 0; i < RH_NSTAGE; i++)
        rh_members__clear(&study->members[i]);
    rh_free(study->model_path);
    rh_free(study->score);
    rh_free(study->work);
    rh_free(study->seen);
    rh_free(study);
}

const rh_model *rh_study_model(const rh_study *study)
{
    return study->members[RH_STAGE_SEARCH].model;
}

// ---------------------------------------------------------------------------- what it takes

static bool is_stopped(const rh_study *study)
{
    return study->opt.stop && study->opt.stop(study->opt.context);
}

static rh_status stopped(rh_error *err)
{
    return rh_fail(err, RH_ESTOPPED, "study: stopped");
}

// Asked by the threads of a thread pool.
static bool is_late(void *context)
{
    const double *until = context;
    return rh_study__now() > *until;
}

// Runs of settings that would be tried first, by a thread pool.
static rh_status give_some(const rh_study *study, rh_threads *threads, int n, rh_error *err)
{
    rh_search *search = NULL;
    const rh_asked *asked = NULL;
    int nasked = 0;
    rh_status rc = make_search(study->plan, &search, err);
    if (!rc)
        rc = rh_search_ask(search, &asked, &nasked, err);
    for (int i = 0; i < n && !rc; i++) {
        rh_study__unit unit = {.trial = i, .stage = RH_STAGE_SEARCH, .run = i};
        int64_t which = n < nasked ? (int64_t)i * nasked / n : i % nasked;
        rh_plan_hp(study->plan, rh_search_setting(search, asked[which].setting), unit.hp);
        rc = rh_threads__give(threads, &unit, err);
    }
    rh_search_destroy(search);
    return rc;
}

// Seconds of a run beside as many others as there are threads, which may well share a core;
// runs that take too long are left, and their steps counted. And seconds that a member takes
// before the first run.
static rh_status time_runs(rh_study *study, int64_t nunit, double *result, double *member,
                           rh_error *err)
{
    const rh_plan *plan = study->plan;
    const rh_members *members = &study->members[RH_STAGE_SEARCH];
    int nthread = study->opt.nthread < nunit ? study->opt.nthread : (int)nunit;
    int n = (int64_t)TRIED * nthread < nunit ? TRIED * nthread : (int)nunit;
    double begun = rh_study__now(), until = INFINITY, run = 0.0;
    rh_eval_options how = study->eval;
    rh_threads *threads = NULL;
    how.stop = is_late;
    how.context = &until; // set while nobody runs
    rh_status rc = rh_threads__create(&threads, plan->agent, &how, nthread, err);
    if (!rc)
        rc = rh_threads__settle(threads, RH_STAGE_SEARCH, members, &study->task, plan->hp, err);
    *member = (rh_study__now() - begun) / members->nmember;
    begun = rh_study__now();
    until = begun + TRY_AT_MOST;
    if (!rc)
        rc = give_some(study, threads, n, err);
    while (!rc && rh_threads__nopen(threads) > 0) {
        rh_study__done done;
        if (is_stopped(study))
            rc = stopped(err);
        else if (rh_threads__take(threads, &done, PAUSE)) {
            bool left = done.result.outcome == RH_STOPPED;
            rc = done.rc ? rh_fail(err, done.rc, "%s", done.err.text) : RH_OK;
            run += left ? (double)done.result.nstep / (double)how.nstep : 1.0;
        }
    }
    *result = (rh_study__now() - begun) * nthread / fmax(run, 1.0 / (double)how.nstep);
    rh_threads__destroy(threads);
    return rc;
}

// Seconds that the search itself takes to find out what to ask: it is told of a hill. What it
// does not get to in time is foreseen by the cube of the number of settings.
static rh_status time_search(rh_study *study, int nsetting, double *seconds, rh_error *err)
{
    const rh_plan *plan = study->plan;
    rh_search *search = NULL;
    const rh_asked *asked;
    double begun = rh_study__now(), passed = 0.0, u[RH_MAX_DIM];
    int nasked = 1;
    rh_status rc = make_search(plan, &search, err);
    while (!rc && nasked > 0 && passed < TRY_AT_MOST) {
        rc = rh_search_ask(search, &asked, &nasked, err);
        if (!rc && is_stopped(study))
            rc = stopped(err);
        passed = rh_study__now() - begun;
        for (int i = 0; !rc && i < nasked; i++) {
            rh_told told = {.setting = asked[i].setting, .nrun = asked[i].nrun};
            rh_space_unit(&plan->space, rh_search_setting(search, told.setting), u);
            for (int d = 0; d < plan->space.ndim; d++)
                told.value -= (u[d] - 0.4) * (u[d] - 0.4);
            for (int r = 0; r < told.nrun; r++)
                study->score[r] = told.value + 0.1 * (r % 2 - 0.5);
            told.score = study->score;
            told.noise = 0.0025 / told.nrun;
            rc = rh_search_tell(search, &told, err);
        }
    }
    double grown = rc || nasked == 0 ? 1.0 : (double)nsetting / rh_search_nsetting(search);
    *seconds = passed * grown * grown * grown;
    rh_search_destroy(search);
    return rc;
}

rh_status rh_study_estimate(rh_study *study, rh_estimate *out, rh_error *err)
{
    const rh_plan *plan = study->plan;
    int64_t nrun;
    int nmember = study->members[RH_STAGE_SEARCH].nmember;
    double member = 0.0, fresh = 0.0;
    *out = (rh_estimate){.how = study->eval};
    rh_search_foresee(study->search, &out->nsetting, &nrun);
    int confirm =
        plan->confirm_settings < out->nsetting ? plan->confirm_settings : out->nsetting;
    out->nconfirm = (int64_t)confirm * plan->confirm_members * plan->confirm_runs;
    out->nunit = nrun * nmember + out->nconfirm;
    rh_status rc = time_runs(study, out->nunit, &out->result, &member, err);
    if (!rc)
        rc = time_search(study, out->nsetting, &out->search, err);
    if (!rc && out->nconfirm)
        rc = rh_study__time_fit(study, &fresh, err);
    int nrank = study->opt.ranks ? rh_ranks_count(study->opt.ranks) : 1;
    out->fit = study->fitting + nmember * member;
    if (out->nconfirm)
        out->fit += plan->confirm_members * (fresh + member);
    double nthread = fmin((double)study->opt.nthread * nrank, (double)out->nunit);
    out->seconds = out->fit + out->search + (double)out->nunit * out->result / nthread;
    return rc;
}

// ---------------------------------------------------------------------------- carrying it out

rh_status rh_study_run(rh_study *study, rh_error *err)
{
    const rh_plan *plan = study->plan;
    if (study->ran)
        return rh_fail(err, RH_EINVAL,
                       "study: carried out before; to go on, take it up again from its folder");
    study->ran = true;
    rh_status rc = rh_workers__create(&study->workers, plan->agent, &study->eval,
                                      study->opt.nthread, study->opt.ranks, err);
    if (!rc)
        rc = rh_workers__settle(study->workers, RH_STAGE_SEARCH,
                                &study->members[RH_STAGE_SEARCH], &study->task, plan->hp, err);
    if (!rc)
        rc = rh_study__search(study, err);
    if (!rc && plan->confirm_settings > 0)
        rc = rh_study__confirm(study, err);
    rh_workers__destroy(study->workers);
    study->workers = NULL;
    study->whole = !rc;
    study->judged = false;
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
    char *best = rh_study__path(study->opt.folder, BEST),
         *runs = rh_study__path(study->opt.folder, RUNS);
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
    if (study->judged)
        return &study->verdict;
    forget_verdict(study);
    study->judged = rh_study__judge_all(study) == RH_OK;
    if (study->judged)
        return &study->verdict;
    forget_verdict(study);
    return NULL;
}
