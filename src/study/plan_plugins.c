// plan_plugins.c - plug-ins of a plan: the key that loads them, and those that a study uses.
//
// 1. Plug-ins are loaded when the key is read, so that names of their agents are known to keys
//    that follow. In a file they are read before everything else, wherever they stand.
// 2. A path in a study file starts from the folder of the file.
// 3. A study depends on the plug-ins whose kinds it uses, and on no others. They are no entries
//    of the plan: like a log, a plug-in is identified by its bytes, not by its path.

#include "plan.h"
#include "plugin/plugin.h"
#include "rehearse/plugin.h"

#include <string.h>

// Load one, named by node.
static rh_status load(const rh_key__said *said, const rh_yaml *node, rh_error *err)
{
    rh_error why = {""};
    rh_text path = {0};
    if (node->kind != RH_YAML_TEXT || !*node->text)
        return rh_key__refuse(said, node, "", err, "the path of a plug-in");
    const char *slash = said->file && said->where ? strrchr(said->where, '/') : NULL;
    if (slash && *node->text != '/')
        rh_text__add_n(&path, said->where, (size_t)(slash - said->where) + 1);
    rh_text__add(&path, node->text);
    rh_status rc = path.bad ? RH_ENOMEM : rh_plugin_load(path.data, &why);
    rh_text__clear(&path);
    if (rc == RH_ENOMEM)
        return rh_plan__no_memory(err);
    return rc ? rh_key__blame(said, node, err, why.text) : RH_OK;
}

rh_status rh_plan__read_plugins(void *plan, const rh_key__said *said, rh_error *err)
{
    const rh_yaml *value = said->value;
    (void)plan;
    if (value->kind != RH_YAML_LIST)
        return load(said, value, err);
    rh_status rc = RH_OK;
    for (int i = 0; i < value->n && !rc; i++)
        rc = load(said, value->item[i], err);
    return rc;
}

static bool uses(const rh_plan *plan, const rh_plugin__info *info)
{
    for (int i = 0; i < plan->agents.n; i++)
        if (rh_plugin__of_agent(plan->agents.type[i]) == info)
            return true;
    return (plan->env && rh_plugin__of_env(plan->env) == info) ||
           (plan->task_of && rh_plugin__of_env(plan->task_of) == info);
}

uint64_t rh_plan__plugin_hash(const rh_plan *plan)
{
    uint64_t hash = 0;
    for (int i = 0; i < rh_plugin__count(); i++)
        if (uses(plan, rh_plugin__at(i)))
            hash = (hash ^ rh_plugin__at(i)->fingerprint) * UINT64_C(0x100000001b3);
    return hash;
}

void rh_plan__write_plugins(const rh_plan *plan, bool from_root, rh_text *text)
{
    int n = 0;
    for (int i = 0; i < rh_plugin__count(); i++) {
        const rh_plugin__info *info = rh_plugin__at(i);
        if (!uses(plan, info))
            continue;
        rh_text__add(text, n++ ? ", " : "plugins: [");
        rh_text__json(text, from_root ? info->file : info->path); // YAML in double quotes
    }
    rh_text__add(text, n ? "]\n" : "");
}
