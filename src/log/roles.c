// roles.c - options for reading a log, from YAML.
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
// 3. A list is joined with commas, and an entry that contains one is quoted, as in an option.

#include "roles.h"
#include "base/base_internal.h"

#include "base/number.h"
#include "base/yaml.h"

#include <math.h>
#include <string.h>

#define MISSING 64 // most numbers and words that stand for a missing value

typedef enum role_key {
    PATH,
    FORMAT,
    OBS,
    ACTION,
    REWARD,
    EPISODE,
    TERMINAL,
    TRUNCATED,
    TIME,
    NEXT,
    ACTIONS,
    DERIVE,
    MISSING_WORDS,
    REWARD_OF,
    ACTION_KIND,
    DECIMAL,
    DATES,
    MISSING_NUMBERS,
    MAX_GAP,
    EPISODE_STEPS,
    STACK,
    NKEY
} role_key;

#define NTEXT (MISSING_WORDS + 1) // keys before this are texts

static const struct {
    const char *name;
    role_key key;
} known[] = {{"obs", OBS},
             {"observations", OBS},
             {"states", OBS},
             {"action", ACTION},
             {"actions", ACTIONS},
             {"reward", REWARD},
             {"rewards", REWARD},
             {"episode", EPISODE},
             {"terminal", TERMINAL},
             {"truncated", TRUNCATED},
             {"time", TIME},
             {"derive", DERIVE},
             {"stack", STACK},
             {"next", NEXT},
             {"reward_of", REWARD_OF},
             {"action_kind", ACTION_KIND},
             {"missing", MISSING_NUMBERS},
             {"decimal", DECIMAL},
             {"dates", DATES},
             {"max_gap", MAX_GAP},
             {"episode_steps", EPISODE_STEPS},
             {"format", FORMAT},
             {"path", PATH}}; // last, for data: plant.csv
#define NKNOWN ((int)(sizeof known / sizeof *known))

struct rh_log_roles {
    bool has[NKEY];
    char *text[NTEXT]; // owned
    rh_reward_of reward_of;
    rh_action_kind action_kind;
    rh_decimal decimal;
    rh_dates dates;
    double missing[MISSING];
    int nmissing;
    double max_gap;
    int64_t episode_steps;
    int stack;
};

typedef struct parsing {
    rh_log_roles *roles;
    const char *path;
    bool found; // a known key
    rh_error *err;
} parsing;

// "roles.yaml:7: max_gap = x, expected ..."
static rh_status refuse(const parsing *p, const rh_yaml *node, const char *name,
                        const char *expected)
{
    char shown[RH_YAML__SHOWN];
    rh_yaml__show(node, shown);
    return rh_fail(p->err, RH_EFORMAT, "%s:%d: %s = %s, expected %s",
                   rh_base__path_tail(p->path), node->line, name, shown, expected);
}

// ---------------------------------------------------------------------------- values

// The quote that an entry of a list needs: if it contains a comma or begins with a quote.
static const char *quote_for(const char *text)
{
    if (!strchr(text, ',') && *text != '"' && *text != '\'')
        return "";
    return strchr(text, '"') ? "'" : "\"";
}

// A text, or a list of texts joined with commas.
static rh_status take_text(const parsing *p, const rh_yaml *node, role_key key,
                           const char *name)
{
    rh_text text = {0};
    bool list = node->kind == RH_YAML_LIST;
    rh_status rc = RH_OK;
    if (node->kind == RH_YAML_MAP)
        return refuse(p, node, name, "a text or a list of texts");
    if (list && key <= FORMAT)
        return refuse(p, node, name, "a text");
    rh_text__add(&text, list ? "" : node->text);
    for (int i = 0; !rc && list && i < node->n; i++) {
        const rh_yaml *entry = node->item[i];
        if (entry->kind != RH_YAML_TEXT) {
            rc = refuse(p, entry, name, "a text or a list of texts");
        } else if (key == DERIVE) {
            rh_text__format(&text, "%s%s", i ? "; " : "", entry->text);
        } else if (key == ACTIONS && strchr(entry->text, ',')) {
            rc = refuse(p, entry, name, "names without commas");
        } else {
            const char *quote = quote_for(entry->text);
            rh_text__format(&text, "%s%s%s%s", i ? "," : "", quote, entry->text, quote);
        }
    }
    if (!rc && text.bad)
        rc = rh_base__no_memory(p->err, p->path);
    if (rc)
        rh_text__clear(&text);
    else
        p->roles->text[key] = text.data;
    return rc;
}

// As in a log, and .inf.
static bool take_number(const rh_yaml *node, double *x)
{
    if (node->kind != RH_YAML_TEXT)
        return false;
    const char *text = node->text;
    if (strcmp(text, ".inf") == 0 || strcmp(text, ".Inf") == 0)
        text++;
    return rh_number__read(text, strlen(text), x) == RH_NUMBER;
}

static rh_status take_missing(const parsing *p, const rh_yaml *node, const char *name)
{
    rh_log_roles *roles = p->roles;
    bool list = node->kind == RH_YAML_LIST;
    rh_text words = {0};
    rh_status rc = RH_OK;
    if (list && node->n > MISSING)
        return refuse(p, node, name, "at most 64 numbers and words");
    for (int i = 0; !rc && i < (list ? node->n : 1); i++) {
        const rh_yaml *entry = list ? node->item[i] : node;
        if (take_number(entry, &roles->missing[roles->nmissing]))
            roles->nmissing++;
        else if (entry->kind != RH_YAML_TEXT || !*entry->text || strchr(entry->text, ','))
            rc = refuse(p, entry, name, "a number or word, or a list of them");
        else
            rh_text__format(&words, "%s%s", words.n ? "," : "", entry->text);
    }
    if (!rc && words.bad)
        rc = rh_base__no_memory(p->err, p->path);
    if (rc || !words.n) {
        rh_text__clear(&words);
        return rc;
    }
    rh_free(roles->text[MISSING_WORDS]);
    roles->text[MISSING_WORDS] = words.data;
    return RH_OK;
}

// The index of a text among n words, or -1.
static int take_word(const rh_yaml *node, const char *const *word, int n)
{
    for (int i = 0; i < n; i++)
        if (node->kind == RH_YAML_TEXT && strcmp(node->text, word[i]) == 0)
            return i;
    return -1;
}

static rh_status take_value(const parsing *p, const rh_yaml *node, role_key key,
                            const char *name)
{
    static const char *const of[] = {"action", "state"};
    static const char *const kind[] = {"auto", "discrete", "continuous"};
    static const char *const sign[] = {"auto", "point", "comma"};
    static const char *const order[] = {"auto", "day-first", "month-first"};
    rh_log_roles *roles = p->roles;
    double x = 0.0;
    int word;
    switch (key) {
    case REWARD_OF:
        word = take_word(node, of, 2);
        roles->reward_of = word == 1 ? RH_REWARD_OF_STATE : RH_REWARD_OF_ACTION;
        return word < 0 ? refuse(p, node, name, "action or state") : RH_OK;
    case ACTION_KIND:
        word = take_word(node, kind, 3);
        roles->action_kind = (rh_action_kind)(word < 0 ? 0 : word);
        return word < 0 ? refuse(p, node, name, "auto, discrete or continuous") : RH_OK;
    case DECIMAL:
        word = take_word(node, sign, 3);
        roles->decimal = (rh_decimal)(word < 0 ? 0 : word);
        return word < 0 ? refuse(p, node, name, "auto, point or comma") : RH_OK;
    case DATES:
        word = take_word(node, order, 3);
        roles->dates = (rh_dates)(word < 0 ? 0 : word);
        return word < 0 ? refuse(p, node, name, "auto, day-first or month-first") : RH_OK;
    case MISSING_NUMBERS:
        return take_missing(p, node, name);
    case MAX_GAP:
        if (!take_number(node, &x) &&
            !(node->kind == RH_YAML_TEXT && rh_log_duration(node->text, &x)))
            x = 0.0;
        if (!(x > 0.0))
            return refuse(p, node, name, "a time above 0 such as 90, 15m, 2h or 1d");
        roles->max_gap = x;
        return RH_OK;
    case STACK:
        if (!take_number(node, &x) || !(x >= 1.0 && x <= 64.0) || x != floor(x))
            return refuse(p, node, name, "a whole number from 1 to 64");
        roles->stack = (int)x;
        return RH_OK;
    case EPISODE_STEPS:
        if (!take_number(node, &x) || !(x >= 1.0 && x < 9e15) || x != floor(x))
            return refuse(p, node, name, "a whole number of 1 or more");
        roles->episode_steps = (int64_t)x;
        return RH_OK;
    case PATH:
    case FORMAT:
    case OBS:
    case ACTION:
    case REWARD:
    case EPISODE:
    case TERMINAL:
    case TRUNCATED:
    case TIME:
    case NEXT:
    case ACTIONS:
    case DERIVE:
    case MISSING_WORDS:
    case NKEY:
        break;
    }
    return take_text(p, node, key, name);
}

// ---------------------------------------------------------------------------- mappings

static rh_status unknown_key(const parsing *p, const rh_yaml *key)
{
    const char *name[NKNOWN];
    char what[380], shown[RH_YAML__SHOWN];
    for (int i = 0; i < NKNOWN; i++)
        name[i] = known[i].name;
    rh_yaml__show(key, shown);
    snprintf(what, sizeof what, "%s:%d: no role", rh_base__path_tail(p->path), key->line);
    rh_unknown(p->err, what, shown, name, NKNOWN);
    return RH_EFORMAT;
}

static rh_status take_pair(parsing *p, int line, const rh_yaml *value, int i, bool columns)
{
    rh_log_roles *roles = p->roles;
    const char *name = known[i].name;
    role_key key = known[i].key;
    if (key == ACTIONS && columns)
        key = ACTION;
    p->found = true;
    if (rh_yaml__nothing(value))
        return RH_OK;
    if (roles->has[key])
        return rh_fail(p->err, RH_EFORMAT, "%s:%d: %s is given twice",
                       rh_base__path_tail(p->path), line, name);
    roles->has[key] = true;
    return take_value(p, value, key, name);
}

// Whether a key equals a known one up to case, '-' for '_' and a final s.
static bool is_nearly_known(const char *key)
{
    for (int k = 0; k < NKNOWN; k++) {
        const char *a = key, *b = known[k].name;
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
        int k = 0;
        while (k < NKNOWN && strcmp(key->text, known[k].name) != 0)
            k++;
        if (k < NKNOWN)
            rc = take_pair(p, key->line, map->item[i], k, columns);
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
    if (!rc && data && data->kind == RH_YAML_TEXT)
        rc = rh_yaml__nothing(data) ? RH_OK : take_pair(p, data->line, data, NKNOWN - 1, false);
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
    const char *slash = strrchr(from, '/'), *path = roles->text[PATH];
    rh_text whole = {0};
    if (!path || *path == '/' || !slash)
        return RH_OK;
    rh_text__add_n(&whole, from, (size_t)(slash - from) + 1);
    rh_text__add(&whole, path);
    if (whole.bad) {
        rh_text__clear(&whole);
        return rh_base__no_memory(err, from);
    }
    rh_free(roles->text[PATH]);
    roles->text[PATH] = whole.data;
    return RH_OK;
}

// ---------------------------------------------------------------------------- public

rh_status rh_log__roles_parse(rh_log_roles **out, const void *bytes, size_t n, const char *path,
                              rh_error *err)
{
    rh_yaml *tree = NULL;
    rh_log_roles *roles = rh_alloc(1, sizeof *roles);
    if (!roles)
        return rh_base__no_memory(err, path);
    parsing p = {.roles = roles, .path = path, .err = err};
    rh_status rc = rh_yaml__parse(&tree, bytes, n, path, err);
    if (!rc)
        rc = take_tree(&p, tree);
    if (!rc)
        rc = resolve_path(roles, path, err);
    if (!rc) {
        *out = roles;
        roles = NULL;
    }
    rh_yaml__destroy(tree);
    rh_log_roles_destroy(roles);
    return rc;
}

rh_status rh_log_roles_read(rh_log_roles **out, const char *path, rh_error *err)
{
    char *bytes = NULL;
    size_t n = 0;
    rh_status rc = rh_yaml__load(&bytes, &n, path, err);
    if (!rc)
        rc = rh_log__roles_parse(out, bytes, n, path, err);
    rh_free(bytes);
    return rc;
}

void rh_log_roles_destroy(rh_log_roles *roles)
{
    for (int i = 0; roles && i < NTEXT; i++)
        rh_free(roles->text[i]);
    rh_free(roles);
}

const char *rh_log_roles_path(const rh_log_roles *roles)
{
    return roles->text[PATH];
}

void rh_log_roles_apply(const rh_log_roles *roles, rh_log_options *opt)
{
    const char **const place[NTEXT] = {
        [FORMAT] = &opt->format,       [OBS] = &opt->obs,         [ACTION] = &opt->action,
        [REWARD] = &opt->reward,       [EPISODE] = &opt->episode, [TERMINAL] = &opt->terminal,
        [TRUNCATED] = &opt->truncated, [TIME] = &opt->time,       [NEXT] = &opt->next,
        [ACTIONS] = &opt->actions,     [DERIVE] = &opt->derive,
    };
    for (int i = 0; i < NTEXT; i++)
        if (place[i] && roles->has[i])
            *place[i] = roles->text[i];
    if (roles->has[REWARD_OF])
        opt->reward_of = roles->reward_of;
    if (roles->has[ACTION_KIND])
        opt->action_kind = roles->action_kind;
    if (roles->has[DECIMAL])
        opt->decimal = roles->decimal;
    if (roles->has[DATES])
        opt->dates = roles->dates;
    if (roles->has[MAX_GAP])
        opt->max_gap = roles->max_gap;
    if (roles->has[STACK])
        opt->stack = roles->stack;
    if (roles->has[EPISODE_STEPS])
        opt->episode_steps = roles->episode_steps;
    if (roles->has[MISSING_NUMBERS]) {
        opt->missing = roles->missing;
        opt->nmissing = roles->nmissing;
        opt->missing_words = roles->text[MISSING_WORDS];
    }
}
