// fidelity_findings.c - what to think of a model, in plain words.
//
// 1. No finding is an error: a model that is far too easy may still rank settings well (Acrobot
//    without reach: random behaviour returns -10 to -27 where the log's mean is -93, and 54
//    settings are ranked with Kendall tau 0.8). A warning says that the ranking should not be
//    believed without a look at the evidence, a notice what is good to know.
// 2. One finding of a kind, however many actions it concerns.
// 3. Lived and logged episodes are compared in pairs: the share of all pairs in which the run
//    one is better, ties counting half (Mann and Whitney's statistic), which needs no idea of
//    how returns are spread. Where both are alike it is 1/2, with a standard error of
//    sqrt((m + n + 1) / (12 m n)); two of these are allowed to chance.

#include "fidelity_internal.h"

#include <math.h>
#include <stdarg.h>

static const struct limits {
    double reward_left, reward_told, reward_many, end_ratio, held_beyond, beyond, differs, sure,
        jump, random_jump, cut_logged, cut_simulated;
    int64_t ends, few_starts, few_episodes;
} limit = {
    // rewards missed as by their mean, and less than a tenth of their variation known: rare
    // rewards are missed by much even where they are half foreseen. Ten of those that are
    // unlike the others: below, an average is one accident
    .reward_left = 0.95,
    .reward_told = 0.1,
    .reward_many = 10.0,
    // an end twice as likely where one was as elsewhere, and again ten
    .end_ratio = 2.0,
    .ends = 10,
    // a quarter of the log's own steps, and half of what an agent may try
    .held_beyond = 0.25,
    .beyond = 0.5,
    // a run episode is better than a logged one three times in five, or twice, and two
    // standard errors more
    .differs = 0.1,
    .sure = 2.0,
    // a path that jumps farther than it moves; random behaviour leaves the logged paths, and
    // may jump three steps (in logs of good policies 0.5 in Acrobot, 2 in Mountain Car)
    .jump = 1.0,
    .random_jump = 3.0,
    // most logged episodes end, hardly a run one does
    .cut_logged = 0.5,
    .cut_simulated = 0.9,
    .few_starts = 3,
    .few_episodes = 10,
};

// ---------------------------------------------------------------------------- the list

static rh_log_finding *add(const rh_fidelity__work *w, rh_severity severity, const char *id,
                           int64_t count, const char *evidence, ...) RH_PRINTF(5, 6);
static void advise(rh_log_finding *finding, const char *remedy, ...) RH_PRINTF(2, 3);

static rh_log_finding *add(const rh_fidelity__work *w, rh_severity severity, const char *id,
                           int64_t count, const char *evidence, ...)
{
    rh_log_finding *finding = &w->f->finding[w->f->nfinding++];
    va_list args;
    *finding = (rh_log_finding){
        .severity = severity, .id = id, .count = count, .first = -1, .column = -1};
    va_start(args, evidence);
    vsnprintf(finding->evidence, sizeof finding->evidence, evidence, args);
    va_end(args);
    w->f->ncount[severity]++;
    return finding;
}

static void advise(rh_log_finding *finding, const char *remedy, ...)
{
    va_list args;
    va_start(args, remedy);
    vsnprintf(finding->remedy, sizeof finding->remedy, remedy, args);
    va_end(args);
}

// The gravest first; those of one severity stay in the order they were found.
static void sort_findings(rh_fidelity *f)
{
    for (int i = 1; i < f->nfinding; i++) {
        rh_log_finding one = f->finding[i];
        int at = i;
        for (; at > 0 && f->finding[at - 1].severity < one.severity; at--)
            f->finding[at] = f->finding[at - 1];
        f->finding[at] = one;
    }
}

// ---------------------------------------------------------------------------- texts

typedef struct text {
    char s[160];
} text;

// 'name', cut when long, without what would upset a screen.
static text quote(const char *name)
{
    text t;
    size_t n = 0;
    t.s[n++] = '\'';
    for (; *name && n < 32; name++)
        t.s[n++] = (char)((unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name);
    if (*name) {
        // not in the middle of a letter
        for (; n > 1 && ((unsigned char)*name & 0xC0) == 0x80; name--)
            n--;
        memcpy(t.s + n, "...", 3);
        n += 3;
    }
    t.s[n++] = '\'';
    t.s[n] = 0;
    return t;
}

typedef bool (*chooser)(const rh_fidelity_action *action);

// The first few actions for which `which` holds, told with what is out of reach; how many.
static int list_actions(const rh_fidelity__work *w, chooser which, bool told, char *out,
                        size_t size)
{
    int n = 0;
    size_t used = 0;
    out[0] = 0;
    for (int a = 0; a < w->log->naction; a++) {
        const rh_fidelity_action *action = &w->f->action[a];
        if (!which(action) || n++ >= 4)
            continue;
        used += (size_t)snprintf(out + used, size - used, "%s%s", n > 1 ? ", " : "",
                                 quote(w->log->label[a]).s);
        if (told)
            used += (size_t)snprintf(out + used, size - used, " from %.0f %% of the states",
                                     100.0 * action->beyond);
    }
    if (n > 4)
        snprintf(out + used, size - used, " and %d more", n - 4);
    return n;
}

// ---------------------------------------------------------------------------- prediction

// Whether a next observation is predicted better than without a model. By sensors, each in its
// spread, not by codes: codes of a Laplacian hardly change in a step, and nothing beats
// copying.
static void find_prediction(const rh_fidelity__work *w)
{
    double model = 0.0, copy = 0.0;
    int n = 0;
    for (int k = 0; k < w->log->nobs; k++) {
        const rh_fidelity_error *e = &w->f->sensor[k];
        if (!(e->mean > 0.0))
            continue;
        model += e->model / e->mean * (e->model / e->mean);
        copy += e->copy / e->mean * (e->copy / e->mean);
        n++;
    }
    model = 100.0 * sqrt(model / n);
    copy = 100.0 * sqrt(copy / n);
    bool mean = model >= 100.0;
    if (!mean && !(model > copy))
        return;
    rh_log_finding *found =
        add(w, mean ? RH_WARNING : RH_NOTICE, "prediction-no-better", w->f->nheld,
            "next observations of held-out steps are missed by %.3g %% of their spread, and by "
            "%.3g %% when %s",
            model, mean ? 100.0 : copy,
            mean ? "the mean is always said" : "nothing is said to change");
    advise(found, mean ? "the model knows nothing of what comes next: look whether rows are in "
                         "order and actions in their rows (rehearse inspect), or log more"
                       : "steps of the log are short beside what the model misses, so that "
                         "its single steps are rough: more log helps, or rows farther apart "
                         "in time");
}

static void find_reward(const rh_fidelity__work *w)
{
    const rh_fidelity_error *e = &w->f->reward;
    if (!(e->model >= limit.reward_left * e->mean) || e->mean == 0.0 || isinf(e->mean) ||
        w->reward_told > limit.reward_told || w->reward_many < limit.reward_many)
        return;
    rh_log_finding *found =
        add(w, RH_WARNING, "reward-unpredictable", w->f->nheld,
            "rewards of held-out steps are missed by %.3g, and by %.3g when the mean is always "
            "said; predicted and real ones have %.0f %% of their variation in common",
            e->model, e->mean, 100.0 * w->reward_told);
    advise(found, "the reward depends on what the sensors do not show, or is too rare to be "
                  "learned: add the sensor, or log more");
}

static void find_ends(const rh_fidelity__work *w)
{
    // where every step ends an episode, there are no others
    if (w->nended < limit.ends || !(w->said_ends <= limit.end_ratio * w->said_others))
        return;
    rh_log_finding *found = add(
        w, RH_WARNING, "ends-unpredicted", w->nended,
        "at %lld held-out steps that end an episode the model sees a chance of %.3g %% that "
        "they do, at others of %.3g %%",
        (long long)w->nended, 100.0 * w->said_ends, 100.0 * w->said_others);
    advise(found, "what ends an episode is not in the sensors: add it, or call ends that are "
                  "time limits truncated (--truncated)");
}

static void find_held_beyond(const rh_fidelity__work *w)
{
    if (!(w->f->held_beyond > limit.held_beyond))
        return;
    rh_log_finding *found =
        add(w, RH_WARNING, "held-out-of-reach", w->f->nheld,
            "%.0f %% of %lld held-out steps of the log are out of reach of its other episodes",
            100.0 * w->f->held_beyond, (long long)w->f->nheld);
    advise(found, "episodes have little in common: log more of them, or allow a wider reach");
}

// ---------------------------------------------------------------------------- actions

static bool never_taken(const rh_fidelity_action *action)
{
    return action->share == 0.0;
}

static bool out_of_reach(const rh_fidelity_action *action)
{
    return action->share > 0.0 && action->beyond > limit.beyond;
}

static void find_actions(const rh_fidelity__work *w)
{
    char names[300];
    int n = list_actions(w, never_taken, false, names, sizeof names);
    if (n > 0) {
        rh_log_finding *found = add(w, RH_WARNING, "never-taken", n, "never taken: %s", names);
        advise(found, "the model knows nothing of it: leave it out of what the agent may do "
                      "(--actions), or log a time in which it is tried");
    }
    n = list_actions(w, out_of_reach, true, names, sizeof names);
    if (n > 0) {
        rh_log_finding *found =
            add(w, RH_WARNING, "action-out-of-reach", n, "out of reach: %s", names);
        advise(found, "there the model answers with a penalty, not with experience: log the "
                      "action in more places, or allow a wider reach");
    }
    if (w->log->naction == 0 && w->f->beyond > limit.beyond) {
        rh_log_finding *found =
            add(w, RH_WARNING, "action-out-of-reach", 1,
                "%.0f %% of the pairs of a logged state and an action taken elsewhere are out "
                "of reach",
                100.0 * w->f->beyond);
        advise(found, "there the model answers with a penalty, not with experience: log more "
                      "varied actions, or allow a wider reach");
    }
}

// ---------------------------------------------------------------------------- runs

// "episodes", or what stands for them.
static const char *pieces(const rh_fidelity__work *w)
{
    return w->model->task.continuing ? "stretches" : "episodes";
}

// Whether there is a reach that could be set.
static bool has_reach(const rh_fidelity__work *w)
{
    const rh_model_type *type = w->model->type;
    return rh_param_find(type->param, type->nparam, "reach") >= 0;
}

static bool find_no_end(const rh_fidelity__work *w)
{
    const rh_fidelity *f = w->f;
    if (!(f->logged_cut < limit.cut_logged && f->simulated_cut > limit.cut_simulated))
        return false;
    rh_log_finding *found = add(
        w, RH_WARNING, "no-end", f->simulated_return.n,
        "%.0f %% of the episodes of the log's behaviour in the model do not end within %lld "
        "steps; of the log's own %.0f %% ended",
        100.0 * f->simulated_cut, (long long)f->cutoff, 100.0 * (1.0 - f->logged_cut));
    advise(found, "scores in this model would be those of the cut-off: log more ends%s",
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
    rh_log_finding *found =
        add(w, RH_WARNING, "imitation-differs", run->n,
            "%s of the log's own behaviour in the model have a median %s of %.4g (quartiles "
            "%.4g to %.4g), in the log of %.4g (%.4g to %.4g)",
            pieces(w), returns ? "return" : "length", run->median, run->q25, run->q75,
            logged->median, logged->q25, logged->q75);
    if (!returns)
        advise(found,
               "episodes of the model are not like those of the log: compare settings in "
               "it, but do not expect its numbers");
    else if (w->simulated_better > 0.5)
        advise(found,
               "the model is easier than what was logged: compare settings in it, but do "
               "not expect its returns; %smore log brings it nearer",
               has_reach(w) ? "a shorter reach or " : "");
    else
        advise(found,
               "the model is harder than what was logged: compare settings in it, but do "
               "not expect its returns; more log brings it nearer");
}

static void find_jumps(const rh_fidelity__work *w)
{
    const rh_fidelity *f = w->f;
    if (!is_sure(w->random_better, w->random_error, 0.0) || w->random_better < 0.5 ||
        f->random_better <= f->random_logged)
        return;
    rh_log_finding *found = add(
        w, RH_WARNING, "jumps", w->nrandom,
        "%.0f %% of the %s of uniform random actions in the model return more than the log's "
        "median of %.4g: one every %.0f steps",
        100.0 * f->random_better, pieces(w), f->logged_return.median, f->random_steps);
    advise(found,
           "unless the log is of a poor policy, %s, and see whether the choice of "
           "settings stays the same",
           has_reach(w) ? "far neighbours act as shortcuts: set a shorter reach"
                        : "the model is too easy where the log never went: log more, or use a "
                          "knn model");
}

static void find_stitches(const rh_fidelity__work *w)
{
    const rh_fidelity *f = w->f;
    if (!(f->jump > limit.jump || f->random_jump > limit.random_jump))
        return;

    // a behaviour that never leaves the logged paths has no jumps
    char random[64] = "";
    bool own = !isnan(f->jump);
    if (own && !isnan(f->random_jump))
        snprintf(random, sizeof random, ", and %.3g in random behaviour", f->random_jump);
    rh_log_finding *found =
        add(w, RH_WARNING, "long-stitches", 1,
            "where the model goes on with another step of the log, that one began %.3g real "
            "steps away in %s behaviour%s (%s)",
            own ? f->jump : f->random_jump, own ? "the log's own" : "random", random,
            *random ? "medians" : "median");
    advise(found,
           "neighbours are far: log more, set a shorter reach, or leave out sensors that "
           "matter little");
}

static void find_few(const rh_fidelity__work *w)
{
    if (w->model->task.continuing)
        return;
    if (w->model->nstart < limit.few_starts) {
        rh_log_finding *found =
            add(w, RH_NOTICE, "few-starts", w->model->nstart,
                "every episode of the model begins in %s",
                w->model->nstart == 1 ? "the same state" : "one of 2 states");
        advise(found,
               "if episodes really begin elsewhere too, give their starts with --starts");
    }
    if (w->f->logged_return.n < limit.few_episodes) {
        rh_log_finding *found =
            add(w, RH_NOTICE, "few-episodes", w->f->logged_return.n,
                "the log has %lld whole episode%s to compare with",
                (long long)w->f->logged_return.n, w->f->logged_return.n == 1 ? "" : "s");
        advise(found, "what is said here of returns and lengths is uncertain");
    }
}

void rh_fidelity__find(const rh_fidelity__work *w)
{
    find_prediction(w);
    find_reward(w);
    find_ends(w);
    find_held_beyond(w);
    find_actions(w);
    find_jumps(w);
    find_imitation(w);
    find_stitches(w);
    find_few(w);
    sort_findings(w->f);
}
