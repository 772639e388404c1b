// transfer.c - does what agents learn in a model of one half of the log hold in the other?
//
// An agent finds the errors of its model and learns to use those that pay. Models of different
// data have different errors, but both show the plant. So the candidate, which is the winner
// unless the controller is to be kept, learns in a model of each half of the log; then these
// agents act, without learning, in both models. What they lose in the other model they had from
// errors.
//
// 1. As many agents learn in each half as a setting has runs in the check. The loss is the
//    median over all of them: a frozen policy that gets stuck once would set a mean.
// 2. The promise reaches down by the loss: the plant does not have the errors either.
// 3. The share is that of the gain on random actions: 0, all of it holds; 1, nothing does. It
//    is limited after the median: where one half is easier, agents of one half lose what those
//    of the other gain, and limited first, the gains would count as 0.
// 4. These runs use random streams of their own, and stay on rank 0: they are few. The
//    journal keeps their scores; a study that was stopped among them does all of them again.
// 5. An agent that cannot save what it learned leaves the transfer unknown.
// 6. What was practised in models of the agents' part of the log (practice.c) moves in every
//    study: the confirmation runs the agent that imitates it in models of the other part.
//
// Measured, plain studies: medians of six agents' scores in their own half and in the other,
// the score that the study promises, and the true score of the setting.
//
//     log, seed 1                     own    other   promised   true
//     Acrobot, near-optimal, 5,000    -48     -255        -55   -130
//     Acrobot, medium, 5,000         -153     -158       -160   -130
//     Mountain Car, near-optimal      -68     -128       -129   -152
//     Puddle World, medium, 500       -24     -483        -19    -33
//     Cartpole, medium, 10,000       -362     -368       -772   -796

#include "base/base.h"
#include "core.h"
#include "study.h"

#include <math.h>
#include <string.h>

#define HALVES RH_STUDY__HALVES
#define MOST RH_STUDY__MOVED

// Of the journal: where the agent learned, and where it acts.
static const char *const name[HALVES][HALVES] = {
    {"from the first half to the first", "from the first half to the second"},
    {"from the second half to the first", "from the second half to the second"},
};

// ---------------------------------------------------------------------------- learning

// Agents that have learned in one half.
typedef struct learned {
    const rh_study *study;
    const rh_agent_type *agent;
    rh_state *state[MOST]; // owned; NULL: none
    bool full;             // there was no memory for a state
} learned;

static void keep(void *context, const rh_event *event)
{
    learned *all = context;
    if (event->kind != RH_EVENT_RUN || event->result->outcome != RH_FINISHED)
        return;
    rh_status rc = rh_agent_save(event->agent, &all->state[event->run], NULL);
    all->full = all->full || rc == RH_ENOMEM;
}

static bool is_stopped(void *context)
{
    const rh_study_options *opt = &((const learned *)context)->study->opt;
    return opt->stop && opt->stop(opt->context);
}

// The options of all runs; `replicate`: their random streams.
static rh_eval_options how_to_run(learned *all, int nrun, uint64_t replicate)
{
    rh_eval_options how = all->study->eval;
    how.nrun = nrun;
    how.replicate = RH_STUDY__TRANSFER + replicate;
    how.nthread = all->study->opt.nthread;
    how.ncurve = 0;
    how.watch = NULL;
    how.stop = is_stopped;
    how.context = all;
    return how;
}

static rh_status run(learned *all, int first, int nmember, const double *hp,
                     const rh_eval_options *how, rh_result *result, rh_error *err)
{
    const rh_study *study = all->study;
    rh_env *const *env = study->members[RH_STAGE_CHECK].env + first;
    rh_status rc =
        rh_eval_runs(env, nmember, all->agent, &study->task, 1, hp, how, result, NULL, err);
    if (!rc && is_stopped(all))
        rc = rh_fail(err, RH_ESTOPPED, "study: stopped");
    return rc;
}

static rh_status learn(learned *all, int half, const double *hp, int n, rh_error *err)
{
    rh_result result[MOST];
    rh_eval_options how = how_to_run(all, n, (uint64_t)half);
    how.watch = keep;
    rh_status rc = run(all, half, 1, hp, &how, result, err);
    return !rc && all->full ? rh_base__no_memory(err, "study") : rc;
}

// Let agent i act in both halves.
static rh_status act(learned *all, int i, const double *hp, double score[HALVES], rh_error *err)
{
    rh_result result[HALVES];
    rh_eval_options how = how_to_run(all, 1, HALVES);
    how.first_run = (uint64_t)i;
    how.state = all->state[i];
    how.frozen = true;
    for (int half = 0; half < HALVES; half++)
        score[half] = NAN;
    if (!how.state)
        return RH_OK;
    rh_status rc = run(all, 0, HALVES, hp, &how, result, err);
    for (int half = 0; half < HALVES && !rc; half++)
        if (result[half].outcome == RH_FINISHED)
            score[half] = result[half].score;
    return rc;
}

// ---------------------------------------------------------------------------- the journal

// Take what the journal has. Whether that is all.
static bool recall(rh_study *study, rh_study__moved *m)
{
    bool all = study->journal != NULL;
    for (int half = 0; half < HALVES && all; half++)
        for (int to = 0; to < HALVES; to++)
            for (int i = 0; i < m->n; i++)
                all = all && rh_journal__check(study->journal, name[half][to], m->setting, i,
                                               &m->score[half][i][to]);
    return all;
}

static rh_status note(rh_study *study, const rh_study__moved *m, int half, int i, rh_error *err)
{
    rh_status rc = RH_OK;
    study->dirty = true;
    for (int to = 0; to < HALVES && study->journal && !rc; to++)
        rc = rh_journal__add_check(study->journal, name[half][to], m->setting, i,
                                   m->score[half][i][to], err);
    return rc;
}

// ---------------------------------------------------------------------------- both halves

// The check has fitted the models, unless the journal had all of it.
static rh_status fit_halves(rh_study *study, rh_error *err)
{
    rh_members *members = &study->members[RH_STAGE_CHECK];
    rh_model *model = NULL;
    if (members->nmember > 0 && members->first == 0)
        return RH_OK;
    rh_members__clear(members);
    rh_status rc = rh_study__fit_halves(study, &model, err);
    return rc ? rc : rh_members__own(members, model, err);
}

static rh_status move(rh_study *study, rh_study__moved *m, const double *hp, rh_error *err)
{
    rh_status rc = fit_halves(study, err);
    for (int half = 0; half < HALVES && !rc; half++) {
        const rh_study__record *record = rh_study__find(study, m->setting, false);
        learned all = {.study = study, .agent = rh_study__agent(study, &record->trial)};
        rc = learn(&all, half, hp, m->n, err);
        for (int i = 0; i < m->n && !rc; i++) {
            rc = act(&all, i, hp, m->score[half][i], err);
            if (!rc)
                rc = note(study, m, half, i, err);
        }
        for (int i = 0; i < MOST; i++)
            rh_state_destroy(all.state[i]);
    }
    return rc ? rc : rh_study__sync(study, err);
}

// Agents of each half.
static int nagent(const rh_study *study)
{
    return study->plan->check_runs < MOST ? study->plan->check_runs : MOST;
}

int rh_study__ntransfer_run(const rh_study *study)
{
    int nlearn = HALVES * nagent(study);
    bool saved = false; // by any agent: which wins is not known
    for (int i = 0; i < study->plan->agents.n; i++)
        saved = saved || study->plan->agents.type[i]->save;
    return saved ? nlearn + nlearn * HALVES : 0;
}

rh_status rh_study__transfer(rh_study *study, rh_error *err)
{
    if (!study->checking.n)
        return RH_OK;
    const rh_verdict *v = rh_study_verdict(study);
    if (!v)
        return rh_base__no_memory(err, "study");
    int judged = rh_study__judged(v);
    if (judged < 0 || !v->trial[judged].confirm ||
        !rh_study__agent(study, &v->trial[judged])->save)
        return RH_OK;
    rh_study__moved found = {.n = nagent(study), .setting = v->trial[judged].setting};
    rh_status rc = RH_OK;
    if (!recall(study, &found))
        rc = move(study, &found, rh_study__find(study, found.setting, false)->hp, err);
    if (rc)
        return rc;
    study->moved = found;
    study->judged = false; // the verdict depends on it
    return RH_OK;
}

// ---------------------------------------------------------------------------- the result

// The average return of the steps that practice handed on, on the scale of scores.
static double practice_score(const rh_study *study)
{
    rh_prior rows = study->prior;
    const rh_task *task = &study->task;
    if (!rows.npractice || study->eval.criterion != RH_AVERAGE)
        return NAN;
    int64_t width = rh_contract__prior_width(task->nobs, task->nact), nepisode = 0;
    const double *row = rows.row + rows.n * width;
    double sum = 0.0;
    for (int64_t i = 0; i < rows.npractice; i++, row += width) {
        sum += row[task->nobs + task->nact];
        nepisode += row[width - 1] != 0.0; // the last one is cut, if it did not end
    }
    double each = sum / (double)rows.npractice;
    return task->continuing ? each * (double)study->eval.nstep : sum / (double)nepisode;
}

// The score of the confirmed agent that only imitates these steps.
static double practised_score(const rh_study *study)
{
    const rh_verdict *v = &study->verdict;
    const rh_trial *trial = study->trial + v->ntrial - v->nconfirm;
    for (int i = 0; i < v->nconfirm && study->prior.npractice; i++)
        if (strcmp(rh_study__agent(study, &trial[i])->name, RH_PLAN__PRACTISED) == 0)
            return trial[i].value;
    return NAN;
}

rh_transfer rh_study__transferred(const rh_study *study)
{
    const rh_study__moved *m = &study->moved;
    double random = study->verdict.random.score, sorted[HALVES * MOST];
    double same[HALVES * MOST], other[HALVES * MOST], lost[HALVES * MOST], share[HALVES * MOST];
    rh_transfer t = {.n = 0, .same = NAN, .other = NAN, .lost = NAN, .share = NAN};
    int nshare = 0;
    t.practice = practice_score(study);
    t.practised = practised_score(study);
    for (int half = 0; half < HALVES; half++)
        for (int i = 0; i < m->n; i++) {
            double own = m->score[half][i][half], moved = m->score[half][i][1 - half];
            if (!isfinite(own) || !isfinite(moved))
                continue;
            same[t.n] = own;
            other[t.n] = moved;
            lost[t.n++] = own - moved;
            if (own > random) // false where it is unknown
                share[nshare++] = (own - moved) / (own - random);
        }
    if (t.n == 0)
        return t;
    t.same = rh_summarise(same, t.n, sorted).median;
    t.other = rh_summarise(other, t.n, sorted).median;
    t.lost = rh_summarise(lost, t.n, sorted).median;
    if (nshare)
        t.share = fmin(fmax(rh_summarise(share, nshare, sorted).median, 0.0), 1.0);
    return t;
}
