// part_names.h - expected messages that list registered parts, without the list in the test.

#ifndef REHEARSE_PART_NAMES_H
#define REHEARSE_PART_NAMES_H

#include <stdio.h>
#include <string.h>

#include "rehearse/agent.h"
#include "rehearse/env.h"
#include "rehearse/search.h"

// The i-th name of a list, or NULL behind the last: 'e' environments, 'a' agents, 's' searches.
static inline const char *part_name(char list, int i)
{
    if (list == 'e')
        return i < rh_env_ntype() ? rh_env_type_at(i)->name : NULL;
    if (list == 'a')
        return i < rh_agent_ntype() ? rh_agent_type_at(i)->name : NULL;
    return i < rh_search_ntype() ? rh_search_type_at(i)->name : NULL;
}

// text with {envs}, {agents}, {searches}, and {discrete} and {continuous} for the agents of
// these actions, replaced by their names, comma-separated. Valid until the next call.
static inline const char *with_names(const char *text)
{
    static char out[4096];
    size_t n = 0;
    while (*text && n < sizeof out - 1) {
        char word[16];
        if (sscanf(text, "{%15[a-z]}", word) != 1 || !strchr("aedcs", word[0])) {
            out[n++] = *text++;
            continue;
        }
        unsigned actions = word[0] == 'd' ? RH_DISCRETE : word[0] == 'c' ? RH_CONTINUOUS : 0;
        const char *name, *comma = "";
        for (int i = 0; (name = part_name(actions ? 'a' : word[0], i)); i++)
            if (!actions || rh_agent_type_at(i)->actions & actions) {
                n += (size_t)snprintf(out + n, sizeof out - n, "%s%s", comma, name);
                comma = ", ";
            }
        text = strchr(text, '}') + 1;
    }
    out[n] = 0;
    return out;
}

#endif
