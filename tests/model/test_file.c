// test_file.c - a model that was read back runs the same runs; a file that is not a model, or
// not whole, or makes no sense, is refused in one line.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/base_internal.h"
#include "base/in_memory.h"
#include "base/text.h"
#include "model/knn_internal.h"
#include "rehearse/rehearse.h"
#include "repr/repr.h"

#define LENGTH(x) (sizeof(x) / sizeof *(x))

static char folder[64];
static char path[256]; // of the model, in the folder

static int make_folder(void **unused)
{
    (void)unused;
    if (!folder_in_memory(folder, "model"))
        return -1;
    snprintf(path, sizeof path, "%s/a.model", folder);
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    unlink(path);
    return rmdir(folder); // fails when a test left something behind
}

static void worked(rh_status rc, const rh_error *err)
{
    if (rc)
        fail_msg("%s", err->text);
}

// ---------------------------------------------------------------------------- models

// A log of a simulator under random actions.
static rh_log *make_log(const char *name, int64_t nstep)
{
    rh_error err;
    rh_env *env = NULL;
    rh_log *log = NULL;
    rh_collected how;
    rh_collect_options opt = rh_collect_defaults();
    opt.nstep = nstep;
    opt.enough = RH_ENOUGH_STEPS;
    opt.span = 0;
    opt.least = 0;
    opt.most = INT64_MAX;
    opt.cutoff = 100;
    worked(rh_env_create(&env, rh_env_find(name, &err), NULL, &err), &err);
    worked(rh_log_collect(&log, NULL, &how, env, env, rh_agent_find("random", &err), NULL, &opt,
                          &err),
           &err);
    assert_non_null(log);
    rh_env_destroy(env);
    return log;
}

typedef struct recipe {
    const char *env, *kind, *repr;
    int64_t nstep;
    int nmember;
    bool joint, fidelity;
} recipe;

static void set(const rh_param *param, int nparam, double *value, const char *name, double x)
{
    int i = rh_param_find(param, nparam, name);
    if (i >= 0)
        value[i] = x;
}

static rh_model *make_model(const recipe *r)
{
    rh_error err;
    rh_log *log = make_log(r->env, r->nstep);
    rh_repr *repr = NULL;
    rh_model *model = NULL;
    const rh_repr_type *seen = rh_repr_find(r->repr, &err);
    const rh_model_type *type = rh_model_find(r->kind, &err);
    double seen_param[32], param[32];
    rh_param_initial(seen->param, seen->nparam, seen_param);
    rh_param_initial(type->param, type->nparam, param);
    set(seen->param, seen->nparam, seen_param, "steps", 100); // no test of learning
    set(seen->param, seen->nparam, seen_param, "hidden", 16);
    set(type->param, type->nparam, param, "epochs", 2);
    set(type->param, type->nparam, param, "hidden", 16);

    rh_repr_options repr_opt = rh_repr_defaults();
    repr_opt.param = seen_param;
    repr_opt.actions = r->joint;
    worked(rh_repr_fit(&repr, seen, log, &repr_opt, &err), &err);
    rh_model_options opt = rh_model_defaults();
    opt.param = param;
    opt.nmember = r->nmember;
    opt.resample = r->nmember > 1 ? RH_RESAMPLE_SUBSET : RH_RESAMPLE_ALL;
    opt.fidelity = r->fidelity;
    worked(rh_model_fit(&model, type, log, repr, &opt, &err), &err);
    rh_repr_destroy(repr);
    rh_log_destroy(log);
    return model;
}

static const recipe tiny = {"puddle_world", "knn", "raw", 60, 1, false, true};

static rh_model *read_back(const rh_model *model)
{
    rh_error err;
    rh_model *back = NULL;
    worked(rh_model_write(model, path, &err), &err);
    worked(rh_model_read(&back, path, &err), &err);
    return back;
}

// ---------------------------------------------------------------------------- the same again

// Runs of a learning agent in every member.
static void live(const rh_model *model, rh_result *result)
{
    rh_error err;
    rh_env *env[8] = {NULL};
    int n = rh_model_nmember(model);
    for (int i = 0; i < n; i++)
        worked(rh_model_env(&env[i], model, i, NULL, &err), &err);
    const rh_task *task = rh_env_task(env[0]);
    rh_eval_options opt = rh_eval_defaults(task);
    opt.nstep = 2000;
    opt.nrun = 2;
    opt.cutoff = 200;
    const rh_agent_type *agent =
        rh_agent_find(task->naction ? "esarsa" : "gaussian_actor_critic", &err);
    double hp[32];
    rh_param_initial(agent->param, agent->nparam, hp);
    worked(rh_eval_runs(env, n, agent, task, 1, hp, &opt, result, NULL, &err), &err);
    for (int i = 0; i < n; i++)
        rh_env_destroy(env[i]);
}

static void same_task(const rh_task *a, const rh_task *b)
{
    assert_int_equal(a->nobs, b->nobs);
    assert_int_equal(a->naction, b->naction);
    assert_int_equal(a->nact, b->nact);
    assert_int_equal(a->continuing, b->continuing);
    assert_int_equal(a->nstep, b->nstep);
    assert_memory_equal(&a->gamma, &b->gamma, sizeof a->gamma);
    assert_memory_equal(&a->reward_lo, &b->reward_lo, sizeof a->reward_lo);
    for (int i = 0; i < a->nobs; i++) {
        assert_string_equal(a->obs_name[i], b->obs_name[i]);
        assert_true(a->obs_lo[i] == b->obs_lo[i]);
        assert_true(a->obs_hi[i] == b->obs_hi[i]);
    }
    for (int i = 0; !a->naction && i < a->nact; i++) {
        assert_true(a->act_lo[i] == b->act_lo[i]);
        assert_true(a->act_hi[i] == b->act_hi[i]);
    }
}

static void same_fidelity(const rh_fidelity *a, const rh_fidelity *b, const rh_log *log)
{
    assert_int_equal(a != NULL, b != NULL);
    if (!a)
        return;
    // all numbers lie before the lists of findings; pointers and what is behind are apart
    rh_fidelity x = *a, y = *b;
    x.sensor = y.sensor = NULL;
    x.action = y.action = NULL;
    x.findings.item = y.findings.item = NULL;
    assert_memory_equal(&x, &y, offsetof(rh_fidelity, findings));
    assert_memory_equal(a->sensor, b->sensor, (size_t)log->nobs * sizeof *a->sensor);
    assert_memory_equal(a->action, b->action, (size_t)log->naction * sizeof *a->action);
    assert_int_equal(a->findings.n, b->findings.n);
    assert_memory_equal(a->findings.count, b->findings.count, sizeof a->findings.count);
    for (int i = 0; i < a->findings.n; i++) {
        assert_int_equal(a->findings.item[i].id, b->findings.item[i].id);
        assert_string_equal(a->findings.item[i].evidence, b->findings.item[i].evidence);
        assert_string_equal(a->findings.item[i].remedy, b->findings.item[i].remedy);
        assert_int_equal(a->findings.item[i].severity, b->findings.item[i].severity);
        assert_int_equal(a->findings.item[i].count, b->findings.item[i].count);
        assert_int_equal(a->findings.item[i].first, b->findings.item[i].first);
        assert_int_equal(a->findings.item[i].dim, b->findings.item[i].dim);
    }
}

static void same_model(const rh_model *a, const rh_model *b)
{
    assert_ptr_equal(a->type, b->type);
    assert_memory_equal(a->param, b->param, (size_t)a->type->nparam * sizeof *a->param);
    assert_int_equal(a->nmember, b->nmember);
    assert_int_equal(a->resample, b->resample);
    assert_int_equal(a->ndropped, b->ndropped);
    assert_true(a->fingerprint == b->fingerprint);
    assert_true(rh_log_fingerprint(a->log) == rh_log_fingerprint(b->log));
    assert_int_equal(a->log->nstate, b->log->nstate);
    assert_string_equal(a->log->path, b->log->path);
    assert_string_equal(a->log->reading.format, b->log->reading.format);
    assert_int_equal(a->log->reading.nnote, b->log->reading.nnote);
    assert_string_equal(a->log->reward_name, b->log->reward_name);
    for (int i = 0; i < a->log->naction; i++)
        assert_string_equal(a->log->label[i], b->log->label[i]);
    assert_memory_equal(&a->lowest, &b->lowest, sizeof a->lowest);
    assert_memory_equal(&a->highest, &b->highest, sizeof a->highest);
    assert_int_equal(a->nstart, b->nstart);
    assert_memory_equal(a->start, b->start, (size_t)a->nstart * sizeof *a->start);
    assert_int_equal(a->code != NULL, b->code != NULL);
    if (a->code)
        assert_memory_equal(a->code, b->code,
                            (size_t)(a->log->nstate * rh_repr__ncode(a->repr)) *
                                sizeof *a->code);
    same_task(&a->task, &b->task);
    same_fidelity(a->fidelity, b->fidelity, a->log);
}

static void runs_are_the_same(void **unused)
{
    (void)unused;
    static const recipe all[] = {
        {"puddle_world", "knn", "laplacian", 2000, 1, false, true},
        {"puddle_world", "knn", "raw", 600, 3, false, false},
        {"puddle_world", "nn", "random", 300, 2, false, false},
        {"cartpole", "knn", "raw", 600, 1, false, true}, // continuing
        {"pendulum", "knn", "raw", 400, 2, false, true}, // continuous actions
        {"pendulum", "knn", "random", 400, 1, true, false},
    };
    for (size_t i = 0; i < LENGTH(all); i++) {
        rh_result a[6], b[6];
        int64_t alive = rh_base__alloc_live();
        rh_model *model = make_model(&all[i]), *back = read_back(model);
        same_model(model, back);
        live(model, a);
        live(back, b);
        for (int k = 0; k < 2 * all[i].nmember; k++) {
            assert_int_equal(a[k].outcome, b[k].outcome);
            assert_int_equal(a[k].nstep, b[k].nstep);
            assert_int_equal(a[k].nepisode, b[k].nepisode);
            assert_memory_equal(&a[k].score, &b[k].score, sizeof a[k].score);
            assert_memory_equal(&a[k].total, &b[k].total, sizeof a[k].total);
        }
        rh_model_destroy(model);
        rh_model_destroy(back);
        assert_int_equal(rh_base__alloc_live(), alive);
    }
}

// Findings and notes of any length survive.
static void texts_survive(void **unused)
{
    (void)unused;
    rh_model *model = make_model(&tiny);
    rh_fidelity *f = model->fidelity;
    rh_free(f->findings.item);
    f->findings.item = rh_alloc(2, sizeof *f->findings.item);
    assert_non_null(f->findings.item);
    memset(f->findings.item[0].evidence, 'e', sizeof f->findings.item[0].evidence - 1);
    f->findings.item[0].severity = RH_WARNING;
    f->findings.item[0].id = RH_FINDING_LONG_STITCHES;
    f->findings.item[0].count = INT64_MAX;
    f->findings.item[0].first = -1;
    f->findings.item[0].dim = 1;
    f->findings.item[1].id = RH_FINDING_NO_END;
    f->findings.item[1].dim = -1;
    strcpy(f->findings.item[1].remedy, "caf\u00e9");
    f->findings.n = 2;
    memset(f->findings.count, 0, sizeof f->findings.count);
    f->findings.count[RH_WARNING] = f->findings.count[RH_NOTICE] = 1;
    f->random_steps = INFINITY;
    rh_model *back = read_back(model);
    same_model(model, back);
    rh_model_destroy(model);
    rh_model_destroy(back);
}

static void same_bytes(void **unused)
{
    (void)unused;
    rh_error err;
    char other[300], command[640];
    rh_model *model = make_model(&tiny), *back = read_back(model);
    snprintf(other, sizeof other, "%s/b.model", folder);
    worked(rh_model_write(back, other, &err), &err);
    snprintf(command, sizeof command, "cmp -s %s %s", path, other);
    assert_int_equal(system(command), 0);
    unlink(other);
    rh_model_destroy(model);
    rh_model_destroy(back);
}

// ---------------------------------------------------------------------------- other versions

// A file with fewer parameters is of an older version; one with more, of a newer.
static void parameters_come_and_go(void **unused)
{
    (void)unused;
    rh_error err;
    rh_model *model = make_model(&tiny), *back = NULL;
    const rh_model_type *type = model->type;
    rh_model_type fewer = *type, more = *type;
    rh_param param[40] = {{0}};
    double value[40] = {0};

    int last = --fewer.nparam;
    double initial = type->param[last].initial;
    model->param[last] = type->param[last].hi; // not written, and so not read
    model->type = &fewer;
    back = read_back(model);
    assert_true(back->param[last] == initial);
    assert_memory_equal(back->param, model->param, (size_t)last * sizeof *model->param);
    rh_model_destroy(back);

    model->param[last] = initial;
    memcpy(param, type->param, (size_t)type->nparam * sizeof *param);
    memcpy(value, model->param, (size_t)type->nparam * sizeof *value);
    param[type->nparam] = (rh_param){.name = "from_the_future"};
    more.param = param;
    more.nparam++;
    double *own = model->param;
    model->param = value;
    model->type = &more;
    worked(rh_model_write(model, path, &err), &err);
    assert_int_equal(rh_model_read(&back, path, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text,
                           "a.model: param: knn has no parameter 'from_the_future' in "
                           "this version"));
    more.name = "knm";
    worked(rh_model_write(model, path, &err), &err);
    assert_int_equal(rh_model_read(&back, path, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "a.model: kind: no model 'knm'; did you mean 'knn'?"));
    model->param = own;
    model->type = type;
    rh_model_destroy(model);
}

// ---------------------------------------------------------------------------- nonsense

// A number of the model, which may belong to a part that is only read.
#define CHANGE(what, x) (*(double *)(uintptr_t) & (what) = (x))
#define CHANGE_WHOLE(what, x) (*(int32_t *)(uintptr_t) & (what) = (x))

static void wrong_state(rh_model *m)
{
    CHANGE(m->log->obs[3], NAN);
}
static void wrong_row(rh_model *m)
{
    CHANGE_WHOLE(m->log->from[5], 100000);
}
static void wrong_next(rh_model *m)
{
    CHANGE_WHOLE(m->log->to[5], -7);
}
static void wrong_action(rh_model *m)
{
    CHANGE(m->log->act[5], 4.0);
}
static void wrong_reward(rh_model *m)
{
    CHANGE(m->log->reward[5], INFINITY);
}
static void wrong_episode(rh_model *m)
{
    *(int64_t *)(uintptr_t)&m->log->first[1] = -3;
}
static void wrong_flag(rh_model *m)
{
    *(uint8_t *)(uintptr_t)&m->log->flag[2] = 9;
}
static void wrong_code(rh_model *m)
{
    m->code[7] = INFINITY;
}
static void wrong_start(rh_model *m)
{
    m->start[0] = (int32_t)m->log->nstate;
}
static void wrong_outcome(rh_model *m)
{
    m->lowest = -INFINITY;
}
static void wrong_gamma(rh_model *m)
{
    m->task.gamma = 1.5;
}
static void wrong_run(rh_model *m)
{
    m->task.nstep = 0;
}
static void wrong_range(rh_model *m)
{
    m->task.obs_lo[1] = 7.0;
}
static void wrong_param(rh_model *m)
{
    m->param[0] = 65.0;
}
static void wrong_resample(rh_model *m)
{
    m->resample = (rh_resample)4;
}
static void wrong_severity(rh_model *m)
{
    rh_finding *finding = rh_alloc(1, sizeof *finding);
    assert_non_null(finding);
    *finding = (rh_finding){.severity = (rh_severity)3, .dim = -1};
    rh_free(m->fidelity->findings.item);
    m->fidelity->findings.item = finding;
    m->fidelity->findings.n = 1;
}
static void wrong_count(rh_model *m)
{
    m->fidelity->simulated_return.n = -1;
}

static void nonsense_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        void (*how)(rh_model *);
        const char *words;
    } wrong[] = {
        {wrong_state, "a.model: log/obs: number 3 is nan"},
        {wrong_row, "transition 5: s is observation 100000"},
        {wrong_next, "transition 5: s' is observation -7"},
        {wrong_action, "transition 5: action 4, expected one of 0 to 3"},
        {wrong_reward, "a.model: log/reward: number 5 is inf"},
        {wrong_episode, "a.model: log: "},
        {wrong_flag, "transition 2: flag 9"},
        {wrong_code, "a.model: code: number 7 is inf"},
        {wrong_start, "a.model: start: start 0 is state"},
        {wrong_outcome, "a.model: outcome: -inf to"},
        {wrong_gamma, "a.model: task/number: continuing 1, gamma 1.5"},
        {wrong_run, "a.model: task/number: "},
        {wrong_range, "a.model: task/obs_lo: range 1 is 7 to"},
        {wrong_param, "a.model: param: knn: k = 65, expected a whole number, 1 to 64"},
        {wrong_resample, "a.model: resample: 4, expected 0 to 3"},
        {wrong_severity, "a.model: fidelity/finding: finding 0 is invalid"},
        {wrong_count, "a.model: fidelity/field: simulated_return.n = -1"},
    };
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        rh_error err;
        rh_model *model = make_model(&tiny), *back = NULL;
        wrong[i].how(model);
        worked(rh_model_write(model, path, &err), &err);
        rh_model_destroy(model);
        int64_t alive = rh_base__alloc_live();
        assert_int_equal(rh_model_read(&back, path, &err), RH_EFORMAT);
        if (!strstr(err.text, wrong[i].words) || strchr(err.text, '\n'))
            fail_msg("'%s' does not say '%s'", err.text, wrong[i].words);
        assert_null(back);
        assert_int_equal(rh_base__alloc_live(), alive);
        assert_int_equal(rh_model_read(&back, path, NULL), RH_EFORMAT);
    }
}

// ---------------------------------------------------------------------------- damage

// The bytes of the file, owned.
static unsigned char *load(size_t *n)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *n = (size_t)ftell(file);
    rewind(file);
    unsigned char *x = malloc(*n);
    assert_non_null(x);
    assert_int_equal(fread(x, 1, *n, file), *n);
    fclose(file);
    return x;
}

static void store(const unsigned char *x, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(x, 1, n, file), n);
    fclose(file);
}

static void must_refuse(const char *words)
{
    rh_error err;
    rh_model *model = NULL;
    assert_int_equal(rh_model_read(&model, path, &err), RH_EFORMAT);
    if (!strstr(err.text, words) || strchr(err.text, '\n'))
        fail_msg("'%s' does not say '%s'", err.text, words);
}

static void damage_is_refused(void **unused)
{
    (void)unused;
    rh_model *model = make_model(&tiny);
    rh_error err;
    size_t n;
    worked(rh_model_write(model, path, &err), &err);
    unsigned char *x = load(&n);
    for (size_t i = 0; i < n; i += 61) {
        x[i] ^= (unsigned char)(1 << i % 8);
        store(x, n);
        must_refuse("a.model: ");
        x[i] ^= (unsigned char)(1 << i % 8);
    }
    for (size_t cut = 0; cut < n; cut += 173) {
        store(x, cut);
        must_refuse("truncated: ");
    }
    free(x);
    rh_model_destroy(model);
}

// A thousand steps at random, all finite.
static void wander(const rh_model *model)
{
    rh_error err;
    rh_env *env = NULL;
    worked(rh_model_env(&env, model, 0, NULL, &err), &err);
    const rh_task *task = rh_env_task(env);
    double obs[RH_MAX_OBS], act[RH_MAX_ACT] = {0}, reward;
    void *state = rh_alloc(1, rh_env_state_size(env));
    assert_non_null(state);
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                          rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
    rh_env_start(env, state, &streams, obs);
    for (int i = 0; i < 1000; i++) {
        act[0] = rh_rng_below(&rng, (uint32_t)task->naction);
        if (rh_env_step(env, state, act, &streams, obs, &reward))
            rh_env_start(env, state, &streams, obs);
        assert_true(rh_base__all_finite(obs, task->nobs));
        assert_true(isfinite(reward));
    }
    rh_free(state);
    rh_env_destroy(env);
}

// Make the checksum right again.
static void sign(unsigned char *x, size_t n)
{
    uint32_t crc = rh_base__crc32(0, x, n - 4);
    for (int i = 0; i < 4; i++)
        x[n - 4 + (size_t)i] = (unsigned char)(crc >> 8 * i);
}

// One byte of an array, changed and signed again: refused, or a model that can be run in.
static bool survives(unsigned char *x, size_t n, size_t at, int how)
{
    rh_error err;
    rh_model *back = NULL;
    unsigned char old = x[at];
    x[at] = (unsigned char)(how == 0 ? 0xff : how == 1 ? old ^ 0x40 : ~old);
    sign(x, n);
    store(x, n);
    x[at] = old;
    rh_status rc = rh_model_read(&back, path, &err);
    if (!rc) {
        wander(back);
        rh_model_destroy(back);
        return true;
    }
    assert_int_equal(rc, RH_EFORMAT);
    assert_null(strchr(err.text, '\n'));
    assert_non_null(strstr(err.text, "a.model: "));
    return false;
}

// Where bytes of an array lie in the file.
static size_t find(const unsigned char *x, size_t n, const void *bytes, size_t size)
{
    for (size_t i = 0; i + size <= n; i++)
        if (memcmp(x + i, bytes, size) == 0)
            return i;
    fail_msg("an array of %zu bytes is not in the file", size);
    return 0;
}

static void signed_nonsense(void **unused)
{
    (void)unused;
    rh_model *model = make_model(&tiny);
    const rh_log *log = model->log;
    const rh_knn *knn = model->member[0];
    size_t nstep = (size_t)log->n, nstate = (size_t)log->nstate;
    size_t nentry = nstate * (size_t)log->naction * (size_t)knn->k;
    const struct {
        const void *x;
        size_t size;
    } array[] = {
        {log->obs, nstate * (size_t)log->nobs * sizeof *log->obs},
        {log->from, nstep * sizeof *log->from},
        {log->to, nstep * sizeof *log->to},
        {log->act, nstep * sizeof *log->act},
        {log->reward, nstep * sizeof *log->reward},
        {log->first, ((size_t)log->nepisode + 1) * sizeof *log->first},
        {model->code, nstate * (size_t)rh_repr__ncode(model->repr) * sizeof *model->code},
        {model->param, (size_t)model->type->nparam * sizeof *model->param},
        {model->task.obs_lo, (size_t)log->nobs * sizeof(double)},
        {knn->index, nentry * sizeof *knn->index},
        {knn->distance, nentry * sizeof *knn->distance},
    };
    rh_error err;
    size_t n;
    int nfinished = 0, nrefused = 0;
    worked(rh_model_write(model, path, &err), &err);
    unsigned char *x = load(&n);
    for (size_t i = 0; i < LENGTH(array); i++) {
        size_t begin = find(x, n, array[i].x, array[i].size);
        size_t stride = array[i].size / 41 + 1;
        for (size_t at = 0; at < array[i].size; at += stride) {
            bool run = survives(x, n, begin + at, (int)(at % 3));
            nfinished += run;
            nrefused += !run;
        }
    }
    // otherwise the test tests nothing
    assert_true(nfinished > 10);
    assert_true(nrefused > 10);
    free(x);
    rh_model_destroy(model);
}

static void other_files(void **unused)
{
    (void)unused;
    rh_error err;
    rh_model *model = NULL;
    unlink(path);
    assert_int_equal(rh_model_read(&model, path, &err), RH_EIO);
    store((const unsigned char *)"a,b\n1,2\n", 8);
    must_refuse("a.model: not a model file: it begins with 61 2c 62");
    assert_int_equal(rh_model_read(&model, RH_TEST_DATA "/base_state.state", &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "base_state.state: not a model file, expected one that "
                                     "`rehearse fit` wrote"));
    store((const unsigned char *)"rehearse-model 1\nsize 4711\ncrc32 89abcdef\n", 43);
    must_refuse("a.model: a model of an older version of rehearse; fit it again");

    // a model without arrays
    rh_state *state = NULL;
    worked(rh_state__create(&state, &err), &err);
    worked(rh_state__set_label(state, "rehearse-model", &err), &err);
    worked(rh_state_write(state, path, &err), &err);
    rh_state_destroy(state);
    must_refuse("a.model: kind: missing");
}

// ---------------------------------------------------------------------------- trouble

static void every_failed_allocation(void **unused)
{
    (void)unused;
    rh_error err;
    rh_model *model = make_model(&tiny);
    unlink(path);
    int64_t alive = rh_base__alloc_live();
    for (int nth = 1;; nth++) {
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_model_write(model, path, &err);
        rh_base__alloc_fail_at(0);
        assert_int_equal(rh_base__alloc_live(), alive);
        if (!rc)
            break;
        assert_int_equal(rc, RH_ENOMEM);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    for (int nth = 1;; nth++) {
        rh_model *back = NULL;
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_model_read(&back, path, &err);
        rh_base__alloc_fail_at(0);
        rh_model_destroy(back);
        assert_int_equal(rh_base__alloc_live(), alive);
        if (!rc)
            break;
        assert_int_equal(rc, RH_ENOMEM);
    }
    rh_model_destroy(model);
}

// In a child of its own, which has the limit.
static int write_limited(const rh_model *model, rlim_t size)
{
    rh_error err;
    int status = 0;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit small;
        getrlimit(RLIMIT_FSIZE, &small);
        small.rlim_cur = size;
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &small) != 0)
            _exit(100);
        rh_status rc = rh_model_write(model, path, &err);
        _exit(rc && !strstr(err.text, "a.model: cannot write") ? 101 : (int)rc);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

// The file system is full half-way: the old file stays, and nothing is left beside it.
static void full_disk(void **unused)
{
    (void)unused;
    rh_error err;
    rh_model *model = make_model(&tiny), *back = NULL;
    worked(rh_model_write(model, path, &err), &err);
    for (rlim_t size = 0; size < 20000; size += 4000) {
        assert_int_equal(write_limited(model, size), RH_EIO);
        worked(rh_model_read(&back, path, &err), &err);
        rh_model_destroy(back);
    }
    rh_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_the_same),
        cmocka_unit_test(texts_survive),
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(parameters_come_and_go),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(signed_nonsense),
        cmocka_unit_test(other_files),
        cmocka_unit_test(every_failed_allocation),
        cmocka_unit_test(full_disk),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
