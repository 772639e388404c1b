// leaders.c - the leading settings of the search, which are confirmed (run.c, decisions 4, 6,
// 7).

#include "core.h"
#include "search/search.h"

#include <math.h>
#include <string.h>

// of a range: closer settings are nearly equal; by hand, and a close choice depends on it. In
// a study of examples/plant.csv 0.025 has the same winner, 0.1 another: -61.6 instead of
// -50.8.
#define APART 0.05
#define SAFE 4 // decision 8: one in so many; by hand

// Draw among settings with exactly the best score, as in the paper.
static void shuffle_ties(const rh_study *study, rh_search__lead_entry *leader, int n)
{
    int ntied = 1;
    while (ntied < n && leader[ntied].value == leader[0].value)
        ntied++;
    rh_rng rng = rh_rng_stream(study->plan->seed, RH_STREAM_SEARCH, 1, 0);
    int chosen = n ? (int)rh_rng_below(&rng, (uint32_t)ntied) : 0;
    if (chosen > 0) {
        rh_search__lead_entry first = leader[0];
        leader[0] = leader[chosen];
        leader[chosen] = first;
    }
}

// Whether two settings are nearly equal.
static bool is_near(const rh_study *study, int a, int b)
{
    const rh_space *space = &study->plan->space;
    double u[RH_MAX_DIM], w[RH_MAX_DIM];
    rh_space__unit(space, rh_search__proposed(study->search, a), u);
    rh_space__unit(space, rh_search__proposed(study->search, b), w);
    for (int d = 0; d < space->ndim; d++)
        if (fabs(u[d] - w[d]) >= (space->dim[d].kind == RH_DIM_RANGE ? APART : 1e-9))
            return false;
    return true;
}

// Move the first `most` distinct settings to the front; others follow in order. A setting with
// diverged runs stays behind all without, also where these are nearly equal. Scratch: aside.
static void spread(const rh_study *study, rh_search__lead_entry *leader, int n, int most,
                   rh_search__lead_entry *aside)
{
    int nkept = 0, naside = 0;
    for (int i = 0; i < n && nkept < most; i++) {
        const rh_study__record *first = rh_study__find(study, leader[0].setting, false),
                               *this = rh_study__find(study, leader[i].setting, false);
        bool near = rh_study__is_behind(study, &this->trial, &first->trial);
        for (int k = 0; k < nkept && !near; k++)
            near = is_near(study, leader[i].setting, leader[k].setting);
        if (near)
            aside[naside++] = leader[i];
        else
            leader[nkept++] = leader[i];
    }
    memcpy(leader + nkept, aside, (size_t)naside * sizeof *leader);
}

// Move the leading setting of every agent to the front: all agents are compared on new models.
// Scratch: aside.
static void front_agents(const rh_study *study, rh_search__lead_entry *leader, int n,
                         rh_search__lead_entry *aside)
{
    bool seen[RH_PLAN__AGENTS] = {false};
    int nfront = 0, naside = 0;
    for (int i = 0; i < n; i++) {
        int agent = rh_study__find(study, leader[i].setting, false)->trial.agent;
        if (seen[agent])
            aside[naside++] = leader[i];
        else
            leader[nfront++] = leader[i];
        seen[agent] = true;
    }
    memcpy(leader + nfront, aside, (size_t)naside * sizeof *leader);
}

// The place, from `from` on but not `without`, of the setting with the highest score, or of the
// one farthest below its limits; -1: none has a score.
static int outstanding(const rh_study *study, const rh_search__lead_entry *leader, int n,
                       int from, int without, bool score)
{
    double most = -INFINITY;
    int best = -1;
    for (int i = from; i < n; i++) {
        const rh_trial *t = &rh_study__find(study, leader[i].setting, false)->trial;
        double x = score ? t->value : -rh_study__excess(study, t, false);
        if (i != without && t->ndiverged == 0 && isfinite(t->value) && x > most) {
            best = i;
            most = x;
        }
    }
    return best;
}

static void swap(rh_search__lead_entry *leader, int a, int b)
{
    rh_search__lead_entry moved = leader[a];
    leader[a] = leader[b];
    leader[b] = moved;
}

// Decision 8: the last of the first `most` settings.
static void reserve_places(const rh_study *study, rh_search__lead_entry *leader, int n,
                           int most)
{
    int nsafe = most / SAFE > 1 ? most / SAFE : 1, last = most - 1;
    if (!study->limits.nlimit || last - nsafe < 1 || n <= most)
        return;
    int best = outstanding(study, leader, n, 0, -1, true);
    if (best >= most)
        swap(leader, last, best);
    for (int at = last - nsafe; at < last; at++) {
        best = outstanding(study, leader, n, at, last, false);
        if (best >= 0)
            swap(leader, at, best);
    }
}

int rh_study__leaders(const rh_study *study, int most, rh_search__lead_entry *leader)
{
    rh_search__lead_entry all[RH_STUDY__MOST_CONFIRM], aside[RH_STUDY__MOST_CONFIRM];
    int n = rh_search__lead(study->search, RH_STUDY__MOST_CONFIRM, all);
    if (study->plan->ranking == RH_RANKING__VALUE)
        shuffle_ties(study, all, n);
    else {
        front_agents(study, all, n, aside);
        spread(study, all, n, most, aside);
    }
    reserve_places(study, all, n, most);
    n = n < most ? n : most;
    memcpy(leader, all, (size_t)n * sizeof *leader);
    return n;
}
