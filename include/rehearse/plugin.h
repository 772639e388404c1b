// plugin.h - agents and environments from shared libraries and of other programs.
//
// A plug-in is a shared library that exports one function, rehearse_plugin(). Its kinds are
// registered when it is loaded, and from then on used like the built-in ones. docs/plugins.md
// explains how to write one; examples/plugin/ is a complete project.

#ifndef REHEARSE_PLUGIN_H
#define REHEARSE_PLUGIN_H

#include "rehearse/agent.h"
#include "rehearse/env.h"

// Which layout of contract.h a plug-in was compiled with. It changes whenever a struct that a
// plug-in fills or reads changes; a plug-in with another number is refused.
#define RH_PLUGIN_ABI 6

typedef struct rh_plugin {
    unsigned abi;                      // RH_PLUGIN_ABI; stays the first member for good
    const char *version;               // of the plug-in, for people; nullable
    const rh_agent_type *const *agent; // its agents, ends with NULL; nullable
    const rh_env_type *const *env;     // its environments, ends with NULL; nullable
} rh_plugin;

// The function that a plug-in defines. The result stays valid until the program ends.
RH_API const rh_plugin *rehearse_plugin(void);

// Load a plug-in and register its kinds. A plug-in that is loaded already is left alone.
// A plug-in is not unloaded. Nullable: err.
RH_API rh_status rh_plugin_load(const char *path, rh_error *err);

// The agent or environment called `name`: a registered one, or exec:COMMAND, a program that
// answers JSON lines (docs/exec.md). NULL: a message. Nullable: err.
RH_API const rh_agent_type *rh_plugin_agent(const char *name, rh_error *err);
RH_API const rh_env_type *rh_plugin_env(const char *name, rh_error *err);

// How long the programs of exec:COMMAND may take for an answer, 10 seconds at first; for all of
// this process. The first answer of a program may take 30 seconds. Nullable: err.
#define RH_PLUGIN_MOST_TIMEOUT 86400.0
RH_API rh_status rh_plugin_set_timeout(double seconds, rh_error *err);

// Whether an agent of best.yaml may be exec:COMMAND, a program that is started with your
// rights; for all of this process. At first it may not: the file may be of somebody else.
// A plug-in of best.yaml is never loaded by the file: load it first. SECURITY.md explains this.
RH_API void rh_plugin_allow_exec(bool allow);

#endif
