// study.c - a study, from its folder to its verdict.
//
// 1. The folder is locked and the plan compared with the journal before anything is fitted, so
//    that a study that cannot be resumed is refused at once.
// 2. No result depends on threads, ranks or time; files have no dates. Same study, same bytes.

#include "study.h"
#include "core.h"
#include "eval/eval.h"
#include "model/model.h"
#include "search/search.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COOKIE 0x73747564u
#define MODEL "study.model"
#define BEST "best.yaml"
#define RUNS "runs.csv"
#define NEXT "log_next.csv"
#define START RH_STUDY__START
#define TRIED 8       // runs per thread to measure how long one takes
#define TRY_AT_MOST 2 // seconds for that, and for timing the search
#define TIMED 8       // settings of random search between two looks at the clock; by hand
#define PAUSE 0.05    // seconds between two polls of the caller's stop

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

int rh_study__nconfirm(const rh_study *study)
{
    return study->kinds.n * study->plan->confirm_members;
}

rh_study_options rh_study_defaults(void)
{
    return (rh_study_options){.nthread = 1, .cookie = COOKIE};
}

// ---------------------------------------------------------------------------- opening

char *rh_study__path(const char *folder, const char *name)
{
    size_t n = strlen(folder), room = n + strlen(name) + 2;
    char *path = rh_alloc(room, 1);
    if (path)
        snprintf(path, room, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
    return path;
}

// What `inspect` says of the log, whose errors must be accepted.
static rh_status inspect(rh_study *study, const rh_model *model, rh_error *err)
{
    rh_status rc = RH_OK;
    study->report = study->opt.report;
    if (!study->report)
        rc = rh_log_inspect(&study->report, model ? rh_model_log(model) : study->log, err);
    return rc ? rc : rh_plan_accept(study->plan, study->report, err);
}

// Lock the folder and read its journal.
static rh_status open_folder(rh_study *study, const rh_model *model, rh_error *err)
{
    const char *folder = study->opt.folder;
    study->head = (rh_journal__head){
        .name = study->plan->name ? study->plan->name : "rehearse",
        .log = model ? rh_model_log(model)->path : study->log->path,
        .data = model ? rh_model_log(model) : study->log,
        .fingerprint = model ? rh_model__fingerprint(model) : rh_log_fingerprint(study->log),
        .starts = study->starts ? rh_log_fingerprint(study->starts) : 0,
        .plan = study->plan,
        .plugins = rh_plan__plugin_hash(study->plan),
        .ncurve = study->plan->ncurve,
        .nlimit = study->limits.nlimit,
        .nalso = study->limits.nalso,
        .start = study->head.start,
    };
    if (!folder)
        return RH_OK;
    if (model) { // two models of one log differ
        rh_members members = {0};
        rh_status rc = rh_members__open(&members, model, err);
        study->head.model = rc ? 0 : rh_members__fingerprint(&members);
        rh_members__clear(&members);
        if (rc)
            return rc;
        if (!study->head.model)
            return rh_base__no_memory(err, "study");
    }
    study->model_path = rh_study__path(folder, MODEL);
    if (!study->model_path)
        return rh_base__no_memory(err, "study");
    return rh_journal__open(&study->journal, folder, &study->head, err);
}

// Everything that depends on the model.
static rh_status prepare(rh_study *study, rh_error *err)
{
    const rh_plan *plan = study->plan;
    const rh_members *members = &study->members[RH_STAGE_SEARCH];
    study->task = *rh_env_task(members->env[0]);
    rh_status rc =
        rh_plan__eval(plan, &study->task, rh_model_log(members->model[0]), &study->eval, err);
    if (rc)
        return rc;
    rc = rh_study__find_logged(study, err);
    if (!rc)
        rc = rh_study__check_limits(study, err);
    if (rc)
        return rc;
    rh_limits__watch(&study->limits, &study->eval);
    study->head.nstep = study->eval.nstep;
    study->head.cutoff = study->task.continuing ? INT64_MAX : study->eval.cutoff;
    study->head.kinds = &study->kinds;
    if (study->journal)
        rh_journal__set_steps(study->journal, study->eval.nstep);

    const rh_fidelity *fidelity = rh_model_fidelity(members->model[0]);
    if (fidelity && plan->interval == RH_INTERVAL__ALL)
        study->optimism = rh_study__optimism(fidelity, &study->eval, study->task.continuing);

    int nconfirm = rh_study__nconfirm(study);
    int nmember = members->nmember > nconfirm ? members->nmember : nconfirm;
    int nrun = plan->nrun > plan->confirm_runs ? plan->nrun : plan->confirm_runs;
    study->score = rh_alloc((size_t)nrun, sizeof *study->score);
    study->work = rh_alloc(rh_value__nwork(nmember, nrun), sizeof *study->work);
    study->seen = rh_alloc((size_t)nmember * (size_t)nrun, sizeof *study->seen);
    if (!study->score || !study->work || !study->seen)
        return rh_base__no_memory(err, "study");

    // create one of each agent, so that a bad parameter is refused at once
    rh_agent *agent = NULL;
    for (int i = 0; i < plan->agents.n && !rc; i++) {
        rc = rh_agent_create(&agent, plan->agents.type[i], &study->task, rh_plan__own(plan, i),
                             err);
        rh_agent_destroy(agent);
        agent = NULL;
    }
    return rc;
}

// Where the agent begins with the log, divide it: agents get what no model is fitted to.
static rh_status divide_log(rh_study *study, rh_error *err)
{
    study->fitted = study->log;
    if (!study->log || !rh_plan__begins_with_log(study->plan))
        return RH_OK;
    rh_status rc = rh_prior__split(&study->part, &study->rest, study->log, err);
    if (!rc)
        rc = rh_prior__rows(&study->prior, study->rest, err);
    if (!rc)
        rc = rh_prior__rows(&study->head.start, study->log, err);
    study->fitted = study->part;
    return rc;
}

static rh_status make_search(const rh_plan *plan, rh_search **out, rh_error *err)
{
    rh_search__options opt = rh_search__defaults();
    opt.param = plan->method_param;
    opt.budget = plan->trials;
    opt.nrun = plan->nrun;
    opt.batch = plan->batch;
    opt.seed = plan->seed;
    if (plan->time > 0.0 && strcmp(plan->method->name, "random") == 0)
        opt.chunk = TIMED; // others ask for few by themselves
    return rh_plan__search(plan, opt, out, err);
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
    if (!log == !model)
        return rh_fail(err, RH_EINVAL, "study: %s, expected a log or a model",
                       log ? "both a log and a model" : "neither a log nor a model");
    if (!plan->agent || !plan->method)
        return rh_fail(err, RH_EINVAL,
                       "study: the plan is not settled, expected rh_plan_settle() before");
    for (int i = 0; i < plan->agents.n; i++)
        if (plan->agents.type[i]->nparam > RH_STUDY__NHP)
            return rh_fail(err, RH_EINVAL, "study: %s has %d parameters, expected at most %d",
                           plan->agents.type[i]->name, plan->agents.type[i]->nparam,
                           RH_STUDY__NHP);

    rh_study *study = rh_alloc(1, sizeof *study);
    if (!study)
        return rh_base__no_memory(err, "study");
    study->plan = plan;
    study->opt = *opt;
    study->log = log;
    study->starts = starts;
    study->begun = study->synced = rh_study__now();
    study->random = study->logged = (rh_reference){NAN, NAN, NAN};
    study->random_lowest = NAN;
    study->at_once = RH_STUDY__AT_ONCE;
    rh_status rc = make_search(plan, &study->search, err);
    if (!rc)
        rc = divide_log(study, err);
    if (!rc && !model) // before there is a folder: its journal would refuse the corrected study
        rc = rh_study__check_fit(study, err);
    if (!rc)
        rc = rh_limits__read(&study->limits, plan->at_most, plan->also,
                             model ? rh_model_log(model) : log, NULL, err);
    if (!rc)
        rc = inspect(study, model, err);
    if (!rc)
        rc = open_folder(study, model, err);
    double begun = rh_study__now();
    if (!rc)
        rc = rh_study__fit(study, model, err);
    study->fitting = rh_study__now() - begun;
    rh_log_destroy(study->rest); // agents have its rows
    study->rest = NULL;
    if (!rc)
        rc = prepare(study, err);
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
    rh_free(v->importance.alone);
    rh_free(v->importance.total);
    rh_findings__clear(&v->findings);
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
    rh_search__destroy(study->search);
    rh_journal__close(study->journal);
    for (int i = 0; i < RH_NSTAGE; i++)
        rh_members__clear(&study->members[i]);
    rh_model_destroy(study->shell);
    rh_free(study->random_run);
    rh_study__clear_check(&study->checking);
    rh_replays__destroy(study->replays);
    rh_limits__clear(&study->limits);
    rh_log_destroy(study->part);
    rh_log_destroy(study->rest);
    rh_free((void *)(uintptr_t)study->prior.row);
    rh_free((void *)(uintptr_t)study->head.start.row);
    if (!study->opt.report)
        rh_log_report_destroy(study->report);
    rh_free(study->model_path);
    rh_free(study->score);
    rh_free(study->work);
    rh_free(study->seen);
    rh_free(study->defaults);
    rh_free(study);
}

const rh_model *rh_study__model(const rh_study *study)
{
    return study->members[RH_STAGE_SEARCH].model[0];
}

const char *rh_study__kind(const rh_study *study, int i)
{
    return i >= 0 && i < study->kinds.n ? study->kinds.kind[i].label : NULL;
}

// ---------------------------------------------------------------------------- estimates

static bool is_stopped(const rh_study *study)
{
    return study->opt.stop && study->opt.stop(study->opt.context);
}

static rh_status stopped(rh_error *err)
{
    return rh_fail(err, RH_ESTOPPED, "study: stopped");
}

// Polled by the threads of a pool.
static bool is_late(void *context)
{
    const double *until = context;
    return rh_study__now() > *until;
}

// Give a pool n runs of settings that the search would try first.
static rh_status give_some(const rh_study *study, rh_threads *pool, int n, rh_error *err)
{
    rh_search *search = NULL;
    const rh_search__asked *asked = NULL;
    int nasked = 0;
    rh_status rc = make_search(study->plan, &search, err);
    if (!rc)
        rc = rh_search__ask(search, &asked, &nasked, err);
    for (int i = 0; i < n && !rc; i++) {
        rh_study__unit unit = {.trial = i, .stage = RH_STAGE_SEARCH, .run = i};
        int64_t which = n < nasked ? (int64_t)i * nasked / n : i % nasked;
        const double *x = rh_search__proposed(search, asked[which].setting);
        unit.agent = rh_plan__agent_of(study->plan, x);
        rh_plan__hp(study->plan, x, unit.hp);
        rc = rh_threads__give(pool, &unit, err);
    }
    rh_search__destroy(search);
    return rc;
}

// Seconds of a run while all threads run, because they may share cores. Runs that take too long
// are stopped and count by their steps. *member: seconds to prepare a member.
static rh_status time_runs(rh_study *study, int64_t nrun, double *seconds, double *member,
                           rh_error *err)
{
    const rh_study__agents agents = rh_study__agents_of(study->plan);
    const rh_members *members = &study->members[RH_STAGE_SEARCH];
    int nthread = study->opt.nthread < nrun ? study->opt.nthread : (int)nrun;
    int n = (int64_t)TRIED * nthread < nrun ? TRIED * nthread : (int)nrun;
    double begun = rh_study__now(), until = INFINITY, ndone = 0.0;
    rh_eval_options eval = study->eval;
    rh_threads *pool = NULL;
    eval.stop = is_late;
    eval.context = &until; // written only while nothing runs
    rh_status rc = rh_threads__create(&pool, &agents, &eval, nthread, NULL, err);
    if (!rc)
        rc = rh_threads__add_stage(pool, RH_STAGE_SEARCH, members, &study->task, err);
    *member = (rh_study__now() - begun) / members->nmember;
    begun = rh_study__now();
    until = begun + TRY_AT_MOST;
    if (!rc)
        rc = give_some(study, pool, n, err);
    while (!rc && rh_threads__nopen(pool) > 0) {
        rh_study__done done;
        if (is_stopped(study))
            rc = stopped(err);
        else if (rh_threads__take(pool, &done, PAUSE)) {
            const rh_result *result = &done.run.result;
            bool cut = result->outcome == RH_STOPPED;
            rc = done.rc ? rh_fail(err, done.rc, "%s", done.err.text) : RH_OK;
            ndone += cut ? (double)result->nstep / (double)eval.nstep : 1.0;
        }
    }
    *seconds = (rh_study__now() - begun) * nthread / fmax(ndone, 1.0 / (double)eval.nstep);
    rh_threads__destroy(pool);
    return rc;
}

// Seconds that the search method itself takes, on a made-up objective. What it does not reach
// in time is extrapolated by the square of the number of settings.
static rh_status time_search(rh_study *study, int nsetting, double *seconds, rh_error *err)
{
    const rh_plan *plan = study->plan;
    rh_search *search = NULL;
    const rh_search__asked *asked;
    double begun = rh_study__now(), passed = 0.0, u[RH_MAX_DIM];
    int nasked = 1;
    rh_status rc = make_search(plan, &search, err);
    while (!rc && nasked > 0 && passed < TRY_AT_MOST) {
        rc = rh_search__ask(search, &asked, &nasked, err);
        if (!rc && is_stopped(study))
            rc = stopped(err);
        passed = rh_study__now() - begun;
        for (int i = 0; !rc && i < nasked; i++) {
            rh_search__told told = {.setting = asked[i].setting, .nrun = asked[i].nrun};
            rh_space__unit(&plan->space, rh_search__proposed(search, told.setting), u);
            for (int d = 0; d < plan->space.ndim; d++)
                told.value -= (u[d] - 0.4) * (u[d] - 0.4);
            for (int r = 0; r < told.nrun; r++)
                study->score[r] = told.value + 0.1 * (r % 2 - 0.5);
            told.score = study->score;
            told.noise = 0.0025 / told.nrun;
            rc = rh_search__tell(search, &told, err);
        }
    }
    double grown = rc || nasked == 0 ? 1.0 : (double)nsetting / rh_search__nsetting(search);
    *seconds = passed * grown * grown;
    rh_search__destroy(search);
    return rc;
}

rh_status rh_study_estimate(rh_study *study, rh_estimate *out, rh_error *err)
{
    const rh_plan *plan = study->plan;
    int64_t nrun;
    int nmember = study->members[RH_STAGE_SEARCH].nmember;
    double member = 0.0, fresh = 0.0;
    *out = (rh_estimate){.eval = study->eval};
    rh_search__foresee(study->search, &out->nsetting, &nrun);
    int confirm =
        plan->confirm_settings < out->nsetting ? plan->confirm_settings : out->nsetting;
    out->nconfirm = (int64_t)confirm * rh_study__nconfirm(study) * plan->confirm_runs;
    study->nsetting_max = out->nsetting;
    out->ncheck = rh_study__ncheck_run(study);
    out->nrun = nrun * nmember + out->nconfirm + out->ncheck;
    rh_status rc = time_runs(study, out->nrun, &out->seconds_per_run, &member, err);
    if (!rc)
        rc = time_search(study, out->nsetting, &out->seconds_search, err);
    if (!rc && out->nconfirm)
        rc = rh_study__time_fit(study, &fresh, err);
    int nrank = study->opt.ranks ? rh_ranks_count(study->opt.ranks) : 1;
    out->seconds_fit = study->fitting + nmember * member;
    if (out->nconfirm)
        out->seconds_fit += plan->confirm_members * (fresh + study->kinds.n * member);
    double nthread = fmin((double)study->opt.nthread * nrank, (double)out->nrun);
    out->seconds = out->seconds_fit + out->seconds_search +
                   (double)out->nrun * out->seconds_per_run / nthread;
    int64_t nlast = out->ncheck ? rh_study__ntransfer_run(study) + RH_STUDY__NEXT_RUNS : 0;
    out->seconds += (double)nlast * out->seconds_per_run / study->opt.nthread; // on this rank
    if (plan->time > 0.0)
        out->seconds = fmin(out->seconds, plan->time);
    return rc;
}

// ---------------------------------------------------------------------------- running

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

// Remove a file of fewer trials.
static rh_status remove_old(const char *path, rh_error *err)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return rh_fail(err, RH_EIO, "%s: cannot remove it: %s", path, strerror(errno));
    return RH_OK;
}

// best.yaml, runs.csv and log_next.csv.
static rh_status write_files(rh_study *study, rh_error *err)
{
    if (!study->opt.folder)
        return RH_OK;
    const rh_verdict *verdict = rh_study_verdict(study);
    char *best = rh_study__path(study->opt.folder, BEST),
         *start = rh_study__path(study->opt.folder, START),
         *runs = rh_study__path(study->opt.folder, RUNS),
         *next = rh_study__path(study->opt.folder, NEXT);
    rh_status rc = RH_OK;
    if (!verdict || !best || !start || !runs || !next)
        rc = rh_base__no_memory(err, "study");
    if (!rc && study->journal)
        rc = rh_journal__check_place(study->journal, err);
    if (!rc)
        rc = rh_study__write_runs(runs, &study->head, verdict, err);
    bool won = !rc && verdict->winner >= 0;
    if (won && rh_study__starts(&study->head, &verdict->trial[verdict->winner]))
        rc = rh_study__write_start(start, &study->task, study->head.start,
                                   study->log ? rh_study__start_key(study) : -1.0, err);
    else if (!rc)
        rc = remove_old(start, err);
    if (!rc && won)
        rc = rh_study__write_best(best, &study->head, rh_study__model(study), verdict, err);
    else if (!rc)
        rc = remove_old(best, err);
    if (!rc && verdict->nnext > 0)
        rc = rh_study__write_next(next, rh_model_log(rh_study__model(study)), verdict->next,
                                  verdict->nnext, err);
    else if (!rc)
        rc = remove_old(next, err);
    rh_free(best);
    rh_free(start);
    rh_free(runs);
    rh_free(next);
    return rc;
}

rh_status rh_study_run(rh_study *study, rh_error *err)
{
    const rh_plan *plan = study->plan;
    if (study->ran)
        return rh_fail(err, RH_EINVAL,
                       "study: has run before; to resume it, open it again from its folder");
    study->ran = true;
    const rh_study__agents agents = rh_study__agents_of(plan);
    rh_status rc =
        rh_workers__create(&study->workers, &agents, &study->eval, study->opt.nthread,
                           study->opt.ranks, study->opt.remote, err);
    if (!rc)
        rc = rh_workers__add_stage(study->workers, RH_STAGE_SEARCH,
                                   &study->members[RH_STAGE_SEARCH], &study->task, err);
    if (!rc)
        rc = rh_study__search(study, err);
    if (!rc && plan->confirm_settings > 0)
        rc = rh_study__confirm(study, err);
    if (!rc)
        rc = rh_study__run_references(study, err);
    // the models of the confirmation take as much memory as those of the check
    if (!rc && rh_workers__drop_stage(study->workers, RH_STAGE_CONFIRM))
        rh_members__clear(&study->members[RH_STAGE_CONFIRM]);
    rh_model_destroy(study->shell);
    study->shell = NULL;
    if (!rc)
        rc = rh_study__check(study, err);
    rh_workers__destroy(study->workers);
    study->workers = NULL;
    study->finished = !rc;
    study->judged = false;
    if (!rc)
        rc = rh_study__transfer(study, err);
    if (!rc)
        rc = rh_study__imitate(study, err);
    rh_members__clear(&study->members[RH_STAGE_CHECK]);
    if (!rc)
        rc = rh_study__find_next(study, err);
    if (!rc)
        rc = rh_study__prepare_start(study, err);
    if (rc) {
        study->finished = study->judged = false;
        if (rc == RH_ESTOPPED && study->opt.watch)
            rh_study__report(study, 0, NULL); // it does not refresh any more
        return rc;
    }
    rc = write_files(study, err);
    const rh_verdict *verdict = rc ? NULL : rh_study_verdict(study);
    if (!rc && !verdict)
        rc = rh_base__no_memory(err, "study");
    if (!rc && study->journal)
        rc = rh_journal__conclude(study->journal, verdict, err);
    if (!rc && study->journal)
        rc = rh_journal__sync(study->journal, err);
    return rc ? rc : rh_study__report(study, 0, err);
}
