// log_next.c - what to log next: which actions, in which region of the sensors, how many steps.
//
// A study answers for the plant as far as its log shows the steps that its agents take. So the
// leading settings run in the model, and their steps are compared with the log:
//
//     need = min(nearest, 3)    no logged step with this action is near
//            1 / (1 + near)     near: logged steps with this action within the radius
//
// with the radius and the distance of rh_model__cover(). A regression tree per action finds the
// regions in which need is large (regions.c): of the agents' steps, and of logged steps, whose
// need is 0. 1,000 steps are divided among the regions in proportion to their total need.
//
// 1. Visits: up to 5 settings, the winner first, then those tied with it, then the other
//    confirmed ones; 2 runs each in the model of the search, 400 steps of every run. Learning
//    agents try actions that they later avoid, and these steps count too: what the model
//    answers there decides what they learn.
// 2. Without the logged steps in the tree, regions would say where agents go, not where the log
//    is thin. At most as many as visits, evenly spread over the log, so that a long log does
//    not drown them.
// 3. A region has at most 2 sensors, so that a person can follow it, and 5 % of the action's
//    steps in the tree. Continuous actions are features of the tree like sensors, with one
//    split more; the range to log is that of 90 % of the actions there.
// 4. Regions whose mean need is below LEAST_NEED are well logged, and those of less than 1 % of
//    the visits do not matter: no row. A study whose agents stay where the log is dense says
//    nothing.
// 5. Regions that share a face and need about the same are joined. At most 5 rows.
// 6. The runs have random streams of their own. The journal keeps the rows, not the visits: a
//    finished study does not run again.
// 7. A study without a check (check: 0, preset: paper) has none of this either: agents of other
//    programs may be slow, and the user wants nothing beyond the search and the confirmation.
// 8. An action that the log never took comes first: everywhere, and an equal share of the steps
//    for each action. Agents learn to avoid it in a model that knows nothing about it, so their
//    visits would not ask for it.
// 9. Then the effects that the log cannot show (rh_experiments), where agents rely on them: an
//    action in a region in which the controller always or never takes it. What follows there
//    may be the reason of the action and not its effect, however many steps the log has.
//    Steps that differ from what the controller usually does would show it. Where three
//    quarters of the agents' steps are far from the log its regions are those of decision 4.

#include "base/scratch.h"
#include "core.h"
#include "model/model.h"
#include "numeric/stats.h"
#include "regions.h"
#include "visits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS 5                            // decision 1
#define RUNS (RH_STUDY__NEXT_RUNS / SETTINGS) // of each setting, over members of the model
#define SAMPLES 400                           // steps of a run
#define FARTHEST 3.0                          // need of an action that the log never took here
// decision 4; by hand, and the advice depends on it: a study of Cartpole has 4 regions; with
// 0.15 two larger ones come first, with 0.6 one is left out. One of examples/plant.csv has the
// same regions.
#define LEAST_NEED 0.3
// decision 4, of the visits; by hand: 0.005 and 0.02 have the same regions in both
#define LEAST_SHARE 0.01
#define LEAST_LEAF 0.05 // decision 3
// decision 5: ratio of needs; by hand: 1.25 and 2 have the same regions in both
#define ALIKE 1.5
#define UNSHOWN 2  // decision 9: effects that are asked for, at most; by hand
#define STEPS 1000 // to log
#define ROUND 10   // steps of a row are multiples of this
#define INNER 0.05 // decision 3: outside this quantile on either side

// ---------------------------------------------------------------------------- settings

// Add the setting of a trial unless it is there.
static void add(const rh_study *study, int trial, int *setting, double *hp, int *n)
{
    const rh_trial *t = &study->verdict.trial[trial];
    const rh_trial *winner = &study->verdict.trial[study->verdict.winner];
    size_t nparam = (size_t)rh_study__nparam(study, t);
    for (int i = 0; i < *n; i++)
        if (setting[i] == t->setting)
            return;
    if (*n == SETTINGS || !rh_study__can_deploy(t) || t->agent != winner->agent)
        return;
    memcpy(hp + (size_t)*n * nparam, t->hp, nparam * sizeof *hp);
    setting[(*n)++] = t->setting;
}

// The settings to run, the winner first, and their hp (n x nparam); how many. None without a
// winner: no agent is going to be anywhere.
static int choose_settings(const rh_study *study, int *setting, double *hp)
{
    const rh_verdict *v = &study->verdict;
    int n = 0;
    if (v->winner < 0)
        return 0;
    for (int i = 0; i < v->ntied; i++) // the winner first
        add(study, v->tied[i], setting, hp, &n);
    for (int k = 0; k < v->nconfirm; k++) { // the best that are not there yet
        int best = -1;
        for (int i = v->ntrial - v->nconfirm; i < v->ntrial; i++) {
            bool there = false;
            for (int j = 0; j < n; j++)
                there = there || setting[j] == v->trial[i].setting;
            if (!there && rh_study__can_deploy(&v->trial[i]) &&
                (best < 0 || v->trial[i].value > v->trial[best].value))
                best = i;
        }
        if (best >= 0)
            add(study, best, setting, hp, &n);
    }
    return n;
}

static rh_status gather(rh_study *study, int nsetting, const double *hp, rh_visits *visits,
                        rh_error *err)
{
    const rh_members *members = &study->members[RH_STAGE_SEARCH];
    int nmember = members->nmember < RUNS ? members->nmember : RUNS;
    rh_eval_options eval = study->eval;
    eval.nrun = RUNS / nmember;
    eval.replicate = RH_STUDY__VISITS;
    eval.nthread = study->opt.nthread;
    eval.stop = study->opt.stop;
    eval.context = study->opt.context;
    const rh_verdict *v = &study->verdict;
    const rh_agent_type *agent = rh_study__agent(study, &v->trial[v->winner]);
    return rh_visits__gather(visits, members->env, nmember, agent, &study->task, nsetting, hp,
                             &eval, SAMPLES, err);
}

// ---------------------------------------------------------------------------- regions

// How a step in the tree came there.
typedef enum origin {
    COVERED, // a visit with logged steps near
    FAR,     // a visit without
    LOGGED
} origin;

// The steps in the trees.
typedef struct survey {
    const rh_log *log;
    const rh_experiments *known; // NULL: natural experiments were not looked for
    const rh_visits *visits;
    int nfeature; // sensors, then the numbers of a continuous action
    double *x;    // owned: features, steps of an action together    (2 visits->n x nfeature)
    double *need; // owned, likewise                                 (2 visits->n)
    origin *from; // owned, likewise                                 (2 visits->n)
    int64_t first[RH_MAX_ACTIONS + 1]; // first step of an action    (ngroup + 1)
    int ngroup;                        // actions; 1 if they are continuous
} survey;

static double need_of(const rh_cover *cover)
{
    return cover->near ? 1.0 / (1.0 + cover->near) : fmin(cover->nearest, FARTHEST);
}

static int group_of(const rh_log *log, const double *act)
{
    return log->naction ? (int)*act : 0;
}

static void put(survey *s, int64_t at, const double *obs, const double *act, double need,
                origin from)
{
    double *x = s->x + at * s->nfeature;
    memcpy(x, obs, (size_t)s->log->nobs * sizeof *x);
    memcpy(x + s->log->nobs, act, (size_t)(s->nfeature - s->log->nobs) * sizeof *x);
    s->need[at] = need;
    s->from[at] = from;
}

// Copy the visits of an action and as many of its logged steps; where the next action begins.
static int64_t take(survey *s, const rh_cover *cover, int group)
{
    const rh_log *log = s->log;
    int64_t at = s->first[group], nlogged = 0, k = 0;
    for (int64_t i = 0; i < s->visits->n; i++) {
        const double *act = s->visits->act + i * log->nact;
        if (group_of(log, act) == group)
            put(s, at++, s->visits->obs + i * log->nobs, act, need_of(&cover[i]),
                cover[i].near ? COVERED : FAR);
    }
    int64_t most = at - s->first[group];
    for (int64_t i = 0; i < log->n; i++)
        nlogged += group_of(log, log->act + i * log->nact) == group;
    most = nlogged < most ? nlogged : most;
    for (int64_t i = 0; nlogged > 0 && i < log->n; i++) {
        if (group_of(log, log->act + i * log->nact) != group)
            continue;
        if ((k + 1) * most / nlogged > k * most / nlogged)
            put(s, at++, log->obs + (int64_t)log->from[i] * log->nobs, log->act + i * log->nact,
                0.0, LOGGED);
        k++;
    }
    return at;
}

// The visits in a region, and how many of them are far from the log.
static int64_t count_visits(const survey *s, const rh_regions__region *region, int64_t *nfar)
{
    int64_t n = 0;
    *nfar = 0;
    for (int64_t i = s->first[region->group]; i < s->first[region->group + 1]; i++)
        if (s->from[i] != LOGGED && rh_regions__has(region, s->x + i * s->nfeature)) {
            n++;
            *nfar += s->from[i] == FAR;
        }
    return n;
}

static int by_need(const void *a, const void *b)
{
    const rh_regions__region *x = a, *y = b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return x->group - y->group;
}

static bool is_never_taken(const rh_log *log, int action)
{
    for (int64_t i = 0; i < log->n; i++)
        if ((int)log->act[i] == action)
            return false;
    return log->naction > 0;
}

// Put the actions that the log never took before the regions (n, with space for
// RH_REGIONS__MOST of each action); the new number (decision 8).
static int add_never_taken(const survey *s, rh_regions__region *region, int n)
{
    double total = 0.0;
    int nnever = 0, at = 0;
    for (int g = 0; g < s->ngroup; g++)
        nnever += is_never_taken(s->log, g);
    if (nnever == 0)
        return n;
    memmove(region + nnever, region, (size_t)n * sizeof *region);
    for (int i = nnever; i < nnever + n; i++)
        total += region[i].total;
    double all = total > 0.0 ? total / (1.0 - (double)nnever / s->ngroup) : s->ngroup;
    for (int g = 0; g < s->ngroup; g++)
        if (is_never_taken(s->log, g))
            region[at++] = (rh_regions__region){.group = g, .total = all / s->ngroup};
    return n + nnever;
}

static rh_regions__region region_of(const survey *s, const rh_not_shown *effect)
{
    rh_regions__region r = {.group = s->log->naction ? effect->action : 0};
    if (effect->sensor >= 0)
        r.side[r.nside++] = (rh_regions__side){effect->sensor, effect->lo, effect->hi};
    return r;
}

// Put effects that the log does not show and agents rely on before the regions (n, with space
// for so many more); the new number (decision 9).
static int add_not_shown(const survey *s, rh_regions__region *region, int n)
{
    rh_regions__region most[UNSHOWN + 1];
    int nmost = 0;
    for (int i = 0; s->known && i < s->known->nnot_shown; i++) {
        rh_regions__region r = region_of(s, &s->known->not_shown[i]);
        int64_t nfar, nvisit = count_visits(s, &r, &nfar);
        if ((double)nvisit < LEAST_SHARE * (double)s->visits->n || 4 * nfar > 3 * nvisit)
            continue;
        r.n = nvisit;
        r.total = FARTHEST * (double)nvisit;
        if (n > 0 && r.total < region[0].total)
            r.total = region[0].total;
        int at = nmost < UNSHOWN ? nmost++ : UNSHOWN;
        for (; at > 0 && most[at - 1].total < r.total; at--)
            most[at] = most[at - 1];
        most[at] = r;
    }
    memmove(region + nmost, region, (size_t)n * sizeof *region);
    memcpy(region, most, (size_t)nmost * sizeof *region);
    return n + nmost;
}

// Regions worth a row, the most needed first, and their number.
static rh_status find_regions(survey *s, const rh_cover *cover, rh_regions__region *region,
                              int *nregion)
{
    int n = 0;
    for (int g = 0; g < s->ngroup; g++) {
        rh_regions__region leaf[RH_REGIONS__MOST];
        int nleaf;
        s->first[g + 1] = take(s, cover, g);
        if (is_never_taken(s->log, g)) // see add_never_taken()
            continue;
        int64_t nstep = s->first[g + 1] - s->first[g];
        rh_status rc = rh_regions__split(
            nstep, s->nfeature, s->x + s->first[g] * s->nfeature, s->need + s->first[g],
            s->log->naction ? 2 : 3, (int64_t)ceil(LEAST_LEAF * (double)nstep), leaf, &nleaf);
        if (rc)
            return rc;
        for (int i = 0; i < nleaf; i++) {
            leaf[i].group = g;
            if (leaf[i].total >= LEAST_NEED * (double)leaf[i].n)
                region[n++] = leaf[i];
        }
    }
    n = rh_regions__join(region, n, ALIKE);
    int kept = 0;
    for (int i = 0; i < n; i++) {
        int64_t nfar, nvisit = count_visits(s, &region[i], &nfar);
        if ((double)nvisit >= LEAST_SHARE * (double)s->visits->n)
            region[kept++] = region[i];
    }
    qsort(region, (size_t)kept, sizeof *region, by_need);
    kept = add_not_shown(s, region, kept < RH_NEXT_MOST ? kept : RH_NEXT_MOST);
    kept = add_never_taken(s, region, kept < RH_NEXT_MOST ? kept : RH_NEXT_MOST);
    *nregion = kept < RH_NEXT_MOST ? kept : RH_NEXT_MOST;
    return RH_OK;
}

// ---------------------------------------------------------------------------- rows

// The range of number k of the agents' actions in a region. Scratch: x (visits).
static void set_range(const survey *s, const rh_regions__region *region, int k, double *x,
                      rh_next *row)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->first[1]; i++)
        if (s->from[i] != LOGGED && rh_regions__has(region, s->x + i * s->nfeature))
            x[n++] = s->x[i * s->nfeature + s->log->nobs + k];
    rh_stats__sort(x, n);
    row->act_lo[k] = x[(int64_t)(INNER * (double)(n - 1))];
    row->act_hi[k] = x[(int64_t)((1.0 - INNER) * (double)(n - 1))];
}

static bool is_logged_in(const rh_log *log, int64_t i, const rh_next *row)
{
    const double *obs = log->obs + (int64_t)log->from[i] * log->nobs;
    const double *act = log->act + i * log->nact;
    if (row->action >= 0 && (int)*act != row->action)
        return false;
    for (int k = 0; row->action < 0 && k < log->nact; k++)
        if (!(row->act_lo[k] <= act[k] && act[k] <= row->act_hi[k]))
            return false;
    for (int k = 0; k < row->nside; k++) {
        double x = obs[row->side[k].sensor];
        if (!(row->side[k].lo <= x && x < row->side[k].hi))
            return false;
    }
    return true;
}

static rh_status make_row(const survey *s, const rh_regions__region *region, rh_next *row)
{
    const rh_log *log = s->log;
    int64_t nfar, nvisit = count_visits(s, region, &nfar);
    *row = (rh_next){.action = log->naction ? region->group : -1,
                     .agent = (double)nvisit / (double)s->visits->n,
                     .alone = nvisit ? (double)nfar / (double)nvisit : 1.0};
    for (int i = 0; i < region->nside; i++) {
        const rh_regions__side *side = &region->side[i];
        if (side->feature >= log->nobs)
            continue;
        row->side[row->nside].sensor = side->feature;
        row->side[row->nside].lo = side->lo;
        row->side[row->nside++].hi = side->hi;
    }
    double *x = log->naction ? NULL : rh_alloc((size_t)nvisit, sizeof *x);
    if (!x && !log->naction)
        return RH_ENOMEM;
    for (int k = 0; x && k < log->nact; k++)
        set_range(s, region, k, x, row);
    rh_free(x);
    for (int64_t i = 0; i < log->n; i++)
        row->nlogged += is_logged_in(log, i, row);
    return RH_OK;
}

// Divide the steps by largest remainders.
static void share_out(const rh_regions__region *region, int n, rh_next *row)
{
    double total = 0.0;
    int left = STEPS / ROUND;
    for (int i = 0; i < n; i++)
        total += region[i].total;
    double rest[RH_NEXT_MOST];
    for (int i = 0; i < n; i++) {
        double part = region[i].total / total * (STEPS / ROUND);
        int whole = (int)part;
        rest[i] = part - whole;
        row[i].steps = whole * ROUND;
        left -= whole;
    }
    for (; left > 0 && n > 0; left--) {
        int most = 0;
        for (int i = 1; i < n; i++)
            if (rest[i] > rest[most])
                most = i;
        row[most].steps += ROUND;
        rest[most] = -1.0;
    }
}

static rh_status make_rows(survey *s, const rh_cover *cover, rh_study *study)
{
    int n = 0;
    size_t room = (size_t)s->ngroup * RH_REGIONS__MOST + UNSHOWN;
    rh_regions__region *region = rh_alloc(room, sizeof *region);
    rh_status rc = region ? find_regions(s, cover, region, &n) : RH_ENOMEM;
    for (int i = 0; i < n && !rc; i++)
        rc = make_row(s, &region[i], &study->next[i]);
    if (!rc) {
        share_out(region, n, study->next);
        study->nnext = n;
    }
    rh_free(region);
    return rc;
}

static rh_status find_rows(rh_study *study, const rh_visits *visits, rh_error *err)
{
    const rh_model *model = rh_study__model(study);
    const rh_log *log = rh_model_log(model);
    const rh_fidelity *fidelity = rh_model_fidelity(model);
    survey s = {.log = log,
                .known = fidelity ? &fidelity->experiments : NULL,
                .visits = visits,
                .nfeature = log->nobs + (log->naction ? 0 : log->nact),
                .ngroup = log->naction ? log->naction : 1};
    size_t most = 2 * (size_t)visits->n + 1; // as many logged steps as visits
    rh_scratch scratch = {0};
    rh_cover *cover = rh_scratch__take(&scratch, most, sizeof *cover);
    s.x = rh_scratch__take(&scratch, most, (size_t)s.nfeature * sizeof *s.x);
    s.need = rh_scratch__take(&scratch, most, sizeof *s.need);
    s.from = rh_scratch__take(&scratch, most, sizeof *s.from);
    rh_status rc = scratch.failed ? rh_base__no_memory(err, "study") : RH_OK;
    if (!rc)
        rc = rh_model__cover(model, visits->n, visits->obs, visits->act, cover, NULL, err);
    if (!rc && make_rows(&s, cover, study) != RH_OK)
        rc = rh_base__no_memory(err, "study");
    rh_scratch__clear(&scratch);
    return rc;
}

// ---------------------------------------------------------------------------- words

const rh_not_shown *rh_study__not_shown(const rh_model *model, const rh_next *row)
{
    const rh_fidelity *f = rh_model_fidelity(model);
    bool discrete = rh_model_log(model)->naction > 0;
    for (int i = 0; f && i < f->experiments.nnot_shown; i++) {
        const rh_not_shown *e = &f->experiments.not_shown[i];
        bool same = e->sensor < 0 ? row->nside == 0
                                  : row->nside == 1 && row->side[0].sensor == e->sensor &&
                                        row->side[0].lo == e->lo && row->side[0].hi == e->hi;
        if (same && (!discrete || row->action == e->action))
            return e;
    }
    return NULL;
}

// Fill in what and why.
static void word(const rh_model *model, rh_next *row)
{
    const rh_log *log = rh_model_log(model);
    const rh_not_shown *effect = rh_study__not_shown(model, row);
    row->what[0] = 0;
    if (row->action >= 0)
        rh_text__printable(log->label[row->action], row->what, sizeof row->what);
    for (int k = 0; row->action < 0 && k < log->nact; k++) {
        char name[40];
        rh_text__printable(log->act_name[k], name, sizeof name);
        rh_text__put(row->what, sizeof row->what, "%s%s %.3g to %.3g", k ? ", " : "", name,
                     row->act_lo[k], row->act_hi[k]);
    }
    if (row->action >= 0 && row->nside == 0 && row->nlogged == 0) {
        snprintf(row->why, sizeof row->why,
                 "the log never takes this action: a model of it cannot say what it does");
        return;
    }
    if (effect) {
        snprintf(
            row->why, sizeof row->why,
            "the agent does this in %.2g %% of its steps; %lld of the log's %lld steps there "
            "show what it does: in the others the controller does what it usually does",
            100.0 * row->agent, (long long)effect->nchoice, (long long)effect->nstep);
        return;
    }
    snprintf(
        row->why, sizeof row->why,
        "the agent does this in %.2g %% of its steps, the log in %.2g %% (%lld step%s); in "
        "%.0f %% of the agent's cases the log has no such step near",
        100.0 * row->agent, 100.0 * (double)row->nlogged / (double)log->n,
        (long long)row->nlogged, row->nlogged == 1 ? "" : "s", 100.0 * row->alone);
}

rh_status rh_study__find_next(rh_study *study, rh_error *err)
{
    const rh_log *log = rh_model_log(rh_study__model(study));
    int setting[SETTINGS], n;
    if (!study->plan->check_runs) // decision 7
        return RH_OK;
    double *hp = rh_alloc(RH_STUDY__NHP, SETTINGS * sizeof *hp);
    rh_visits visits = {0};
    rh_status rc = RH_OK;
    if (!hp || !rh_study_verdict(study)) {
        rc = rh_base__no_memory(err, "study");
        goto done;
    }
    n = choose_settings(study, setting, hp);
    if (n == 0)
        goto done;
    bool known = study->journal &&
                 rh_journal__next(study->journal, setting, n, log, study->next, &study->nnext);
    if (!known) {
        rc = gather(study, n, hp, &visits, err);
        if (!rc)
            rc = find_rows(study, &visits, err);
        if (!rc && study->journal)
            rc = rh_journal__add_next(study->journal, setting, n, log, study->next,
                                      study->nnext, err);
    }
    for (int i = 0; i < study->nnext && !rc; i++)
        word(rh_study__model(study), &study->next[i]);
    study->judged = false; // the verdict depends on it

done:
    rh_visits__clear(&visits);
    rh_free(hp);
    return rc;
}
