// exogenous.c - sensors of which the user says that no action moves them: --exogenous
// T_out,sp_*

#include "base/base.h"
#include "base/base_internal.h"
#include "log.h"
#include "log_internal.h"

#include <stdio.h>
#include <string.h>

#define WORD 256 // most bytes of a name, with its end

// The next word of a list; false after the last.
static bool next_word(const char **list, char *word, size_t size)
{
    const char *c = *list + strspn(*list, ", \t");
    size_t n = strcspn(c, ",");
    *list = c + n;
    while (n > 0 && strchr(" \t", c[n - 1]))
        n--;
    snprintf(word, size, "%.*s", (int)n, c);
    return n > 0;
}

bool rh_log__is_exogenous(const rh_log *log, int sensor)
{
    const char *list = log->exogenous, *name = log->obs_name[sensor],
               *past = strrchr(name, '[');
    char word[WORD], now[WORD];
    bool found = false, stacked = log->stack > 1 && past && past[1] == '-';
    snprintf(now, sizeof now, "%.*s", stacked ? (int)(past - name) : WORD, name);
    while (list && !found && next_word(&list, word, sizeof word))
        found = rh_log__matches(word, name) || rh_log__matches(word, now);
    return found;
}

rh_status rh_log__set_exogenous(rh_log **log, const char *list, const char *path, rh_error *err)
{
    const rh_log *from = *log;
    rh_log parts = *from, *copy = NULL;
    const char *rest = list;
    char word[WORD];
    rh_status rc = RH_OK;
    while (!rc && next_word(&rest, word, sizeof word)) {
        bool any = false;
        for (int k = 0; k < from->nobs; k++)
            any = any || rh_log__matches(word, from->obs_name[k]);
        if (!any) {
            char what[400];
            snprintf(what, sizeof what, "%s: exogenous: no sensor", rh_base__path_tail(path));
            rh_base__unknown(err, what, word, from->obs_name, from->nobs);
            rc = RH_EINVAL;
        }
    }
    parts.exogenous = list;
    if (!rc)
        rc = rh_log_copy(&copy, &parts, err);
    if (rc)
        return rh_log__one_line(rc, err);
    rh_log_destroy(*log);
    *log = copy;
    return RH_OK;
}
