// inspect_find_order.c - findings about rows, episodes and time: what belongs to what.

#include "inspect.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- slipped rows

// The row before or after with which things go much better than with their own; 0 for none.
static int action_shift(const rh_log_alignment *a)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    int best = a->partial[0] > a->partial[2] ? 0 : 2;
    double alone = a->action[best] / fmax(a->action[1], 1e-9);
    double partial = a->partial[best] / fmax(a->partial[1], 1e-9);
    bool seen = a->action[best] > limit->shift_gain && a->partial[best] > limit->shift_gain;
    seen = seen &&
           (best == 0 || a->past > limit->shift_past || a->action[best] > limit->shift_much);
    return seen && alone > limit->shift_alone && partial > limit->shift_partial &&
                   alone * partial > limit->shift_both
               ? best - 1
               : 0;
}

static int reward_shift(const rh_log_alignment *a)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    int best = a->reward[0] > a->reward[2] ? 0 : 2;
    double own = fmax(a->reward[1], 0.0);
    return a->sure[best] > limit->reward_sure && a->reward[best] > own + limit->reward_gain &&
                   1.0 - a->reward[best] < limit->reward_left * (1.0 - own)
               ? best - 1
               : 0;
}

// The same, from where special rewards stand: just before ends (-1), or just after (1).
static int reward_place(const rh_log_alignment *a)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    int best = a->place[0] > a->place[2] ? 0 : 2;
    return a->nspecial >= limit->rare_count && a->place[best] >= limit->place_share &&
                   a->place[1] <= limit->place_other
               ? best - 1
               : 0;
}

static void find_row_shift(const rh_inspect__finder *f)
{
    const rh_log_alignment *a = &f->report->align;
    int shift = action_shift(a);
    if (shift == 0)
        return;
    rh_log_finding *found =
        rh_inspect__add(f, shift > 0 ? RH_ERROR : RH_WARNING, "row-shift", shift,
                        "what happens in a step is explained by the action of the %s row (%.0f "
                        "%% of a sensor's change) rather than by its own (%.0f %%)",
                        shift > 0 ? "next" : "previous", 100.0 * a->action[shift + 1],
                        100.0 * fmax(a->action[1], 0.0));
    if (shift > 0)
        rh_inspect__advise(found,
                           "an effect before its cause: the column of actions is one row "
                           "late against the sensors; move it up by one row");
    else
        rh_inspect__advise(found, "actions are logged one row early, or the plant answers one "
                                  "step late, or rows of two devices alternate: move the "
                                  "column down by one row, add the last action to --obs, or "
                                  "sort by device");
}

static void find_reward_shift(const rh_inspect__finder *f)
{
    const rh_log_alignment *a = &f->report->align;
    int place = reward_place(a), shift = reward_shift(a);
    if (action_shift(a) != 0 && place == 0)
        return; // with the actions, everything has slipped
    rh_log_finding *found = NULL;
    if (place != 0) {
        found = rh_inspect__add(
            f, RH_WARNING, "reward-shift", place,
            "rewards unlike the usual %.4g stand one row %s ends of "
            "episodes in %.0f %% of %lld cases, and with the end in %.0f %%",
            f->report->reward.median, place > 0 ? "after" : "before",
            100.0 * a->place[place + 1], (long long)a->nspecial, 100.0 * a->place[1]);
        shift = -place;
    } else if (shift != 0) {
        found = rh_inspect__add(
            f, RH_WARNING, "reward-shift", shift,
            "rewards go with the %s row: it explains %.0f %% of them, their own %.0f %%",
            shift > 0 ? "next" : "previous", 100.0 * a->reward[shift + 1],
            100.0 * fmax(a->reward[1], 0.0));
    }
    if (found && shift < 0)
        rh_inspect__advise(found, "a row's reward came with its state, of the action before: "
                                  "--reward-of state");
    else if (found)
        rh_inspect__advise(found,
                           "rewards are one row early: without --reward-of state if that "
                           "was given, else move the column down by one row");
}

// s' as the log gives it, against the rows.
static void find_next_shift(const rh_inspect__finder *f)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    const rh_log *log = f->log;
    const double *next = f->report->align.next;
    int64_t n = log->reading.nmismatch;
    if ((double)n <= limit->mismatch_share * (double)log->n) {
        if (n > 0) {
            rh_log_finding *found =
                rh_inspect__add(f, RH_NOTICE, "next-mismatch", n,
                                "the next observation differs from the next row's in %s steps",
                                rh_inspect__share(n, log->n).s);
            rh_inspect__advise(found, "rows may be missing there, or episodes end unsaid");
        }
        return;
    }
    int best = next[0] < next[2] ? 0 : 2;
    bool other = next[best] < limit->next_ratio * next[1];
    rh_log_finding *found;
    if (other) {
        found = rh_inspect__add(
            f, RH_ERROR, "next-shift", n,
            "the next observation is not that of the next row but of %s (mean distance %.3g "
            "against %.3g standard deviations)",
            best == 0 ? "the same row" : "the row after it", next[best], next[1]);
        rh_inspect__advise(found, "the columns of --next have slipped by one row: without them "
                                  "(--next '') the next row of the episode is taken");
        return;
    }
    found = rh_inspect__add(f, RH_WARNING, "next-mismatch", n,
                            "the next observation differs from the next row's in %s steps",
                            rh_inspect__share(n, log->n).s);
    rh_inspect__advise(found,
                       "rows are missing or shuffled, or episodes end unsaid: each step is "
                       "kept, but name what parts episodes with --episode");
}

// ---------------------------------------------------------------------------- ends

static void find_ends(const rh_inspect__finder *f)
{
    const rh_log_report *r = f->report;
    const rh_log *log = f->log;
    rh_log_finding *found;
    if (r->nterminal == log->n && log->n > 1) {
        found =
            rh_inspect__add(f, RH_ERROR, "terminal-everywhere", log->n,
                            "every one of the %lld steps ends an episode", (long long)log->n);
        rh_inspect__advise(found, "the column is not what it was taken for: name another with "
                                  "--terminal, or none with --terminal ''; or there is nothing "
                                  "to plan, and each action is a task of its own");
        return;
    }
    if (r->nterminal == 0) {
        found =
            rh_inspect__add(f, RH_NOTICE, "no-terminal", 0,
                            "no episode ends in %lld step%s: the task is taken for one that "
                            "goes on for ever",
                            (long long)log->n, log->n == 1 ? "" : "s");
        rh_inspect__advise(found, "if there are failures or goals, name their column with "
                                  "--terminal");
    }
    if (log->nepisode == 1) {
        found = rh_inspect__add(f, RH_NOTICE, "single-episode", 1,
                                "the whole log is one episode of %lld step%s",
                                (long long)log->n, log->n == 1 ? "" : "s");
        rh_inspect__advise(found, "if it has parts, name what parts them: --episode, "
                                  "--episode-steps or --max-gap");
    }
}

// Episodes cut off where no time limit would.
static void find_cuts(const rh_inspect__finder *f)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    const rh_log_report *r = f->report;
    if (r->ncut_judged < limit->cut_count || r->cut_share >= limit->cut_share)
        return;
    bool wide = r->cut_spread > limit->cut_spread;
    rh_log_finding *found = rh_inspect__add(
        f, wide ? RH_WARNING : RH_NOTICE, "irregular-cuts", r->ncut_judged,
        "%lld episodes are cut off at different lengths: the most frequent, %lld step%s, is "
        "that of %.0f %%",
        (long long)r->ncut_judged, (long long)r->cut_length, r->cut_length == 1 ? "" : "s",
        100.0 * r->cut_share);
    rh_inspect__advise(found,
                       "a time limit cuts at one length: if these are goals or failures, "
                       "their column belongs to --terminal");
}

static void find_starts(const rh_inspect__finder *f)
{
    const rh_log_report *r = f->report;
    if (r->nterminal == 0)
        return; // one that goes on for ever needs no starts
    if (r->nstart > 1 && r->nstart_distinct == 1) {
        rh_log_finding *found =
            rh_inspect__add(f, RH_NOTICE, "same-start", r->nstart,
                            "all %lld episodes begin in the same state", (long long)r->nstart);
        rh_inspect__advise(found, "fine where it is so in the plant");
    } else if (r->nstart_distinct < rh_inspect__limit.few_starts) {
        rh_log_finding *found =
            rh_inspect__add(f, RH_WARNING, "few-starts", r->nstart_distinct,
                            "only %lld different start state%s: an agent will know no other",
                            (long long)r->nstart_distinct, r->nstart_distinct == 1 ? "" : "s");
        rh_inspect__advise(found, "log more episodes");
    }
}

static void find_jumps(const rh_inspect__finder *f)
{
    const rh_log_report *r = f->report;
    if (r->njump == 0)
        return;
    char list[120] = "";
    size_t used = 0;
    for (int i = 0; i < 4 && i < r->njump && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%lld", i ? ", " : "",
                                 (long long)r->jump[i]);
    // a plant that is put back after a failure says so in its rewards
    bool told = r->align.nspecial > 0 && r->njump_told == r->njump;
    rh_log_finding *found = rh_inspect__add(
        f, told ? RH_NOTICE : RH_WARNING, "jumps", r->njump,
        "%lld step%s inside episodes, more than %.0f times as long as 98 %% of all%s: "
        "transition%s %s%s",
        (long long)r->njump, r->njump == 1 ? "" : "s", rh_inspect__limit.jump_ratio,
        told ? ", with unusual rewards" : "", r->njump == 1 ? "" : "s", list,
        r->njump > 4 ? ", ..." : "");
    found->first = r->jump[0];
    rh_inspect__advise(found,
                       "if episodes end there, say so: --episode, --episode-steps, "
                       "--terminal or --max-gap; a plant that is put back after a failure "
                       "and goes on may stay as it is");
}

// ---------------------------------------------------------------------------- rows

static void find_lost(const rh_inspect__finder *f)
{
    const rh_log_reading *reading = &f->log->reading;
    int64_t lost = reading->nlost + reading->nincomplete, all = f->log->n + lost;
    if (lost == 0)
        return;
    bool much = (double)lost > rh_inspect__limit.lost_share * (double)all;
    rh_log_finding *found = rh_inspect__add(
        f, much ? RH_WARNING : RH_NOTICE, "lost-steps", lost,
        "%s steps could not be used: %lld whose next observation is not known, %lld without "
        "action or reward",
        rh_inspect__share(lost, all).s, (long long)reading->nlost,
        (long long)reading->nincomplete);
    rh_inspect__advise(found, "log the observation after the last step of an episode too, and "
                              "every row's action and reward");
}

static void find_repeats(const rh_inspect__finder *f)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    const rh_log_report *r = f->report;
    double n = (double)f->log->n, copies = (double)r->nduplicate, twice = (double)r->ntwice;
    if ((double)r->nstate_distinct <= limit->tabular_share * n)
        return;
    if (copies - twice > limit->duplicate_share * n) {
        bool returns = copies <= limit->duplicate_run * (double)r->nreturn;
        bool much = copies - twice > limit->duplicate_much * n && !returns;
        rh_log_finding *found =
            rh_inspect__add(f, much ? RH_WARNING : RH_NOTICE, "duplicates", r->nduplicate,
                            "%s transitions are exactly like an earlier one; other steps lead "
                            "to such a one %lld time%s",
                            rh_inspect__share(r->nduplicate, f->log->n).s,
                            (long long)r->nreturn, r->nreturn == 1 ? "" : "s");
        rh_inspect__advise(found, returns
                                      ? "fine where the plant has no noise and comes back to "
                                        "the same states; else files joined that overlap"
                                      : "files joined that overlap, or episodes that were "
                                        "drawn twice: drop the copies");
    }
    if (twice > limit->duplicate_share * n) {
        rh_log_finding *found = rh_inspect__add(
            f, twice > limit->duplicate_much * n ? RH_WARNING : RH_NOTICE, "repeated-rows",
            r->ntwice,
            "%s rows are exactly like the row before, sensors, action and reward: first %s",
            rh_inspect__share(r->ntwice, f->log->n).s, rh_inspect__where(f, r->twice_at).s);
        found->first = r->twice_at;
        rh_inspect__advise(found, "rows written twice: drop the copies; or a plant at rest");
    }
}

static void find_short(const rh_inspect__finder *f)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    int64_t nact = f->log->naction ? f->log->naction : 3 * (int64_t)f->log->nact;
    int64_t want = limit->short_steps * f->log->nobs * nact;
    if (f->log->n < want) {
        rh_log_finding *found = rh_inspect__add(
            f, RH_NOTICE, "short-log", f->log->n,
            "only %lld step%s for %d sensor%s and %s%d action%s", (long long)f->log->n,
            f->log->n == 1 ? "" : "s", f->log->nobs, f->log->nobs == 1 ? "" : "s",
            f->log->naction ? "" : "the thirds of ",
            f->log->naction ? f->log->naction : f->log->nact,
            f->log->naction + f->log->nact == 2 ? "" : "s");
        rh_inspect__advise(found,
                           "neighbours will be far: log %lld steps or more, or fewer "
                           "sensors (--obs)",
                           (long long)want);
    }
}

static void find_time(const rh_inspect__finder *f)
{
    const rh_log_clock *c = &f->report->clock;
    rh_log_finding *found;
    if (c->n == 0)
        return;
    if (c->nreverse > 0) {
        found = rh_inspect__add(f, RH_ERROR, "time-reverse", c->nreverse,
                                "time runs backwards in %s steps: first to %s",
                                rh_inspect__share(c->nreverse, c->n).s,
                                rh_inspect__where(f, c->reverse_at).s);
        found->first = c->reverse_at;
        rh_inspect__advise(found,
                           "rows are not in order: sort them, or name another column with "
                           "--time");
    }
    if (c->nrepeat > 0) {
        found = rh_inspect__add(f, RH_WARNING, "time-repeats", c->nrepeat,
                                "%s rows have the time of the row before: first %s",
                                rh_inspect__share(c->nrepeat, c->n).s,
                                rh_inspect__where(f, c->repeat_at).s);
        found->first = c->repeat_at;
        rh_inspect__advise(found, "rows written twice, or two devices in one file: drop the "
                                  "copies, or sort by device and name it with --episode");
    }
    if (c->nirregular > 0 && c->nirregular > c->nrepeat + c->nreverse) {
        bool much = (double)c->nirregular > rh_inspect__limit.irregular_share * (double)c->n;
        found = rh_inspect__add(
            f, much ? RH_WARNING : RH_NOTICE, "irregular-time", c->nirregular,
            "%s steps do not take the usual %.6g: the longest takes %.6g, at %s",
            rh_inspect__share(c->nirregular, c->n).s, c->interval, c->longest,
            rh_inspect__where(f, c->longest_at).s);
        found->first = c->longest_at;
        rh_inspect__advise(found,
                           "a step over a gap is no step of the plant: --max-gap %.6g ends "
                           "episodes there",
                           1.5 * c->interval);
    }
}

void rh_inspect__find_order(const rh_inspect__finder *f)
{
    find_row_shift(f);
    find_next_shift(f);
    find_reward_shift(f);
    find_ends(f);
    find_cuts(f);
    find_starts(f);
    find_jumps(f);
    find_time(f);
    find_lost(f);
    find_repeats(f);
    find_short(f);
}
