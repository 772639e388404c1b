// fidelity_findings.c - turns the measurements of a model's fidelity into findings.
//
// 1. No finding is an error: a model that is far too easy may still rank settings well (Acrobot
//    without reach: random actions return -10 to -27 where the log's mean is -93, and 54
//    settings are ranked with Kendall tau 0.8). A warning says: look at the evidence before you
//    trust the ranking. A notice is for information.
// 2. Each finding appears once, however many actions it concerns.
// 3. Simulated and logged episodes are compared in pairs: the share of all pairs in which the
//    simulated one is better, ties counting half (the Mann-Whitney statistic), which assumes
//    nothing about the distribution of returns. If both are alike it is 1/2, with a standard
//    error of sqrt((m + n + 1) / (12 m n)). A difference within two standard errors is ignored.

#include "fidelity_internal.h"

#include <math.h>
#include <string.h>

static const struct limits {
    double reward_left, reward_told, reward_many, end_ratio, held, out_of_coverage, differs,
        sure, jump, random_jump, truncated_logged, truncated_simulated, passed;
    int64_t ends, few_starts, few_episodes;
} limit = {
    // an error as large as that of the mean, and less than a tenth of the variance explained,
    // because rare rewards have large errors even if they are half predicted. At least ten
    // unusual rewards: fewer may be an accident
    .reward_left = 0.95,
    .reward_told = 0.1,
    .reward_many = 10.0,
    // ends predicted twice as likely at ends as elsewhere; again at least ten
    .end_ratio = 2.0,
    .ends = 10,
    // a quarter of the log's own steps, half of what an agent may try
    .held = 0.25,
    .out_of_coverage = 0.5,
    // a simulated episode is better than a logged one in more than 60 % of the pairs, or less
    // than 40 %, by two standard errors
    .differs = 0.1,
    .sure = 2.0,
    // stitches longer than a step; random actions leave the logged paths and may need three
    // (in logs of good policies: 0.5 in Acrobot, 2 in Mountain Car)
    .jump = 1.0,
    .random_jump = 3.0,
    // a limit set by hand within 5 % of the log may be an alarm's; more is a mistake
    .passed = 0.05,
    // most logged episodes end, hardly any simulated one does
    .truncated_logged = 0.5,
    .truncated_simulated = 0.9,
    .few_starts = 3,
    .few_episodes = 10,
};

// ---------------------------------------------------------------------------- texts

typedef bool (*chooser)(const rh_fidelity_action *action);

// List the first few actions that `which` selects, with their coverage if told; how many.
static int list_actions(const rh_fidelity__work *w, chooser which, bool told, char *out,
                        size_t size)
{
    int n = 0;
    out[0] = 0;
    for (int a = 0; a < w->log->naction; a++) {
        const rh_fidelity_action *action = &w->f->action[a];
        if (!which(action) || n++ >= 4)
            continue;
        char label[36];
        rh_text__put(out, size, "%s'%s'", n > 1 ? ", " : "",
                     rh_text__printable(w->log->label[a], label, sizeof label));
        if (told)
            rh_text__put(out, size, " from %.0f %% of the states",
                         100.0 * action->out_of_coverage);
    }
    if (n > 4)
        rh_text__put(out, size, " and %d more", n - 4);
    return n;
}

// ---------------------------------------------------------------------------- prediction

// Compared by sensors in units of their spread, not by codes: Laplacian codes hardly change in
// a step, so nothing beats the persistence forecast there.
static void find_prediction(const rh_fidelity__work *w)
{
    double model = 0.0, persistence = 0.0;
    int n = 0;
    for (int k = 0; k < w->log->nobs; k++) {
        const rh_fidelity_error *e = &w->f->sensor[k];
        if (!(e->mean > 0.0))
            continue;
        model += e->model / e->mean * (e->model / e->mean);
        persistence += e->persistence / e->mean * (e->persistence / e->mean);
        n++;
    }
    model = 100.0 * sqrt(model / n);
    persistence = 100.0 * sqrt(persistence / n);
    bool mean = model >= 100.0;
    if (!mean && !(model > persistence))
        return;
    rh_finding *found = rh_findings__add(
        &w->f->findings, mean ? RH_WARNING : RH_NOTICE, RH_FINDING_PREDICTION_NO_BETTER,
        w->f->nheld,
        "the error of the predicted next observation is %.3g %% of its spread on held-out "
        "steps; %s: %.3g %%",
        model, mean ? "always predicting the mean" : "persistence forecast",
        mean ? 100.0 : persistence);
    rh_findings__advise(
        found, mean ? "the model predicts nothing: check that rows are in order and actions "
                      "are in the right rows (rehearse inspect), or log more"
                    : "the model is too coarse for single steps this short: log more, or "
                      "use rows farther apart in time");
}

static void find_reward(const rh_fidelity__work *w)
{
    const rh_fidelity_error *e = &w->f->reward;
    if (!(e->model >= limit.reward_left * e->mean) || e->mean == 0.0 || isinf(e->mean) ||
        w->reward_told > limit.reward_told || w->reward_many < limit.reward_many)
        return;
    rh_finding *found = rh_findings__add(
        &w->f->findings, RH_WARNING, RH_FINDING_REWARD_UNPREDICTABLE, w->f->nheld,
        "the error of the predicted reward is %.3g on held-out steps; always predicting "
        "the mean: %.3g; the prediction explains %.0f %% of the variance",
        e->model, e->mean, 100.0 * w->reward_told);
    rh_findings__advise(
        found, "the reward depends on something the sensors do not measure, or is too rare "
               "to learn: add the sensor, or log more");
}

// Rewards that never vary: only the length of an episode can be good or bad.
static void find_same_rewards(const rh_fidelity__work *w)
{
    const rh_log *log = w->log;
    bool ends = false;
    for (int64_t i = 0; i < log->n; i++) {
        if (log->reward[i] != log->reward[0])
            return;
        ends = ends || (log->flag[i] & RH_FLAG_TERMINAL);
    }
    bool zero = log->reward[0] == 0.0;
    if (ends && !zero)
        return;
    rh_finding *found = rh_findings__add(
        &w->f->findings, RH_ERROR, RH_FINDING_NOTHING_TO_LEARN, log->n,
        "all rewards are %.6g%s: the log does not say what is good, and settings "
        "differ only by the model's penalties",
        log->reward[0], zero ? "" : " and no episode terminates");
    rh_findings__advise(found,
                        "log until episodes terminate (--terminal), or name columns that cost "
                        "or earn with --reward");
}

static void find_ends(const rh_fidelity__work *w)
{
    // nothing to compare if every step ends an episode
    if (w->nended < limit.ends || !(w->said_ends <= limit.end_ratio * w->said_others))
        return;
    rh_finding *found = rh_findings__add(
        &w->f->findings, RH_WARNING, RH_FINDING_ENDS_UNPREDICTED, w->nended,
        "the model predicts an end with probability %.3g %% at the %lld held-out steps "
        "that end an episode, and with %.3g %% at the others",
        100.0 * w->said_ends, (long long)w->nended, 100.0 * w->said_others);
    rh_findings__advise(
        found, "the sensors do not show what ends an episode: add one that does, or mark "
               "time limits as truncations (--truncated)");
}

static void find_held_out(const rh_fidelity__work *w)
{
    if (!(w->f->held_out_of_coverage > limit.held))
        return;
    rh_finding *found = rh_findings__add(
        &w->f->findings, RH_WARNING, RH_FINDING_LOW_COVERAGE, w->f->nheld,
        "%.0f %% of %lld held-out steps are out of coverage of the log's other episodes",
        100.0 * w->f->held_out_of_coverage, (long long)w->f->nheld);
    rh_findings__advise(
        found, "the episodes have little in common: log more of them, or set a larger reach");
}

// ---------------------------------------------------------------------------- actions

static bool never_taken(const rh_fidelity_action *action)
{
    return action->share == 0.0;
}

static bool uncovered(const rh_fidelity_action *action)
{
    return action->share > 0.0 && action->out_of_coverage > limit.out_of_coverage;
}

static void find_actions(const rh_fidelity__work *w)
{
    static const char penalty[] =
        "there the model gives a penalty instead of logged experience: log %s, or set a larger "
        "reach";
    char names[300];
    int n = list_actions(w, never_taken, false, names, sizeof names);
    if (n > 0) {
        rh_finding *found = rh_findings__add(
            &w->f->findings, RH_ERROR, RH_FINDING_NEVER_TAKEN, n,
            "the log never takes %s: it cannot say what the agent will meet", names);
        rh_findings__advise(found,
                            "the model assumes the worst: exclude it from the agent's actions "
                            "(--actions), or log a period in which it is tried");
    }
    n = list_actions(w, uncovered, true, names, sizeof names);
    if (n > 0) {
        rh_finding *found =
            rh_findings__add(&w->f->findings, RH_WARNING, RH_FINDING_ACTION_OUT_OF_COVERAGE, n,
                             "out of coverage: %s", names);
        rh_findings__advise(found, penalty, "the action in more states");
    }
    if (w->log->naction == 0 && w->f->out_of_coverage > limit.out_of_coverage) {
        rh_finding *found =
            rh_findings__add(&w->f->findings, RH_WARNING, RH_FINDING_ACTION_OUT_OF_COVERAGE, 1,
                             "%.0f %% of the pairs of a logged state and the action of "
                             "another step are out of coverage",
                             100.0 * w->f->out_of_coverage);
        rh_findings__advise(found, penalty, "more varied actions");
    }
}

// ---------------------------------------------------------------------------- runs

static const char *pieces(const rh_fidelity__work *w)
{
    return w->model->task.continuing ? "stretches" : "episodes";
}

// Whether the model has a reach to set.
static bool has_reach(const rh_fidelity__work *w)
{
    const rh_model_type *type = w->model->type;
    return rh_param_find(type->param, type->nparam, "reach") >= 0;
}

static bool find_no_end(const rh_fidelity__work *w)
{
    const rh_fidelity *f = w->f;
    if (!(f->logged_truncated < limit.truncated_logged &&
          f->simulated_truncated > limit.truncated_simulated))
        return false;
    rh_finding *found = rh_findings__add(
        &w->f->findings, RH_WARNING, RH_FINDING_NO_END, f->simulated_return.n,
        "%.0f %% of the imitated episodes do not end within %lld steps; in the log %.0f %% "
        "end",
        100.0 * f->simulated_truncated, (long long)f->cutoff,
        100.0 * (1.0 - f->logged_truncated));
    rh_findings__advise(
        found, "scores in this model would measure the time limit: log more ends%s",
        has_reach(w) ? "" : ", or use a knn model, which ends where the log does");
    return true;
}

static bool is_sure(double better, double error, double margin)
{
    return fabs(better - 0.5) - limit.sure * error > margin;
}

static void find_imitation(const rh_fidelity__work *w)
{
    const rh_fidelity *f = w->f;
    bool returns = is_sure(w->simulated_better, w->simulated_error, limit.differs);
    bool lengths = is_sure(w->simulated_longer, w->simulated_error, limit.differs);
    if (find_no_end(w) || (!returns && !lengths))
        return;
    const rh_fidelity_spread *logged = returns ? &f->logged_return : &f->logged_length;
    const rh_fidelity_spread *run = returns ? &f->simulated_return : &f->simulated_length;
    rh_finding *found = rh_findings__add(
        &w->f->findings, RH_WARNING, RH_FINDING_IMITATION_DIFFERS, run->n,
        "the log's behaviour, imitated in the model, has %s of median %s %.4g (quartiles "
        "%.4g to %.4g); in the log: %.4g (%.4g to %.4g)",
        pieces(w), returns ? "return" : "length", run->median, run->q25, run->q75,
        logged->median, logged->q25, logged->q75);
    const char *remedy = has_reach(w) && returns && w->simulated_better > 0.5
                             ? "set a shorter reach or log more"
                             : "log more";
    rh_findings__advise(
        found,
        "the model is %s: use it to compare settings, and do not expect its numbers on the "
        "plant; to bring it closer, %s",
        !returns                    ? "unlike the plant in episode length"
        : w->simulated_better > 0.5 ? "easier than the plant"
                                    : "harder than the plant",
        remedy);
}

static void find_too_easy(const rh_fidelity__work *w)
{
    const rh_fidelity *f = w->f;
    if (!is_sure(w->random_better, w->random_error, 0.0) || w->random_better < 0.5 ||
        f->random_better <= f->logged_better)
        return;
    rh_finding *found = rh_findings__add(
        &w->f->findings, RH_WARNING, RH_FINDING_TOO_EASY, w->nrandom,
        "uniform random actions in the model beat the log's median return of %.4g in %.0f "
        "%% of the %s, once every %.0f steps",
        f->logged_return.median, 100.0 * f->random_better, pieces(w), f->random_steps);
    rh_findings__advise(
        found, "unless the logged policy was poor, %s, and check that the same settings win",
        has_reach(w) ? "the model jumps between distant states: set a shorter reach"
                     : "the model is too easy where the log has no data: log more, or use a "
                       "knn model");
}

static void find_stitches(const rh_fidelity__work *w)
{
    const rh_fidelity *f = w->f;
    if (!(f->jump > limit.jump || f->random_jump > limit.random_jump))
        return;

    // a behaviour that never leaves the logged paths has no stitches
    char random[64] = "";
    bool own = !isnan(f->jump);
    if (own && !isnan(f->random_jump))
        snprintf(random, sizeof random, ", and %.3g with random actions", f->random_jump);
    rh_finding *found = rh_findings__add(
        &w->f->findings, RH_WARNING, RH_FINDING_LONG_STITCHES, 1,
        "where the model leaves a logged path, it continues from a state %.3g median steps "
        "away with %s%s (%s)",
        own ? f->jump : f->random_jump, own ? "the log's behaviour" : "random actions", random,
        *random ? "medians" : "median");
    rh_findings__advise(found,
                        "neighbours are far apart: log more, set a shorter reach, or leave out "
                        "sensors that matter little");
}

static void find_few(const rh_fidelity__work *w)
{
    if (w->model->task.continuing)
        return;
    if (w->model->nstart < limit.few_starts) {
        rh_finding *found =
            rh_findings__add(&w->f->findings, RH_NOTICE, RH_FINDING_FEW_STARTS,
                             w->model->nstart, "every episode of the model starts in %s",
                             w->model->nstart == 1 ? "the same state" : "one of 2 states");
        rh_findings__advise(
            found, "if episodes also start elsewhere, give a log of their starts (--starts)");
    }
    if (w->f->logged_return.n < limit.few_episodes) {
        rh_finding *found = rh_findings__add(
            &w->f->findings, RH_NOTICE, RH_FINDING_FEW_EPISODES, w->f->logged_return.n,
            "the log has only %lld whole episode%s to compare with",
            (long long)w->f->logged_return.n, w->f->logged_return.n == 1 ? "" : "s");
        rh_findings__advise(
            found, "the comparison of returns and lengths is uncertain: log more episodes");
    }
}

// ---------------------------------------------------------------------------- limits

// Limits of one side only that the log shows. Those set by hand are meant so.
static void find_limits(const rh_fidelity__work *w)
{
    const rh_facts *facts = w->model->facts;
    const rh_limit *first = NULL;
    int n = 0;
    for (int i = 0; facts && i < facts->nlimit; i++)
        if (facts->limit[i].lone && !facts->limit[i].given && n++ == 0)
            first = &facts->limit[i];
    if (!n)
        return;
    char name[60], more[60] = "";
    if (n > 1)
        snprintf(more, sizeof more, "; %d more limits have one side only", n - 1);
    rh_finding *found = rh_findings__add(
        &w->f->findings, RH_NOTICE, RH_FINDING_ONE_SIDED_LIMIT, n,
        "%lld steps end with %s %s %.4g; on its other side the log shows neither an end nor a "
        "stop%s",
        (long long)first->nterminal,
        rh_text__printable(w->log->obs_name[first->sensor], name, sizeof name),
        first->above ? "above" : "below", first->value, more);
    found->dim = first->sensor;
    rh_findings__advise(found,
                        "agents in the model may go beyond all that was logged on the other "
                        "side: set its limit (--limit %s=LO:HI), or log what happens there",
                        name);
}

// A limit set by hand that the plant passed without an end.
static void find_passed(const rh_fidelity__work *w)
{
    const rh_facts *facts = w->model->facts;
    for (int i = 0; facts && i < facts->nlimit; i++) {
        const rh_limit *side = &facts->limit[i];
        char name[60];
        int64_t n = 0;
        for (int64_t t = 0; side->given && t < w->log->n; t++) {
            double x = w->log->obs[(int64_t)w->log->from[t] * w->log->nobs + side->sensor];
            n += side->above ? x > side->value : x < side->value;
        }
        if (!n)
            continue;
        rh_finding *found = rh_findings__add(
            &w->f->findings,
            (double)n > limit.passed * (double)w->log->n ? RH_ERROR : RH_WARNING,
            RH_FINDING_LIMIT_PASSED, n,
            "%lld of %lld logged steps begin with %s %s its limit, %.4g", (long long)n,
            (long long)w->log->n,
            rh_text__printable(w->log->obs_name[side->sensor], name, sizeof name),
            side->above ? "above" : "below", side->value);
        found->dim = side->sensor;
        rh_findings__advise(found, "the plant goes on there, the model ends: check --limit");
    }
}

// ---------------------------------------------------------------------------- tiles

// Sensors that tile coders do not use.
static void find_left_out(const rh_fidelity__work *w)
{
    const rh_task *task = &w->model->task;
    const rh_tiled *t = &task->tiled;
    char list[300] = "";
    size_t used = 0;
    int n = 0, next = 0;
    for (int k = 0; k < task->nobs && t->nsensor; k++) {
        char name[60];
        if (next < t->nsensor && t->sensor[next] == k) {
            next++;
            continue;
        }
        rh_text__printable(task->obs_name[k], name, sizeof name);
        if (used + strlen(name) + 8 < sizeof list)
            used +=
                (size_t)snprintf(list + used, sizeof list - used, "%s%s", n ? ", " : "", name);
        n++;
    }
    if (!n)
        return;
    rh_finding *found = rh_findings__add(
        &w->f->findings, RH_NOTICE, RH_FINDING_SENSORS_LEFT_OUT, n,
        "tile coders (esarsa, actor-critics) use %d of %d sensors, and %d pairs of them; left "
        "out: %s%s",
        t->nsensor, task->nobs, t->npair, list, used + 68 > sizeof list ? ", ..." : "");
    rh_findings__advise(found, "they are constant, repeat another sensor, or say little about "
                               "actions and rewards; agents with networks use all sensors");
}

bool rh_fidelity__find(const rh_fidelity__work *w)
{
    find_prediction(w);
    find_reward(w);
    find_same_rewards(w);
    find_ends(w);
    find_held_out(w);
    find_actions(w);
    find_too_easy(w);
    find_imitation(w);
    find_stitches(w);
    find_few(w);
    find_limits(w);
    find_passed(w);
    find_left_out(w);
    return rh_findings__end(&w->f->findings);
}
