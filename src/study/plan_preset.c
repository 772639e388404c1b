// plan_preset.c - presets: keys of a file in presets/, below those that were set.
//
// 1. What was set overrides a preset, wherever `preset` itself is written. So a preset is read
//    before everything else, and its keys do not count as set.
// 2. Keys without a field wait for the part that they are about: rh_plan__preset().
// 3. The files are built into the library: a study must not depend on what is installed.

#include "plan.h"

#include <string.h>

const char *rh_plan__preset_name(int i)
{
    return i == 0 ? "none" : rh_preset__file[i - 1].name;
}

// A key of the preset, from the file's own tree.
static rh_status take(rh_plan *plan, const char *key, const rh_yaml *value, rh_error *err)
{
    const rh_plan__row *row = rh_plan__row_of(key);
    char where[80], name[100];
    snprintf(where, sizeof where, "preset %s", rh_plan__preset_name(plan->preset));
    snprintf(name, sizeof name, "%s", key);
    rh_key__said said = {.key = name, .shown = name, .value = value, .where = where};
    bool ours = row && (row->key.is.commands & plan->command) && row->key.size;
    return ours ? rh_plan__take(plan, &said, err) : RH_OK;
}

static rh_status take_all(rh_plan *plan, const rh_yaml *file, rh_error *err)
{
    rh_status rc = RH_OK;
    for (int i = 0; i < file->n && !rc; i++) {
        const rh_yaml *item = file->item[i];
        char key[100];
        snprintf(key, sizeof key, "%s", file->key[i]->text);
        if (item->kind != RH_YAML_MAP)
            rc = take(plan, key, item, err);
        for (int k = 0; item->kind == RH_YAML_MAP && k < item->n && !rc; k++) {
            snprintf(key, sizeof key, "%s.%s", file->key[i]->text, item->key[k]->text);
            rc = take(plan, key, item->item[k], err);
        }
    }
    return rc;
}

rh_status rh_plan__read_preset(rh_plan *plan, rh_error *err)
{
    rh_plan__book *book = plan->book;
    const rh_key__said *said = rh_plan__said(plan, "preset");
    rh_yaml__destroy(book->preset);
    book->preset = NULL;
    rh_status rc = said ? rh_plan__take(plan, said, err) : RH_OK;
    if (rc || !plan->preset)
        return rc;
    const char *text = rh_preset__file[plan->preset - 1].text;
    rc = rh_yaml__parse(&book->preset, text, strlen(text),
                        rh_preset__file[plan->preset - 1].name, err);
    return rc ? rc : take_all(plan, book->preset, err);
}

const rh_yaml *rh_plan__preset(const rh_plan *plan, const char *key)
{
    const rh_yaml *file = plan->book->preset;
    const char *dot = strchr(key, '.');
    char section[64];
    if (!file || !dot)
        return file ? rh_yaml__get(file, key) : NULL;
    snprintf(section, sizeof section, "%.*s", (int)(dot - key), key);
    const rh_yaml *below = rh_yaml__get(file, section);
    return below ? rh_yaml__get(below, dot + 1) : NULL;
}
