// inspect_find_actions.c - findings about actions and rewards.

#include "inspect.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- actions

// The label as an integer of at most nine digits; false if it is none.
static bool whole_label(const char *label, double *number)
{
    bool minus = *label == '-';
    int n = 0;
    *number = 0.0;
    for (label += minus; *label >= '0' && *label <= '9' && n < 9; label++, n++)
        *number = 10.0 * *number + (*label - '0');
    *number = minus ? -*number : *number;
    return n > 0 && !*label;
}

// List the actions taken at least `from` but fewer than `below` times; returns their number.
static int list_actions(const rh_inspect__finder *f, int64_t from, int64_t below, char *text,
                        size_t size)
{
    int n = 0;
    text[0] = 0;
    for (int a = 0; a < f->log->naction; a++) {
        int64_t taken = f->report->taken[a];
        if (taken < from || taken >= below)
            continue;
        if (n++ < 5)
            rh_text__put(text, size, "%s%s", n > 1 ? ", " : "",
                         rh_inspect__name(f->log->label[a]).s);
        if (n <= 5 && taken > 0)
            rh_text__put(text, size, " %lld time%s", (long long)taken, taken == 1 ? "" : "s");
    }
    if (n > 5)
        rh_text__put(text, size, " and %d more", n - 5);
    return n;
}

// With one action only, the log does not show the effect of any other.
static void find_one(const rh_inspect__finder *f)
{
    const rh_log *log = f->log;
    bool varies = log->n == 1;
    int64_t ntaken = 0;
    for (int a = 0; a < log->naction; a++)
        ntaken += f->report->taken[a] > 0;
    for (int k = 0; k < log->nact && !log->naction; k++)
        varies = varies || f->report->amount[k].min != f->report->amount[k].max;
    if (varies || ntaken > 1)
        return;
    rh_finding *found =
        rh_findings__add(f->list, RH_ERROR, RH_FINDING_ACTION_ONE, log->n,
                         "all %lld steps take the same action", (long long)log->n);
    rh_findings__advise(found, "the log does not show what other actions do: log a period in "
                               "which actions vary, or choose another column with --action");
}

static void find_rare(const rh_inspect__finder *f)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    const char *advice =
        "the log does not show what it does: try it in the plant, or remove it "
        "from the agent's actions";
    char text[300];
    rh_finding *found;
    int n = list_actions(f, 0, 1, text, sizeof text);
    if (n > 0) {
        found = rh_findings__add(f->list, RH_WARNING, RH_FINDING_ACTION_NEVER, n,
                                 "never taken: %s", text);
        rh_findings__advise(found, "%s (--actions)", advice);
    }
    n = list_actions(f, 1, limit->rare_count, text, sizeof text);
    if (n > 0) {
        found = rh_findings__add(f->list, RH_WARNING, RH_FINDING_ACTION_RARE, n,
                                 "rarely taken: %s", text);
        rh_findings__advise(found, "%s", advice);
        return;
    }
    int64_t share = (int64_t)(limit->rare_share * (double)f->log->n);
    n = list_actions(f, limit->rare_count, share, text, sizeof text);
    if (n > 0) {
        found = rh_findings__add(f->list, RH_NOTICE, RH_FINDING_ACTION_RARE, n,
                                 "below 0.5 %% of the steps: %s", text);
        rh_findings__advise(found, "its effect is known in few states only");
    }
}

// Integers with gaps: 0, 2. Not if there are more gaps than actions: 0, 100.
static void find_holes(const rh_inspect__finder *f)
{
    const rh_log *log = f->log;
    double lo = INFINITY, hi = -INFINITY, number;
    for (int a = 0; a < log->naction; a++) {
        if (!whole_label(log->label[a], &number))
            return;
        lo = fmin(lo, number);
        hi = fmax(hi, number);
    }
    double hole = log->naction ? hi - lo + 1.0 - log->naction : 0.0;
    if (hole > 0.0 && hole <= log->naction) {
        rh_finding *found = rh_findings__add(
            f->list, RH_NOTICE, RH_FINDING_ACTION_HOLE, (int64_t)hole,
            "actions are integers from %.0f to %.0f, but %.0f of those never occur%s", lo, hi,
            hole, hole == 1.0 ? "s" : "");
        rh_findings__advise(found, "if they can be taken, list all actions with --actions");
    }
    if (log->naction > rh_inspect__limit.many_actions) {
        rh_finding *found =
            rh_findings__add(f->list, RH_NOTICE, RH_FINDING_ACTION_AMOUNTS, log->naction,
                             "%d actions, all of them ordered numbers (%s to %s)", log->naction,
                             log->label[0], log->label[log->naction - 1]);
        rh_findings__advise(found, "if they are quantities: --action-kind continuous");
    }
}

static void find_amounts(const rh_inspect__finder *f)
{
    const rh_log *log = f->log;
    for (int k = 0; k < log->nact && !log->naction; k++) {
        const rh_log_numbers *v = &f->report->amount[k];
        if (v->ninfinite > 0) {
            int64_t first = 0;
            while (!isinf(log->act[first * log->nact + k]))
                first++;
            rh_finding *found = rh_findings__add(
                f->list, RH_ERROR, RH_FINDING_INFINITE_ACTION, v->ninfinite,
                "%s is infinite in %s steps, first at %s", rh_inspect__name(log->act_name[k]).s,
                rh_inspect__share(v->ninfinite, log->n).s, rh_inspect__where(f, first).s);
            rh_inspect__set_first(f, found, first);
            rh_findings__advise(found, "fix it where the log is written");
            return;
        }
    }
    for (int k = 0; k < log->nact && !log->naction; k++) {
        const rh_log_numbers *v = &f->report->amount[k];
        if (v->whole && v->ndistinct <= rh_inspect__limit.few_amounts) {
            rh_finding *found =
                rh_findings__add(f->list, RH_NOTICE, RH_FINDING_ACTION_NAMES, v->ndistinct,
                                 "%s is read as continuous, but takes only %lld integer values",
                                 rh_inspect__name(log->act_name[k]).s, (long long)v->ndistinct);
            rh_findings__advise(found, "if these are names or levels: --action-kind discrete");
            return;
        }
    }
}

static void find_held(const rh_inspect__finder *f)
{
    double hold = f->report->hold;
    if (hold < 2.0)
        return;
    rh_finding *found =
        rh_findings__add(f->list, RH_NOTICE, RH_FINDING_ACTION_HELD, (int64_t)hold,
                         "actions change only every %.0f rows: rows are "
                         "logged more often than decisions are made",
                         hold);
    if (f->report->clock.n > 0)
        rh_findings__advise(found,
                            "make one step of each decision, with the sum of the rewards: "
                            "--every %gs",
                            hold * f->report->clock.interval);
    else
        rh_findings__advise(found,
                            "make one step of each decision, with the sum of the rewards: "
                            "--every '%.0f rows'",
                            hold);
}

static void find_uncovered(const rh_inspect__finder *f)
{
    const rh_log_cover *worst = NULL;
    static const char *const third[] = {"low ", "middle ", "high "};
    for (int i = 0; i < f->report->ncover; i++) {
        const rh_log_cover *c = &f->report->cover[i];
        if (c->q90 > rh_inspect__limit.cover && (!worst || c->q90 > worst->q90))
            worst = c;
    }
    if (!worst)
        return;
    const char *name =
        f->log->naction ? f->log->label[worst->action] : f->log->act_name[worst->action];
    rh_finding *found = rh_findings__add(
        f->list, RH_NOTICE, RH_FINDING_ACTION_UNCOVERED, worst->n,
        "%s%s was not tried near many states: for a tenth of them the nearest trial is %.0f "
        "median steps away or more",
        worst->third < 0 ? "" : third[worst->third], rh_inspect__name(name).s, worst->q90);
    rh_findings__advise(found, "a model's prediction for it there is a guess");
}

// ---------------------------------------------------------------------------- rewards

static void find_infinite_rewards(const rh_inspect__finder *f)
{
    const rh_log_numbers *v = &f->report->reward;
    int64_t first = 0;
    if (v->ninfinite == 0)
        return;
    while (!isinf(f->log->reward[first]))
        first++;
    rh_finding *found = rh_findings__add(f->list, RH_ERROR, RH_FINDING_INFINITE_REWARD,
                                         v->ninfinite, "%s rewards are infinite, first at %s",
                                         rh_inspect__share(v->ninfinite, f->log->n).s,
                                         rh_inspect__where(f, first).s);
    rh_inspect__set_first(f, found, first);
    rh_findings__advise(found,
                        "averages become infinite too: fix them where the log is written, "
                        "or choose other columns with --reward");
}

// If the reward never varies, only the length of an episode can be good or bad.
static void find_same_rewards(const rh_inspect__finder *f)
{
    const rh_log_numbers *v = &f->report->reward;
    if (v->n == 0 || v->min != v->max)
        return;
    bool zero = v->min == 0.0;
    if (!zero && f->report->nterminal > 0)
        return;
    rh_finding *found = rh_findings__add(
        f->list, RH_ERROR, RH_FINDING_REWARD_CONSTANT, f->log->n,
        zero ? "all rewards are %.6g: the log does not say what is good or bad"
             : "all rewards are %.6g and no episode terminates: every policy earns the same",
        v->min);
    rh_findings__advise(found, zero ? "name columns that cost or earn with --reward, such as "
                                      "--reward -energy"
                                    : "log until episodes terminate (--terminal), or choose "
                                      "other columns with --reward");
}

// Too few ends for a model to learn when they occur.
static void find_few_ends(const rh_inspect__finder *f)
{
    const rh_log_report *r = f->report;
    int64_t limit = rh_inspect__limit.rare_count;
    if (r->nterminal > 0 && r->nterminal < limit) {
        rh_finding *found = rh_findings__add(f->list, RH_WARNING, RH_FINDING_FEW_TERMINALS,
                                             r->nterminal, "only %s steps are terminal",
                                             rh_inspect__share(r->nterminal, f->log->n).s);
        rh_findings__advise(found,
                            "a model learns from these alone when episodes end, and will "
                            "underrate failures: log more of them");
    }
}

// Failures that only the reward shows: the lowest of few values, else those far below the rest.
static void find_failures(const rh_inspect__finder *f)
{
    const rh_log_report *r = f->report;
    const rh_log_numbers *v = &r->reward;
    int64_t n = 0, first = -1, limit = rh_inspect__limit.rare_count;
    bool few = v->ndistinct > 1 && v->ndistinct <= rh_inspect__limit.few_values &&
               limit * v->ndistinct <= f->log->n;
    bool far = v->min < v->far_lo || v->min == v->sentinel;
    bool missing = v->min == v->sentinel && rh_inspect__is_customary(v->min);
    if (!(few || far) || missing || !(v->min < v->median))
        return;
    for (int64_t t = 0; t < f->log->n; t++) {
        double reward = f->log->reward[t];
        if (reward == v->min || (far && isfinite(reward) && reward < v->lo))
            first = n++ == 0 ? t : first;
    }
    if (n >= limit || (r->nterminal > 0 && n == r->nterminal))
        return;
    rh_finding *found = rh_findings__add(
        f->list, RH_WARNING, RH_FINDING_FEW_FAILURES, n,
        far ? "rewards far below the rest, down to %.6g, occur only %lld time%s in %lld steps, "
              "first at %s"
            : "the lowest reward, %.6g, occurs only %lld time%s in %lld steps, first at %s",
        v->min, (long long)n, n == 1 ? "" : "s", (long long)f->log->n,
        rh_inspect__where(f, first).s);
    rh_inspect__set_first(f, found, first);
    rh_findings__advise(found, "a model cannot learn when it occurs and will underrate it: log "
                               "more of what leads there");
}

void rh_inspect__find_actions(const rh_inspect__finder *f)
{
    find_infinite_rewards(f);
    find_same_rewards(f);
    find_few_ends(f);
    find_failures(f);
    find_one(f);
    find_rare(f);
    find_holes(f);
    find_amounts(f);
    find_held(f);
    find_uncovered(f);
}
