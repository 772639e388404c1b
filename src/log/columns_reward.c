// columns_reward.c - the reward of a table: a formula over its columns (base/expression.h).
//
//     "-energy"    "income - 0.5*wear"    "a, b*2"    "-abs(T_tank - Setpoint)"
//
// 1. A text that is the name of a column is this column, whatever characters it contains.
// 2. A computed reward leaves its columns their roles: it may use observations and actions.

#include "base/base_internal.h"
#include "columns_plan.h"

#include <string.h>

// Keep the text of the reward without blanks around it.
static rh_status keep_name(rh_log__maker *m, const char *text)
{
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    m->plan->reward_name = rh_alloc(n + 1, 1);
    if (!m->plan->reward_name)
        return rh_base__no_memory(m->err, m->c->path);
    memcpy(m->plan->reward_name, text, n);
    return RH_OK;
}

static void add_term(rh_columns__plan *plan, int column)
{
    for (int i = 0; i < plan->nterm; i++)
        if (plan->term[i] == column)
            return;
    plan->term[plan->nterm++] = column;
}

static rh_status compile(rh_log__maker *m, const char *text)
{
    char label[400];
    snprintf(label, sizeof label, "%s: reward", rh_base__path_tail(m->c->path));
    rh_expression__scope scope = {label, "column", m->c->name, m->c->header, m->c->n};
    rh_expression *reward = &m->plan->reward;
    rh_status rc = rh_expression__compile(reward, text, &scope, m->err);
    for (int i = 0; !rc && i < reward->nspan; i++) {
        add_term(m->plan, reward->span[i].column);
        rc = rh_columns__plan_check_twins(m, reward->span[i].column, RH_ROLE_REWARD);
    }
    return rc;
}

rh_status rh_columns__plan_compute_reward(rh_log__maker *m, const char *text)
{
    rh_status rc = keep_name(m, text);
    if (rc)
        return rc;
    const char *whole = m->plan->reward_name;
    for (int i = 0; i < m->c->n; i++)
        if (strcmp(whole, m->c->header[i]) == 0 || strcmp(whole, m->c->name[i]) == 0) {
            rh_log__role owner = m->owner[i];
            if (owner != RH_ROLE_NONE)
                return rh_fail(
                    m->err, RH_EINVAL, "%s: column '%.40s' is named for both %s and reward",
                    rh_base__path_tail(m->c->path), whole, rh_columns__role_name(owner));
            add_term(m->plan, i);
            m->owner[i] = RH_ROLE_REWARD;
            return rh_columns__plan_check_twins(m, i, RH_ROLE_REWARD);
        }
    return compile(m, whole);
}

rh_status rh_columns__plan_take_reward(rh_log__maker *m, int column)
{
    size_t size = strlen(m->c->name[column]) + 1;
    m->plan->reward_name = rh_alloc(size, 1);
    if (!m->plan->reward_name)
        return rh_base__no_memory(m->err, m->c->path);
    memcpy(m->plan->reward_name, m->c->name[column], size);
    add_term(m->plan, column);
    m->owner[column] = RH_ROLE_REWARD;
    return RH_OK;
}
