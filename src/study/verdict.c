// verdict.c - the setting to deploy and the settings tied with it.
//
// 1. The winner is the confirmed setting with the highest lower bound: a high mean of few and
//    scattered runs is no promise. With several kinds of model it must hold in all of them
//    (agree.c). Without a confirmation it is the choice of the search. A setting with diverged
//    runs ranks below all without, and is not tied with them (run.c, decision 6).
// 2. Two settings are tied if the differences of their paired runs, or members, include 0 (95
//    %). A setting that a race dropped is not tied: the race dropped it as clearly worse.
// 3. A parameter is at a bound when the winner is in the last hundredth of its range, or at the
//    end of a list of three or more, and the agent would accept values further out.
// 4. Importance is computed from the settings of the search, which are the most. Of several
//    agents it is that of the winner's parameters, from the settings of this agent.
// 5. A setting without a finite score, or all of whose runs diverged, is not deployed,
//    confirmed or not. If no other is left there is no winner, and best.yaml is not written.
// 6. A study that was given more trials may have confirmed settings that no longer lead. When
//    finished, it leaves out trials it did not ask for, as if it had all from the start.
// 7. The clone of the logged controller is no choice by score. The best of the other confirmed
//    settings is the candidate, and the claims are about it (claims.c). If it is probably not
//    better than the controller, the clone is the winner, if it keeps the limits; where the
//    probability is unknown, if the candidate does not beat the clone beyond chance in every
//    kind of model, or the clone is a poor one (imitation.c). The clone is also the winner if
//    the candidate's level of trust, after what excludes a level, is below medium: of 42 such
//    agents 16 were worse on the plant than the controller (bench/verdict_plants.csv), one of
//    hvac nine times. The trust stays that of the candidate.
// 8. Of a study with limits only a setting is deployed that keeps all of them (limiting.c).

#include "core.h"
#include "search/search.h"
#include "study.h"
#include "trust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT_BOUND 0.01 // decision 3, of the range
#define LEAST_EXTRA 4 // settings beyond the number of dimensions, for importance
#define KEEP 0.4      // decision 7: as "probably not" (today.c)

static int in_order(const void *a, const void *b)
{
    const rh_trial *x = a, *y = b;
    if (x->confirm != y->confirm)
        return x->confirm ? 1 : -1;
    return x->setting - y->setting;
}

static int find(const rh_verdict *v, int setting, bool confirm)
{
    for (int i = 0; i < v->ntrial; i++)
        if (v->trial[i].setting == setting && v->trial[i].confirm == confirm)
            return i;
    return -1;
}

// Whether confirmed setting a ranks above b.
static bool ranks_above(const rh_study *study, const rh_trial *a, const rh_trial *b)
{
    if (rh_study__is_behind(study, a, b) || rh_study__is_behind(study, b, a))
        return rh_study__is_behind(study, b, a);
    return rh_study__holds_better(a, b);
}

bool rh_study__can_deploy(const rh_trial *trial)
{
    int n = trial->nmember * trial->nrun, nsound = 0;
    for (int i = 0; i < n; i++)
        nsound += trial->result[i].outcome == RH_FINISHED;
    return nsound > 0 && isfinite(trial->value);
}

// Whether a setting can be deployed; a finished study knows whether it keeps the limits.
static bool is_allowed(const rh_study *study, int i)
{
    const rh_trial *t = &study->verdict.trial[i];
    return rh_study__can_deploy(t) && (!study->finished || rh_study__allows(study, t, -1));
}

// The choice of the search, or the best one that can be deployed; -1: none can.
static int choose_by_search(const rh_study *study)
{
    const rh_verdict *v = &study->verdict;
    int best = -1;
    if (is_allowed(study, v->search_best))
        return v->search_best;
    for (int i = 0; i < v->ntrial - v->nconfirm; i++)
        if (is_allowed(study, i) && (best < 0 || v->trial[i].value > v->trial[best].value))
            best = i;
    return best;
}

// The best confirmed setting but the clone; -1: none can be deployed. Decision 7.
static int choose_confirmed(const rh_study *study)
{
    const rh_verdict *v = &study->verdict;
    int best = -1, clone = rh_study__clone(study);
    for (int i = v->ntrial - v->nconfirm; i < v->ntrial; i++)
        if (i != clone && is_allowed(study, i) &&
            (best < 0 || ranks_above(study, &v->trial[i], &v->trial[best])))
            best = i;
    return best;
}

static void find_winner(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    rh_search__lead_entry leader;
    v->winner = v->candidate = v->winner_search = v->search_best = -1;
    if (rh_study__leaders(study, 1, &leader) == 0)
        return;
    v->search_best = find(v, leader.setting, false);
    if (study->finished && v->nconfirm)
        v->winner = v->candidate = choose_confirmed(study);
    else
        v->winner = choose_by_search(study);
}

// Decision 7, once the claims are made.
void rh_study__settle(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    int clone = rh_study__clone(study);
    double p = v->trust.claim[RH_CLAIM_BETTER].probability;
    if (v->finished && clone >= 0 && is_allowed(study, clone)) {
        bool better =
            v->candidate >= 0 &&
            (isnan(p) ? !v->imitation.poor &&
                            rh_study__beats(study, &v->trial[v->candidate], &v->trial[clone])
                      : p > KEEP);
        v->winner = better ? v->candidate : clone;
    }
    if (v->winner >= 0)
        v->winner_search = find(v, v->trial[v->winner].setting, false);
}

static void find_ties(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    if (v->winner < 0)
        return;
    const rh_trial *best = &v->trial[v->winner];
    v->tied[v->ntied++] = v->winner;
    for (int i = 0; i < v->ntrial; i++) {
        const rh_trial *t = &v->trial[i];
        if (i == v->winner || t->confirm != best->confirm || isnan(t->value) ||
            t->state == RH_SETTING_DROPPED || rh_study__is_behind(study, t, best))
            continue;
        if (!rh_study__is_tied(study, best, t))
            continue;
        // better ones first, after the winner
        int at = v->ntied++;
        for (; at > 1 && v->trial[v->tied[at - 1]].value < t->value; at--)
            v->tied[at] = v->tied[at - 1];
        v->tied[at] = i;
    }
}

// Whether the agent accepts values further out than the end of the searched range.
static bool extends(const rh_study *study, int d, bool upper)
{
    const rh_plan *plan = study->plan;
    const rh_param *param = rh_plan__dim(plan, d, NULL, NULL);
    double end, hp[RH_STUDY__NHP], x[RH_MAX_DIM];
    const rh_dim *dim = &plan->space.dim[d];
    memcpy(x, study->verdict.trial[study->verdict.winner].x,
           (size_t)plan->space.ndim * sizeof *x);
    end = dim->kind == RH_DIM_RANGE ? (upper ? dim->hi : dim->lo)
                                    : dim->value[upper ? dim->nvalue - 1 : 0];
    x[d] = end;
    rh_plan__hp(plan, x, hp);
    double value = hp[plan->dim[d].param];
    return value != param->lo && value != param->hi;
}

static void find_bounds(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    const rh_space *space = &study->plan->space;
    double u[RH_MAX_DIM];
    if (v->winner < 0)
        return;
    const double *x = v->trial[v->winner].x;
    rh_space__unit(space, x, u);
    for (int d = 0; d < space->ndim; d++) {
        const rh_dim *dim = &space->dim[d];
        bool lower = u[d]<AT_BOUND, upper = u[d]> 1.0 - AT_BOUND;
        if (dim->kind == RH_DIM_NAMES || rh_dim__count(dim) < 3.0 ||
            !rh_space__has(space, x, d))
            continue;
        if (dim->kind == RH_DIM_LIST) {
            lower = x[d] == dim->value[0];
            upper = x[d] == dim->value[dim->nvalue - 1];
        } else {
            lower = lower || x[d] == dim->lo;
            upper = upper || x[d] == dim->hi;
        }
        if (lower && extends(study, d, false))
            v->bound[d] = -1;
        if (upper && extends(study, d, true))
            v->bound[d] = 1;
    }
}

static rh_status find_importance(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    rh_space space;
    int dim[RH_MAX_DIM], agent = v->winner < 0 ? 0 : v->trial[v->winner].agent;
    double share[RH_MAX_DIM], total[RH_MAX_DIM];
    rh_plan__branch(study->plan, agent, &space, dim);
    int ndim = space.ndim, n = 0, nknown = 0, nsearch = v->ntrial - v->nconfirm;
    for (int d = 0; d < study->plan->space.ndim; d++)
        v->importance.alone[d] = v->importance.total[d] = NAN;
    for (int i = 0; i < nsearch; i++)
        nknown += !isnan(v->trial[i].value) && v->trial[i].agent == agent;
    if (ndim == 0 || nknown < ndim + LEAST_EXTRA)
        return RH_OK;
    double *x = rh_alloc((size_t)nknown, (size_t)(ndim + 2) * sizeof *x);
    if (!x)
        return RH_ENOMEM;
    double *value = x + (size_t)nknown * (size_t)ndim, *noise = value + nknown;
    for (int i = 0; i < nsearch; i++) {
        const rh_study__record *record = rh_study__find(study, v->trial[i].setting, false);
        if (isnan(v->trial[i].value) || v->trial[i].agent != agent)
            continue;
        for (int d = 0; d < ndim; d++)
            x[n * ndim + d] = record->x[dim[d]];
        value[n] = record->trial.value;
        noise[n++] = record->noise;
    }
    rh_status rc = rh_importance__shares(&space, n, x, value, noise, share, total,
                                         &v->importance.exact, NULL);
    v->importance.known = rc == RH_OK;
    for (int d = 0; d < ndim && !rc; d++) {
        v->importance.alone[dim[d]] = share[d];
        v->importance.total[dim[d]] = total[d];
    }
    rh_free(x);
    return rc == RH_ENOMEM ? rc : RH_OK;
}

// What follows from the winner.
static rh_status judge_winner(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    const rh_fidelity *fidelity = rh_model_fidelity(rh_study__model(study));
    v->ntied = 0;
    v->importance.known = false;
    memset(v->bound, 0, (size_t)study->plan->space.ndim * sizeof *v->bound);
    rh_findings__clear(&v->findings);
    rh_study__limiting(study);
    find_ties(study);
    find_bounds(study);
    rh_status rc = find_importance(study);
    if (!rc)
        rc = rh_study__find_rare(study);
    if (!rc)
        rc = rh_study__answer(study);
    if (!rc)
        rc = rh_study__findings(study);
    if (!rc)
        rc = rh_study__gather(study);
    if (rc)
        return rc;
    rh_trust__judge(v, fidelity ? &fidelity->findings : NULL);
    if (fidelity && rh_trust__too_easy(&fidelity->findings))
        rh_study__withdraw(study);
    return RH_OK;
}

// Whether the candidate won, and is not trusted enough to replace the controller. Decision 7.
static bool is_doubted(const rh_study *study)
{
    const rh_verdict *v = &study->verdict;
    int clone = rh_study__clone(study);
    return v->finished && v->candidate >= 0 && v->winner == v->candidate && clone >= 0 &&
           is_allowed(study, clone) && !isnan(v->trust.claim[RH_CLAIM_BETTER].probability) &&
           (v->trust.level == RH_TRUST_CANNOT || v->trust.level == RH_TRUST_LOW);
}

rh_status rh_study__judge_all(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    size_t n = (size_t)study->nrecord + 1, ndim = (size_t)study->plan->space.ndim + 1;
    study->trial = rh_alloc(n, sizeof *study->trial);
    v->tied = rh_alloc(n, sizeof *v->tied);
    v->bound = rh_alloc(ndim, sizeof *v->bound);
    v->importance.alone = rh_alloc(ndim, sizeof *v->importance.alone);
    v->importance.total = rh_alloc(ndim, sizeof *v->importance.total);
    if (!study->trial || !v->tied || !v->bound || !v->importance.alone || !v->importance.total)
        return RH_ENOMEM;
    for (int i = 0; i < study->nrecord; i++) {
        const rh_study__record *record = study->record[i];
        if (study->finished && !record->closed) // decision 6
            continue;
        study->trial[v->ntrial++] = record->trial;
        v->nconfirm += record->trial.confirm;
    }
    qsort(study->trial, (size_t)v->ntrial, sizeof *study->trial, in_order);
    v->trial = study->trial;
    v->finished = study->finished;
    v->nrun = study->nrun;
    v->nrun_resumed = study->nrun_resumed;
    v->nstep = study->nstep;
    v->seconds = rh_study__now() - study->begun;
    for (int k = 0; k < study->kinds.n; k++)
        study->kind[k] = study->kinds.kind[k].label;
    v->kind = study->kind;
    v->nkind = study->kinds.n;
    v->optimism = study->optimism;
    v->check.model = study->checking.check;
    v->check.nmodel = study->finished ? study->checking.n : 0; // runs may be missing before
    v->check.setting = study->checking.setting;
    v->check.nsetting = study->checking.nsetting;
    v->check.nreference = study->checking.nreference;
    v->next = study->next;
    v->nnext = study->nnext;
    rh_status rc = rh_study__regrets(study);
    if (rc)
        return rc;
    find_winner(study);
    rc = rh_study__compare(study);
    if (rc)
        return rc;
    rh_study__claim(study);
    rh_study__allow_for_advantage(study);
    rh_study__settle(study);
    rc = judge_winner(study);
    if (!rc && is_doubted(study)) {
        rh_trust trust = v->trust;
        v->winner = rh_study__clone(study);
        v->winner_search = find(v, v->trial[v->winner].setting, false);
        rc = judge_winner(study);
        v->trust = trust;
        rh_trust__keep(v);
    }
    return rc;
}
