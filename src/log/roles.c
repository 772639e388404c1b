// roles.c - options for reading a log, set one by one or by a YAML file.
//
//     path: plant.csv
//     roles:
//       obs: [temp, level]
//       action: pump
//       reward: -energy
//
// 1. Keys are at the top level, below roles:, or below data: and its roles:. An unknown key
//    below roles: is refused. Elsewhere it belongs to another program, or is a typo and refused
//    if it is nearly ours (episodes, max-gap). data: plant.csv is the path alone.
// 2. `actions` lists all actions; beside `states` or `rewards` it names columns, as in a2rl.

#include "roles.h"
#include "base/base.h"
#include "base/base_internal.h"

#include <string.h>

// Other names of some keys.
static const struct {
    const char *word, *key;
} other[] = {{"observations", "obs"}, {"states", "obs"}, {"rewards", "reward"}};
enum { NOTHER = sizeof other / sizeof *other };

typedef struct parsing {
    rh_log_roles *roles;
    const char *path;
    bool found;              // a known key
    bool seen[RH_LOG__NKEY]; // in this file
    rh_error *err;
} parsing;

// The row of a key, or -1.
static int find(const char *key)
{
    for (int i = 0; i < NOTHER; i++)
        if (strcmp(key, other[i].word) == 0)
            key = other[i].key;
    for (int i = 0; i < RH_LOG__NKEY; i++)
        if (strcmp(key, rh_log_key_at(i)->key) == 0)
            return i;
    return -1;
}

static rh_status set(rh_log_roles *roles, int i, const rh_key__said *said, rh_error *err)
{
    rh_status rc = rh_key__read(rh_log__key_row(i), said, roles, err);
    roles->has[i] = roles->has[i] || !rc;
    return rc;
}

// ---------------------------------------------------------------------------- mappings

static rh_status refuse(const parsing *p, const rh_yaml *node, const char *name,
                        const char *expected)
{
    rh_key__said said = {
        .key = name, .shown = name, .value = node, .where = p->path, .file = 1};
    return rh_key__refuse(&said, NULL, "", p->err, expected);
}

// All names of keys, the i-th; NULL after the last.
static const char *known(int i)
{
    return i < RH_LOG__NKEY            ? rh_log_key_at(i)->key
           : i < RH_LOG__NKEY + NOTHER ? other[i - RH_LOG__NKEY].word
                                       : NULL;
}

static rh_status unknown_key(const parsing *p, const rh_yaml *key)
{
    const char *name[RH_LOG__NKEY + NOTHER];
    char what[380], shown[RH_YAML__SHOWN];
    int n = 0;
    for (; known(n); n++)
        name[n] = known(n);
    rh_yaml__show(key, shown);
    snprintf(what, sizeof what, "%s:%d: no role", rh_base__path_tail(p->path), key->line);
    rh_base__unknown(p->err, what, shown, name, n);
    return RH_EFORMAT;
}

static rh_status take_pair(parsing *p, const char *name, int line, const rh_yaml *value, int i)
{
    p->found = true;
    if (rh_yaml__nothing(value))
        return RH_OK;
    if (p->seen[i])
        return rh_fail(p->err, RH_EFORMAT, "%s:%d: %s is given twice",
                       rh_base__path_tail(p->path), line, name);
    p->seen[i] = true;
    rh_key__said said = {
        .key = name, .shown = name, .value = value, .where = p->path, .file = 1};
    return set(p->roles, i, &said, p->err);
}

// Whether a key equals a known one up to case, '-' for '_' and a final s.
static bool is_nearly_known(const char *key)
{
    for (int k = 0; known(k); k++) {
        const char *a = key, *b = known(k);
        for (; *a && *b; a++, b++) {
            char small = (char)(*a >= 'A' && *a <= 'Z' ? *a + 32 : *a == '-' ? '_' : *a);
            if (small != *b)
                break;
        }
        if (strcmp(a, *b ? "" : *a ? "s" : "") == 0 && strcmp(b, *b ? "s" : "") == 0)
            return true;
    }
    return false;
}

// Take all known keys of a mapping; strict: it may have no others.
static rh_status take_map(parsing *p, const rh_yaml *map, bool strict)
{
    bool columns = (rh_yaml__get(map, "states") || rh_yaml__get(map, "rewards")) &&
                   !rh_yaml__get(map, "action");
    rh_status rc = RH_OK;
    for (int i = 0; !rc && i < map->n; i++) {
        const rh_yaml *key = map->key[i];
        bool action = columns && strcmp(key->text, "actions") == 0;
        int at = find(action ? "action" : key->text);
        if (at >= 0)
            rc = take_pair(p, key->text, key->line, map->item[i], at);
        else if (strict || is_nearly_known(key->text))
            rc = unknown_key(p, key);
    }
    return rc;
}

// Take the mapping `name` of map, if there is one.
static rh_status take_inner(parsing *p, const rh_yaml *map, const char *name, bool strict)
{
    const rh_yaml *inner = rh_yaml__get(map, name);
    if (!inner || rh_yaml__nothing(inner))
        return RH_OK;
    if (inner->kind != RH_YAML_MAP)
        return refuse(p, inner, name, "a mapping");
    return take_map(p, inner, strict);
}

static rh_status take_tree(parsing *p, const rh_yaml *root)
{
    if (root->kind != RH_YAML_MAP && !rh_yaml__nothing(root))
        return rh_fail(p->err, RH_EFORMAT, "%s:%d: found %s, expected a mapping of roles",
                       rh_base__path_tail(p->path), root->line,
                       root->kind == RH_YAML_LIST ? "a list" : "a text");
    rh_status rc = take_map(p, root, false);
    if (!rc)
        rc = take_inner(p, root, "roles", true);
    const rh_yaml *data = rh_yaml__get(root, "data");
    if (!rc && data && data->kind != RH_YAML_MAP)
        rc = rh_yaml__nothing(data) ? RH_OK
                                    : take_pair(p, "path", data->line, data, find("path"));
    else if (!rc && data)
        rc = take_inner(p, root, "data", false);
    if (!rc && data)
        rc = take_inner(p, data, "roles", true);
    if (!rc && !p->found)
        rc = rh_fail(p->err, RH_EFORMAT,
                     "%s: no role in it, expected keys such as obs, action and reward",
                     rh_base__path_tail(p->path));
    return rc;
}

// A log's path is relative to the file that names it.
static rh_status resolve_path(rh_log_roles *roles, const char *from, rh_error *err)
{
    rh_yaml node = {.kind = RH_YAML_TEXT, .text = roles->path};
    char *whole = roles->path ? rh_yaml__paths(&node, from, "") : NULL;
    if (roles->path && !whole)
        return rh_base__no_memory(err, from);
    rh_key__put(&roles->path, whole);
    return RH_OK;
}

// All of a file; the tree is destroyed.
static rh_status take_file(rh_log_roles *roles, rh_yaml *tree, const char *path, rh_error *err)
{
    parsing p = {.roles = roles, .path = path, .err = err};
    rh_status rc = take_tree(&p, tree);
    if (!rc && p.seen[find("path")])
        rc = resolve_path(roles, path, err);
    rh_yaml__destroy(tree);
    return rc;
}

rh_status rh_log__roles_parse(rh_log_roles *roles, const void *bytes, size_t n,
                              const char *path, rh_error *err)
{
    rh_yaml *tree = NULL;
    rh_status rc = rh_yaml__parse(&tree, bytes, n, path, err);
    return rc ? rc : take_file(roles, tree, path, err);
}

// ---------------------------------------------------------------------------- public

rh_status rh_log_roles_create(rh_log_roles **out, rh_error *err)
{
    rh_log_roles *roles = rh_alloc(1, sizeof *roles);
    if (!roles)
        return rh_base__no_memory(err, "roles");
    roles->opt = rh_log_defaults();
    *out = roles;
    return RH_OK;
}

void rh_log_roles_destroy(rh_log_roles *roles)
{
    for (int i = 0; roles && i < RH_LOG__NKEY; i++) {
        const rh_key__row *row = rh_log__key_row(i);
        if (row->size && (row->is.type == RH_KEY_TEXT || row->is.type == RH_KEY_FILE))
            rh_key__put((char *)roles + row->at, NULL);
    }
    if (roles) {
        rh_key__put(&roles->opt.missing, NULL);
        rh_key__put(&roles->opt.missing_words, NULL);
    }
    rh_free(roles);
}

rh_status rh_log_roles_read(rh_log_roles *roles, const char *path, rh_error *err)
{
    rh_yaml *tree = NULL;
    rh_status rc = rh_yaml__read(&tree, path, err);
    return rc ? rc : take_file(roles, tree, path, err);
}

rh_status rh_log_roles_set(rh_log_roles *roles, const char *key, const char *text,
                           const char *where, rh_error *err)
{
    const char *name[RH_LOG__NKEY];
    for (int i = 0; i < RH_LOG__NKEY; i++)
        name[i] = rh_log_key_at(i)->key;
    int at = find(key);
    if (at < 0)
        return rh_base__unknown(err, "no role", key, name, RH_LOG__NKEY);
    rh_yaml *value = rh_yaml__text(text, strlen(text));
    if (!value)
        return rh_base__no_memory(err, "roles");
    rh_key__said said = {.key = key, .shown = key, .value = value, .where = where};
    rh_status rc = set(roles, at, &said, err);
    rh_yaml__destroy(value);
    return rc;
}

const char *rh_log_roles_path(const rh_log_roles *roles)
{
    return roles->path;
}

void rh_log_roles_apply(const rh_log_roles *roles, rh_log_options *opt)
{
    for (int i = 0; i < RH_LOG__NKEY; i++) {
        const rh_key__row *row = rh_log__key_row(i);
        if (roles->has[i] && row->at < sizeof roles->opt) // all but the path
            memcpy((char *)opt + row->at, (const char *)roles + row->at, row->size);
    }
    if (roles->has[find("missing")]) {
        opt->missing = roles->opt.missing;
        opt->nmissing = roles->opt.nmissing;
        opt->missing_words = roles->opt.missing_words;
    }
    if (roles->has[find("every")]) {
        opt->every = roles->opt.every;
        opt->every_rows = roles->opt.every_rows;
    }
}

rh_status rh_log_roles_write(const rh_log_roles *roles, const rh_log *log, FILE *out,
                             rh_error *err)
{
    rh_text text = {0};
    rh_text__format(&text, "roles:\n  format: %s\n", log->reading.format);
    for (int i = 0; i < RH_LOG__NKEY; i++) {
        const rh_key__row *row = rh_log__key_row(i);
        bool there = strcmp(row->is.key, "format") == 0 || strcmp(row->is.key, "path") == 0;
        if (!roles->has[i] || there)
            continue;
        rh_text__format(&text, "  %s: ", row->is.key);
        rh_key__show(row, roles, &text);
        rh_text__add(&text, "\n");
    }
    rh_status rc = text.bad ? rh_base__no_memory(err, "roles") : RH_OK;
    if (!rc)
        fputs(text.data, out);
    rh_text__clear(&text);
    return rc;
}
