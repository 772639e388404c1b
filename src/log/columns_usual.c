// columns_usual.c - the names that columns usually have.
//
// 1. x_0, x_1 are not usual names of observations. Without such names they are found as the
//    remaining columns; beside obs_0 they are something else.
// 2. If no column has an observation's name, every remaining numeric column is an observation,
//    except counters, columns that the reward is computed from, and columns whose name says
//    otherwise: a second column of flags is never an observation.
// 3. In that case a numeric column with a word in it is refused: one bad field must not remove
//    a sensor. Text columns are left out, with a note. Likewise a bad field does not turn
//    continuous actions into names: they are refused unless the caller declares them as names.
// 4. t counts steps, T is a temperature: the first rows tell which.
// 5. Columns of s' are complete or ignored. They are matched by name, since their order may
//    differ. An s' is never an observation.
// 6. If no column has a time's name and exactly one contains dates only, it is the time: pandas
//    writes an index of dates as a first column without a name.
// 7. A list in one cell is refused where it is an observation or action by its name.
// 8. is_last beside is_terminal is RLDS. There the last row of an episode has an action that
//    was never taken, so such a table is refused.

#include "base/base_internal.h"
#include "columns_plan.h"

#include <string.h>

static bool all_digits(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == 0;
}

// The rest of plain after stem and an optional _; NULL if it does not begin with stem.
static const char *after_stem(const char *plain, const char *stem)
{
    size_t n = strlen(stem);
    if (strncmp(plain, stem, n) != 0)
        return NULL;
    return plain + n + (plain[n] == '_');
}

// ---------------------------------------------------------------------------- the usual names

static const char *const usual_reward[] = {"reward", "rewards",     "r",
                                           "rew",    "next_reward", NULL};
static const char *const usual_episode[] = {"episode",     "episode_id",     "episode_index",
                                            "episode_idx", "episode_number", "episode_num",
                                            "episode_no",  "episode_nr",     "ep",
                                            "ep_id",       "eps_id",         "traj",
                                            "trajectory",  "traj_id",        "traj_idx",
                                            "traj_index",  "trajectory_id",  "trajectory_index",
                                            "run_id",      "rollout_id",     "rollout_number",
                                            NULL};
static const char *const usual_terminal[] = {
    "terminal",    "terminals",     "terminated", "terminateds", "termination", "terminations",
    "is_terminal", "is_terminated", "done",       "dones",       "is_done",     "next_done",
    NULL};
static const char *const usual_truncated[] = {
    "truncated",   "truncateds",   "truncation",
    "truncations", "is_truncated", "timeout",
    "timeouts",    "is_timeout",   "timed_out",
    "time_out",    "time_limit",   "time_limit_truncated",
    NULL};
static const char *const usual_time[] = {"time",      "timestamp",  "datetime", "date",
                                         "date_time", "time_stamp", "ts",       NULL};
static const char *const usual_step[] = {"step",      "frame_index", "timestep",
                                         "time_step", "t",           NULL};
static const char *const usual_action[] = {"action", "actions", "act", "a", "u", NULL};

// T may be a temperature, so it must behave like a counter.
static bool is_temperature(const rh_columns *c, int column, const char *plain)
{
    return strcmp(plain, "t") == 0 && !c->counting[column];
}

// The first free column with one of these names; a note mentions the others.
static int usual(rh_log__maker *m, rh_log__role role, const char *const *name)
{
    int found = -1;
    for (; *name; name++)
        for (int i = 0; i < m->c->n; i++) {
            if (m->owner[i] != RH_ROLE_NONE || strcmp(m->plain[i], *name) != 0 ||
                is_temperature(m->c, i, m->plain[i]))
                continue;
            if (found < 0)
                found = i;
            else {
                rh_columns__plan_note(m, "%s = column %.40s; column %.40s is left out",
                                      rh_columns__role_name(role), m->c->name[found],
                                      m->c->name[i]);
                m->left[i] = true;
            }
        }
    return found;
}

// Guess a role of one column unless the caller gave it.
static rh_status guess_single(rh_log__maker *m, rh_log__role role, const char *asked,
                              const char *const *name)
{
    if (asked || *rh_columns__plan_single(m->plan, role) >= 0)
        return RH_OK;
    int column = usual(m, role, name);
    return column < 0 ? RH_OK : rh_columns__plan_claim(m, column, role);
}

static rh_status guess_time(rh_log__maker *m)
{
    static const char *const labview[] = {"x_value", NULL};
    rh_status rc = guess_single(m, RH_ROLE_TIME, m->opt->time, usual_time);
    if (!rc && m->c->labview)
        rc = guess_single(m, RH_ROLE_TIME, m->opt->time, labview);
    return rc;
}

// If no name says which column is the time: the only one of dates. Two are left alone.
static rh_status guess_dates(rh_log__maker *m)
{
    int found = -1;
    if (m->opt->time || m->plan->time >= 0 || m->c->has_given)
        return RH_OK;
    for (int i = 0; i < m->c->n; i++) {
        const rh_log__odd *odd = &m->c->odd[i];
        if (m->owner[i] != RH_ROLE_NONE || m->left[i] || odd->nnumber > 0 || odd->nodd == 0 ||
            odd->ndate < odd->nodd)
            continue;
        if (found >= 0)
            return RH_OK;
        found = i;
    }
    return found < 0 ? RH_OK : rh_columns__plan_claim(m, found, RH_ROLE_TIME);
}

// Lists where numbers are expected.
static rh_status refuse_list(const rh_log__maker *m, int column)
{
    const rh_log__odd *odd = &m->c->odd[column];
    return rh_fail(m->err, RH_EFORMAT,
                   "%s:%lld: column '%.40s': found '%s', a list in one cell, expected a column "
                   "for each number; docs/logs.md shows how to split it",
                   rh_base__path_tail(m->c->path), (long long)odd->line, m->c->name[column],
                   odd->text);
}

// "temp, level, ...", cut to fit.
static void list_columns(const rh_columns *c, char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; i < c->n; i++) {
        if (strlen(text) + strlen(c->name[i]) + 8 > size) {
            rh_text__put(text, size, ", ...");
            return;
        }
        rh_text__put(text, size, "%s%s", i ? ", " : "", c->name[i]);
    }
}

static rh_status none_found(rh_log__maker *m, const char *what, const char *option,
                            const char *hint)
{
    char list[100];
    list_columns(m->c, list, sizeof list);
    return rh_fail(m->err, RH_EFORMAT,
                   "%s: no %s: none of the columns (%s) has a usual name; say which it is with "
                   "--%s%s",
                   rh_base__path_tail(m->c->path), what, list, option, hint);
}

static rh_status guess_reward(rh_log__maker *m)
{
    if (m->plan->nterm > 0)
        return RH_OK;
    int column = m->opt->reward ? -1 : usual(m, RH_ROLE_REWARD, usual_reward);
    if (column >= 0) {
        rh_status rc = rh_columns__plan_check_twins(m, column, RH_ROLE_REWARD);
        return rc ? rc : rh_columns__plan_take_reward(m, column);
    }
    char hint[80] = " NAME";
    for (int i = 0; i < m->c->n; i++)
        if (m->owner[i] == RH_ROLE_NONE && strncmp(m->plain[i], "cost", 4) == 0)
            snprintf(hint, sizeof hint, " NAME, perhaps --reward=-%.40s", m->c->name[i]);
    return none_found(m, "reward column", "reward", hint);
}

// action_0, action.pump, u1
static bool is_action_part(const char *header, const char *plain)
{
    static const char *const stem[] = {"action", "actions", "act", "a", "u"};
    for (int i = 0; i < 5; i++) {
        const char *rest = after_stem(plain, stem[i]);
        if (rest && all_digits(rest))
            return true;
    }
    return (strncmp(plain, "action_", 7) == 0 && header[6] == '.') ||
           (strncmp(plain, "act_", 4) == 0 && header[3] == '.');
}

static rh_status guess_action(rh_log__maker *m)
{
    rh_status rc = RH_OK;
    if (m->plan->nact > 0)
        return RH_OK;
    int column = m->opt->action ? -1 : usual(m, RH_ROLE_ACTION, usual_action);
    if (column >= 0)
        return rh_columns__plan_claim(m, column, RH_ROLE_ACTION);
    for (int i = 0; !rc && !m->opt->action && i < m->c->n; i++)
        if (m->owner[i] == RH_ROLE_NONE && is_action_part(m->c->header[i], m->plain[i]))
            rc = rh_columns__plan_claim(m, i, RH_ROLE_ACTION);
    if (!rc && m->plan->nact == 0)
        rc = none_found(m, "action column", "action", " NAME");
    return rc;
}

// Numbers with a few words among them, or in another notation, are not names by default.
static rh_status check_action(rh_log__maker *m)
{
    const rh_log__odd *odd = &m->c->odd[m->plan->act[0]];
    for (int i = 0; i < m->plan->nact; i++)
        if (m->c->odd[m->plan->act[i]].list && !m->opt->actions)
            return refuse_list(m, m->plan->act[i]);
    bool said = m->opt->actions || m->opt->action_kind != RH_ACTION_AUTO ||
                (m->c->has_given && !m->opt->action);
    if (said || m->plan->nact != 1 || odd->line == 0 ||
        (!odd->written && odd->nnumber <= odd->nodd))
        return RH_OK;
    m->plan->word = !odd->written;
    return rh_fail(m->err, RH_EFORMAT,
                   "%s:%lld: column '%.40s': found '%s', expected %s; if these are names, say "
                   "--action-kind discrete or --actions A,B,...",
                   rh_base__path_tail(m->c->path), (long long)odd->line,
                   m->c->name[m->plan->act[0]], odd->text,
                   odd->written ? odd->written : "a number as in the other rows");
}

// The rest of an observation's name after obs, state, ...; NULL if it is none.
static const char *obs_suffix(const char *plain)
{
    static const char *const any[] = {"observations", "observation", "obs", "state_feature"};
    static const char *const counted[] = {"states", "state", "features", "feature", "s"};
    for (int i = 0; i < 4; i++) {
        const char *rest = after_stem(plain, any[i]);
        if (rest && (all_digits(rest) || (*rest && rest[-1] == '_')))
            return rest;
    }
    for (int i = 0; i < 5; i++) {
        const char *rest = after_stem(plain, counted[i]);
        if (rest && all_digits(rest))
            return rest;
    }
    return NULL;
}

static bool is_obs_alone(const char *plain)
{
    static const char *const name[] = {"obs", "observation", "observations", "state", "s"};
    for (int i = 0; i < 5; i++)
        if (strcmp(plain, name[i]) == 0)
            return true;
    return false;
}

// Columns that count rows, or describe the agent and not the plant.
static bool only_counts(const rh_columns *c, int column, const char *plain)
{
    if (is_temperature(c, column, plain))
        return false;
    static const char *const name[] = {
        "",           "index",     "idx",      "row",         "id",        "frame",
        "step",       "steps",     "t",        "timestep",    "time_step", "frame_index",
        "task_index", "unnamed_0", "agent_id", "agent_index", "unroll_id", "next_success",
        "logp",       "log_prob",  "is_first", "is_last"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (strcmp(plain, name[i]) == 0)
            return true;
    return strncmp(plain, "info", 4) == 0 || strncmp(plain, "unnamed_", 8) == 0 ||
           strstr(plain, "action_prob") || strstr(plain, "action_log");
}

// Columns that InfluxDB adds to every table.
static bool is_of_influx(const char *header)
{
    static const char *const name[] = {"result", "table", "_start", "_stop", "_measurement"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (strcmp(header, name[i]) == 0)
            return true;
    return false;
}

static bool is_among(const char *plain, const char *const *name)
{
    while (*name && strcmp(plain, *name) != 0)
        name++;
    return *name;
}

// Whether the name belongs to another role: done beside terminated, reward where another is
// computed. Names of one or two characters say nothing.
static bool is_other(const char *plain)
{
    static const char *const *const list[] = {usual_reward,    usual_episode, usual_terminal,
                                              usual_truncated, usual_time,    usual_action};
    for (size_t i = 0; strlen(plain) > 2 && i < sizeof list / sizeof *list; i++)
        if (is_among(plain, list[i]))
            return true;
    const char *number = after_stem(plain, "action");
    return strncmp(plain, "episode_", 8) == 0 || strncmp(plain, "traj_", 5) == 0 ||
           (number && all_digits(number));
}

// `next` is `plain` (or plain without _t) and a suffix for s'; or obs_next_0 for obs_0.
static bool is_next_behind(const char *next, const char *plain)
{
    static const char *const behind[] = {"_next", "_prime", "_tp1", "_kp1"};
    size_t n = strlen(plain);
    for (int now = 0; now < 2; now++) {
        for (int i = 0; i < 4 && strncmp(next, plain, n) == 0; i++)
            if (strcmp(next + n, behind[i]) == 0)
                return true;
        if (n < 3 || (strcmp(plain + n - 2, "_t") != 0 && strcmp(plain + n - 2, "_k") != 0))
            break;
        n -= 2;
    }
    const char *inside = strstr(next, "_next_");
    size_t stem = inside ? (size_t)(inside - next) : 0;
    return inside && strncmp(next, plain, stem) == 0 && strcmp(inside + 5, plain + stem) == 0;
}

// obs2 beside obs is its s', as in Spinning Up.
static bool is_second(const char *next, const char *plain)
{
    size_t n = strlen(plain);
    return is_obs_alone(plain) && strncmp(next, plain, n) == 0 && strcmp(next + n, "2") == 0;
}

bool rh_columns__plan_is_next(const char *next, const char *plain)
{
    static const char *const stem[] = {"obs",   "observation", "observations",
                                       "state", "states",      "state_feature",
                                       "s",     "feature",     "features"};
    const char *name = next + 5, *rest = obs_suffix(plain);
    if (is_next_behind(next, plain) || is_second(next, plain))
        return true;
    if (strncmp(next, "new_", 4) == 0)
        name = next + 4;
    else if (strncmp(next, "next_", 5) != 0)
        return false;
    if (strcmp(name, plain) == 0 || (rest && strcmp(name, rest) == 0 && !all_digits(rest)))
        return true;
    bool alone = is_obs_alone(plain);
    for (size_t i = 0; i < sizeof stem / sizeof *stem; i++) {
        const char *suffix = after_stem(name, stem[i]);
        if (suffix && ((rest && strcmp(suffix, rest) == 0) || (alone && !*suffix)))
            return true;
    }
    return false;
}

// The free column that is the s' of an observation; -1: none.
static int next_of(const rh_log__maker *m, const char *plain)
{
    for (int i = 0; i < m->c->n; i++)
        if ((m->owner[i] == RH_ROLE_NONE || m->owner[i] == RH_ROLE_NEXT) &&
            rh_columns__plan_is_next(m->plain[i], plain))
            return i;
    return -1;
}

static bool is_next_of_any(const rh_log__maker *m, int column)
{
    // tables may have thousands of columns, and few of them such names
    const char *plain = m->plain[column];
    size_t n = strlen(plain);
    if (n == 0 || (strncmp(plain, "ne", 2) != 0 && !strstr(plain, "_next") &&
                   !strstr(plain, "_prime") && !strchr("12", plain[n - 1])))
        return false;
    for (int i = 0; i < m->c->n; i++)
        if (i != column && rh_columns__plan_is_next(m->plain[column], m->plain[i]))
            return true;
    return false;
}

// A column summed in the reward is a cost or an income; those of other formulas are sensors.
static bool is_paid(const rh_columns__plan *plan, int column)
{
    if (!rh_expression__is_sum(&plan->reward))
        return false;
    for (int i = 0; i < plan->nterm; i++)
        if (plan->term[i] == column)
            return true;
    return false;
}

// Columns that are left out, for one note.
typedef struct left_out {
    char text[160];
    int n, nshown;
} left_out;

static void leave_out(left_out *list, const char *name)
{
    size_t n = strlen(name), used = strlen(list->text);
    list->n++;
    if (list->nshown + 1 < list->n || used + (n < 60 ? n : 60) + 3 > sizeof list->text)
        return;
    rh_text__put(list->text, sizeof list->text, "%s%.60s", used ? ", " : "", name);
    list->nshown++;
}

static void note_left_out(rh_log__maker *m, const left_out *list, const char *why)
{
    if (list->n > list->nshown)
        rh_columns__plan_note(m, "left out, as %s: %s, ... (%d in all)", why, list->text,
                              list->n);
    else if (list->n > 0)
        rh_columns__plan_note(m, "left out, as %s: %s", why, list->text);
}

// Why columns are left out.
enum { COUNTS, INFLUX, OTHERS, LISTS, WORDS, BLANK, NREASON };

// Make a numeric column without a role an observation; note why others are left out.
static rh_status take_rest(rh_log__maker *m, int column, left_out *left)
{
    const rh_log__odd *odd = &m->c->odd[column];
    const char *plain = m->plain[column], *name = m->c->name[column];
    if (m->owner[column] != RH_ROLE_NONE || m->left[column] || is_paid(m->plan, column))
        return RH_OK;
    if (m->c->influx && is_of_influx(m->c->header[column])) {
        leave_out(&left[INFLUX], name);
        return RH_OK;
    }
    if (only_counts(m->c, column, plain)) {
        leave_out(&left[COUNTS], *name ? name : "(without a name)");
        return RH_OK;
    }
    if (is_next_of_any(m, column))
        return RH_OK;
    if (is_other(plain)) {
        leave_out(&left[OTHERS], name);
        return RH_OK;
    }
    if (m->c->numeric[column])
        return rh_columns__plan_claim(m, column, RH_ROLE_OBS);
    m->plan->word = odd->line > 0 && !odd->written && odd->nnumber >= odd->nodd;
    if (odd->line > 0 && (odd->written || odd->nnumber >= odd->nodd))
        return rh_fail(m->err, RH_EFORMAT,
                       "%s:%lld: column '%.40s': found '%s', expected %s; or name the "
                       "observations with --obs",
                       rh_base__path_tail(m->c->path), (long long)odd->line, name, odd->text,
                       odd->written ? odd->written : "a number as in the other rows");
    if (odd->list)
        leave_out(&left[LISTS], name);
    else if (m->c->wordy[column] || *name)
        leave_out(&left[m->c->wordy[column] ? WORDS : BLANK], name);
    return RH_OK;
}

// If observations have their usual names, the columns that have no role.
static void note_rest(rh_log__maker *m, bool named)
{
    left_out left = {0};
    for (int i = 0; named && !m->c->has_given && !m->opt->obs && i < m->c->n; i++)
        if (m->owner[i] == RH_ROLE_NONE && !m->left[i] && !is_paid(m->plan, i) &&
            !is_next_of_any(m, i))
            leave_out(&left, *m->c->name[i] ? m->c->name[i] : "(without a name)");
    note_left_out(m, &left, "observations have names of their own");
}

static rh_status guess_obs(rh_log__maker *m)
{
    rh_status rc = RH_OK;
    if (m->plan->nobs > 0)
        return RH_OK;
    for (int i = 0; !rc && !m->opt->obs && i < m->c->n; i++)
        if (m->owner[i] == RH_ROLE_NONE && !is_next_of_any(m, i) &&
            (obs_suffix(m->plain[i]) || is_obs_alone(m->plain[i]))) {
            if (m->c->odd[i].list)
                rc = refuse_list(m, i);
            else if (obs_suffix(m->plain[i]) || m->c->numeric[i])
                rc = rh_columns__plan_claim(m, i, RH_ROLE_OBS);
        }
    if (!rc)
        note_rest(m, m->plan->nobs > 0);
    if (rc || m->plan->nobs > 0)
        return rc;

    // no name says so: use the remaining columns
    static const char *const why[NREASON] = {
        [COUNTS] = "it counts rows or describes the agent",
        [INFLUX] = "InfluxDB adds it",
        [OTHERS] = "the name belongs to another role",
        [LISTS] = "its cells are lists",
        [WORDS] = "it contains text",
        [BLANK] = "its first 1,000 rows are empty",
    };
    left_out left[NREASON] = {0};
    for (int i = 0; !rc && !m->opt->obs && i < m->c->n; i++)
        rc = take_rest(m, i, left);
    if (!rc && m->plan->nobs == 0)
        rc = none_found(m, "observations", "obs", " NAME,...");
    else if (!rc)
        rh_columns__plan_note(
            m,
            "no column has an observation's name: all other numeric columns are observations");
    for (int i = 0; i < NREASON; i++)
        note_left_out(m, &left[i], why[i]);
    return rc;
}

// ---------------------------------------------------------------------------- s'

// Match the columns of s' to the observations by name; false if that fails.
static bool pair_by_name(rh_log__maker *m, int *pair)
{
    for (int i = 0; i < m->plan->nobs; i++) {
        pair[i] = next_of(m, m->plain[m->plan->obs[i]]);
        if (pair[i] < 0)
            return false;
    }
    for (int i = 0; i < m->plan->nobs; i++)
        for (int j = 0; j < i; j++)
            if (pair[i] == pair[j])
                return false;
    return true;
}

static rh_status settle_next(rh_log__maker *m)
{
    rh_columns__plan *plan = m->plan;
    int nnamed = plan->nnext;
    if (nnamed > 0 && nnamed != plan->nobs)
        return rh_fail(m->err, RH_EINVAL, "%s: next: %d column%s, expected %d as in obs",
                       rh_base__path_tail(m->c->path), nnamed, nnamed == 1 ? "" : "s",
                       plan->nobs);
    if (nnamed == 0 && (m->opt->next || m->c->has_given))
        return RH_OK;

    // the file's own list is in order; the caller's may not be
    int *pair = rh_alloc((size_t)plan->nobs, sizeof *pair);
    if (!pair)
        return rh_base__no_memory(m->err, m->c->path);
    bool told = pair_by_name(m, pair);
    for (int i = 0; told && nnamed > 0 && i < plan->nobs; i++)
        told = m->owner[pair[i]] == RH_ROLE_NEXT;
    if (told && !(nnamed > 0 && !m->opt->next)) {
        memcpy(plan->next, pair, (size_t)plan->nobs * sizeof *pair);
        plan->nnext = plan->nobs;
    } else if (nnamed == 0) {
        for (int i = 0; i < plan->nobs; i++) {
            int column = next_of(m, m->plain[plan->obs[i]]);
            if (column >= 0) {
                rh_columns__plan_note(
                    m, "column %.60s is left out: not every observation has such a one",
                    m->c->name[column]);
                break;
            }
        }
    }
    rh_free(pair);
    rh_status rc = RH_OK;
    for (int i = 0; !rc && (m->opt->next || !m->c->has_given) && i < plan->nnext; i++)
        rc = rh_columns__plan_check_twins(m, plan->next[i], RH_ROLE_NEXT);
    return rc;
}

// ---------------------------------------------------------------------------- all of it

static rh_status refuse_rlds(const rh_log__maker *m)
{
    int terminal = m->plan->terminal;
    for (int i = 0; terminal >= 0 && !m->opt->terminal && i < m->c->n; i++)
        if (m->owner[i] == RH_ROLE_NONE && strcmp(m->plain[i], "is_last") == 0 &&
            strcmp(m->plain[terminal], "is_terminal") == 0)
            return rh_fail(
                m->err, RH_EFORMAT,
                "%s: columns %.40s and %.40s are RLDS's, where an episode's last row "
                "has no action of its own; docs/logs.md shows how to export it, or "
                "name the end of steps with --terminal",
                rh_base__path_tail(m->c->path), m->c->name[i], m->c->name[terminal]);
    return RH_OK;
}

rh_status rh_columns__plan_guess(rh_log__maker *m)
{
    const rh_log_options *opt = m->opt;
    rh_status rc = guess_reward(m);
    if (!rc)
        rc = guess_single(m, RH_ROLE_EPISODE, opt->episode, usual_episode);
    if (!rc)
        rc = guess_single(m, RH_ROLE_TERMINAL, opt->terminal, usual_terminal);
    if (!rc)
        rc = refuse_rlds(m);
    if (!rc)
        rc = guess_single(m, RH_ROLE_TRUNCATED, opt->truncated, usual_truncated);
    if (!rc)
        rc = guess_time(m);
    if (!rc)
        rc = guess_action(m);
    if (!rc)
        rc = check_action(m);
    if (!rc)
        rc = guess_dates(m);
    if (!rc && m->plan->episode < 0)
        rc = guess_single(m, RH_ROLE_STEP, NULL, usual_step);
    if (!rc)
        rc = guess_obs(m);
    if (!rc)
        rc = settle_next(m);
    return rc;
}

bool rh_columns__plan_is_done(const char *plain)
{
    return strcmp(plain, "done") == 0 || strcmp(plain, "dones") == 0 ||
           strcmp(plain, "is_done") == 0 || strcmp(plain, "next_done") == 0;
}
