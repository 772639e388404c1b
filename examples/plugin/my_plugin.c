// my_plugin.c - the one function that a plug-in exports.

#include "my_plugin.h"

const rh_plugin *rehearse_plugin(void)
{
    static const rh_agent_type *const agent[] = {&my_sarsa_type, NULL};
    static const rh_env_type *const env[] = {&my_tank_type, NULL};
    static const rh_plugin plugin = {
        .abi = RH_PLUGIN_ABI, .version = "1.0", .agent = agent, .env = env};
    return &plugin;
}
