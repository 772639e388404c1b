// my_plugin.h - the kinds of this plug-in.

#ifndef MY_PLUGIN_H
#define MY_PLUGIN_H

#include <rehearse/plugin.h>

extern const rh_agent_type my_sarsa_type;
extern const rh_env_type my_tank_type;

#endif
