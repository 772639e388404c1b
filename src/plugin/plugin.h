// plugin.h - what other modules of the library use of plugin beside its public header.

#ifndef RH_PLUGIN_H
#define RH_PLUGIN_H

#include "rehearse/plugin.h"

// A plug-in that was loaded.
typedef struct rh_plugin__info {
    const char *path;     // as it was given
    const char *file;     // the same without links, from the root
    uint64_t fingerprint; // of the bytes of the file
    const rh_plugin *plugin;
} rh_plugin__info;
int rh_plugin__count(void);
const rh_plugin__info *rh_plugin__at(int i); // NULL unless 0 <= i < rh_plugin__count()

// The plug-in that a kind came from, or an address of code or data is in; NULL: none.
const rh_plugin__info *rh_plugin__of_agent(const rh_agent_type *type);
const rh_plugin__info *rh_plugin__of_env(const rh_env_type *type);
const rh_plugin__info *rh_plugin__of_address(const void *address);

// Whether best.yaml may start programs.
bool rh_plugin__exec_allowed(void);

// The same as rh_plugin_agent() of an agent that can be had without starting a program; NULL:
// it cannot.
const rh_agent_type *rh_plugin__agent_at_hand(const char *name);

// The answers of a program may take so many seconds; later ones are late and no failures.
// Nothing for agents that are no programs.
void rh_plugin__answer_within(rh_agent *agent, double seconds);
// Whether the last answer of a program is late. False: it is there, or the program has failed.
bool rh_plugin__is_late(const rh_agent *agent);

// How many programs are open; end: with their children, they are ended first, because the
// caller is about to be. A signal handler may call it.
int rh_plugin__end_programs(bool end);

// The path of the plug-in that is being loaded; NULL: none. For reports of crashes.
const char *rh_plugin__loading(void);

#endif
