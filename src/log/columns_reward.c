// columns_reward.c - parses a reward expression: "-energy", "income - 0.5*wear", "a,b".
//
//     reward = [sign] term { (sign | ,) [sign] term }
//     term   = [number *] column | column * number
//
// Column names may contain signs ("net-gain"): the longest match wins; quotes make it explicit.

#include "base/base_internal.h"
#include "columns_plan.h"

#include "base/number.h"

#include <string.h>

// ---------------------------------------------------------------------------- the reward

static bool is_operator(char c)
{
    return c == 0 || c == ' ' || c == '\t' || c == '+' || c == '-' || c == '*' || c == ',';
}

// The column with the longest name that matches at *at; -1 and the word there if none does.
static int take_column(const rh_log__maker *m, const char **at, const char **word,
                       size_t *nword)
{
    const char *p = *at, *close = NULL;
    if (*p == '"' || *p == '\'')
        close = strchr(p + 1, *p);
    int best = -1;
    size_t most = 0;
    for (int i = 0; i < m->c->n; i++)
        for (int whole = 0; whole < 2; whole++) {
            const char *name = whole ? m->c->header[i] : m->c->name[i];
            size_t n = strlen(name);
            bool same = close ? (size_t)(close - p - 1) == n && memcmp(p + 1, name, n) == 0
                              : strncmp(p, name, n) == 0 && is_operator(p[n]);
            if (same && n > most) {
                best = i;
                most = n;
            }
        }
    *word = close ? p + 1 : p;
    *nword = close ? (size_t)(close - p - 1) : most;
    if (!close && best < 0)
        while (!is_operator(p[*nword]))
            ++*nword;
    *at = *word + *nword + (close != NULL);
    return best;
}

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

static rh_status bad_reward(rh_log__maker *m, const char *text, const char *at)
{
    return rh_fail(m->err, RH_EINVAL,
                   "%s: reward = %.60s: found '%.20s', expected columns with signs and "
                   "factors, such as \"income - 0.5*wear\"",
                   rh_base__path_tail(m->c->path), text, *at ? at : "its end");
}

static void add_term(rh_columns__plan *plan, int column, double factor)
{
    for (int i = 0; i < plan->nterm; i++)
        if (plan->term[i] == column) {
            plan->factor[i] += factor;
            return;
        }
    plan->term[plan->nterm] = column;
    plan->factor[plan->nterm++] = factor;
}

// Parse one term at *at: [number *] column [* number].
static rh_status take_term(rh_log__maker *m, const char *text, const char **at, double factor)
{
    const char *p = skip_blanks(*at), *word;
    double x;
    size_t nword;
    const char *number = rh_number__parse(p, p + strlen(p), &x);
    if (number && *skip_blanks(number) == '*' && *p != '+' && *p != '-') {
        factor *= x;
        p = skip_blanks(skip_blanks(number) + 1);
    }
    if (is_operator(*p))
        return bad_reward(m, text, p);
    int column = take_column(m, &p, &word, &nword);
    if (column < 0) {
        char name[80];
        snprintf(name, sizeof name, "%.*s", (int)(nword < 79 ? nword : 79), word);
        return rh_columns__plan_unknown(m, RH_ROLE_REWARD, name);
    }
    rh_status rc = rh_columns__plan_check_twins(m, column, RH_ROLE_REWARD);
    if (rc)
        return rc;
    p = skip_blanks(p);
    if (*p == '*') {
        const char *begin = skip_blanks(p + 1);
        number = rh_number__parse(begin, begin + strlen(begin), &x);
        if (!number)
            return bad_reward(m, text, begin);
        factor *= x;
        p = skip_blanks(number);
    }
    if (!rh_base__all_finite(&factor, 1))
        return bad_reward(m, text, *at);
    add_term(m->plan, column, factor);
    *at = p;
    return RH_OK;
}

rh_status rh_columns__plan_compute_reward(rh_log__maker *m, const char *text)
{
    const char *p = skip_blanks(text);
    size_t n = strlen(p);
    while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\t'))
        n--;
    m->plan->reward_name = rh_alloc(n + 1, 1);
    if (!m->plan->reward_name)
        return rh_base__no_memory(m->err, m->c->path);
    memcpy(m->plan->reward_name, p, n);

    // a single column, whatever characters its name contains
    const char *whole = m->plan->reward_name;
    for (int i = 0; i < m->c->n; i++)
        if (strcmp(whole, m->c->header[i]) == 0 || strcmp(whole, m->c->name[i]) == 0) {
            rh_log__role owner = m->owner[i];
            if (owner != RH_ROLE_NONE)
                return rh_fail(
                    m->err, RH_EINVAL, "%s: column '%.40s' is named for both %s and reward",
                    rh_base__path_tail(m->c->path), whole, rh_columns__role_name(owner));
            add_term(m->plan, i, 1.0);
            m->owner[i] = RH_ROLE_REWARD;
            return rh_columns__plan_check_twins(m, i, RH_ROLE_REWARD);
        }

    rh_status rc = RH_OK;
    for (p = whole; !rc;) {
        double sign = 1.0;
        p = skip_blanks(p);
        if (*p == '+' || *p == '-')
            sign = *p++ == '-' ? -1.0 : 1.0;
        rc = take_term(m, whole, &p, sign);
        if (rc || !*p)
            break;
        if (*p == ',')
            p++;
        else if (*p != '+' && *p != '-')
            rc = bad_reward(m, whole, p);
    }
    return rc;
}

rh_status rh_columns__plan_take_reward(rh_log__maker *m, int column)
{
    size_t size = strlen(m->c->name[column]) + 1;
    m->plan->reward_name = rh_alloc(size, 1);
    if (!m->plan->reward_name)
        return rh_base__no_memory(m->err, m->c->path);
    memcpy(m->plan->reward_name, m->c->name[column], size);
    add_term(m->plan, column, 1.0);
    m->owner[column] = RH_ROLE_REWARD;
    return RH_OK;
}
