// roles.c - options for reading a log, from YAML.
//
//     path: plant.csv
//     roles:
//       obs: [temp, level]
//       action: pump
//       reward: -energy
//
// 1. Keys may stand at the top, below roles:, or below data: and there roles:. What is unknown
//    below roles: is refused; elsewhere it belongs to somebody else, unless it is nearly one of
//    ours (episodes, max-gap): that is a slip, and would be missed. data: plant.csv is the path
//    alone.
// 2. `actions` are all the actions there are. Beside `states` or `rewards` they are columns: so
//    a2rl's metadata.yaml has it.
// 3. A list is joined with commas, and an entry that has one is put in quotes: what a role list
//    on the command line would be.
// 4. Nothing is followed but the few levels above, so an alias that contains itself does no
//    harm, and one that stands for a million others is never counted out.

#include "roles.h"

#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#define LARGEST (1 << 20) // bytes of a file
#define MISSING 64        // numbers that stand for a missing one
#define SHOWN 40          // letters of a value in a message

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
    REWARD_OF,
    ACTION_KIND,
    MISSING_NUMBERS,
    MAX_GAP,
    EPISODE_STEPS,
    NKEY
} role_key;

#define NTEXT (ACTIONS + 1) // the first of them are texts

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
             {"next", NEXT},
             {"reward_of", REWARD_OF},
             {"action_kind", ACTION_KIND},
             {"missing", MISSING_NUMBERS},
             {"max_gap", MAX_GAP},
             {"episode_steps", EPISODE_STEPS},
             {"format", FORMAT},
             {"path", PATH}}; // the last: data: is another word for it
#define NKNOWN ((int)(sizeof known / sizeof *known))

struct rh_log_roles {
    bool has[NKEY];
    char *text[NTEXT]; // owned
    rh_reward_of reward_of;
    rh_action_kind action_kind;
    double missing[MISSING];
    int nmissing;
    double max_gap;
    int64_t episode_steps;
};

typedef struct parsing {
    rh_log_roles *roles;
    yaml_document_t *document;
    const char *path;
    bool found; // a key that is known
    rh_error *err;
} parsing;

static rh_status nomem(const char *path, rh_error *err)
{
    return rh_fail(err, RH_ENOMEM, "%s: out of memory", rh_path_tail(path));
}

// ---------------------------------------------------------------------------- nodes

static yaml_node_t *node_at(const parsing *p, yaml_node_item_t index)
{
    return yaml_document_get_node(p->document, index);
}

static const char *text_of(const yaml_node_t *node)
{
    return (const char *)node->data.scalar.value;
}

static bool is_text(const yaml_node_t *node)
{
    return node && node->type == YAML_SCALAR_NODE &&
           strlen(text_of(node)) == node->data.scalar.length;
}

// Nothing stands there: key: or key: ~
static bool is_nothing(const yaml_node_t *node)
{
    return is_text(node) && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (!*text_of(node) || strcmp(text_of(node), "~") == 0 ||
            strcmp(text_of(node), "null") == 0);
}

// "roles.yaml:7: max_gap = x, expected ..."
static rh_status refuse(const parsing *p, const yaml_node_t *node, const char *name,
                        const char *expected)
{
    const char *found = is_text(node)                      ? text_of(node)
                        : node->type == YAML_MAPPING_NODE  ? "a mapping"
                        : node->type == YAML_SEQUENCE_NODE ? "a list"
                                                           : "binary";
    char shown[SHOWN + 1];
    snprintf(shown, sizeof shown, "%s", found);
    for (char *c = shown; *c; c++)
        if ((unsigned char)*c < 32)
            *c = ' ';
    return rh_fail(p->err, RH_EFORMAT, "%s:%zu: %s = %s, expected %s", rh_path_tail(p->path),
                   node->start_mark.line + 1, name, shown, expected);
}

// ---------------------------------------------------------------------------- values

// How an entry stands in a list: in quotes when it has a comma or begins with one of those.
static const char *quote_for(const char *text)
{
    if (!strchr(text, ',') && *text != '"' && *text != '\'')
        return "";
    return strchr(text, '"') ? "'" : "\"";
}

// A text, or a list of texts joined with commas.
static rh_status take_text(const parsing *p, const yaml_node_t *node, role_key key,
                           const char *name)
{
    size_t size = 1;
    bool list = node->type == YAML_SEQUENCE_NODE;
    const yaml_node_item_t *item = list ? node->data.sequence.items.start : NULL;
    const yaml_node_item_t *end = list ? node->data.sequence.items.top : NULL;
    if (!list && !is_text(node))
        return refuse(p, node, name, "a text or a list of texts");
    if (list && key <= FORMAT)
        return refuse(p, node, name, "a text");
    for (const yaml_node_item_t *i = item; i < end; i++) {
        const yaml_node_t *entry = node_at(p, *i);
        if (!is_text(entry))
            return refuse(p, entry ? entry : node, name, "a text or a list of texts");
        if (key == ACTIONS && strchr(text_of(entry), ','))
            return refuse(p, entry, name, "names without commas");
        size += strlen(text_of(entry)) + 3;
    }
    if (!list)
        size += strlen(text_of(node));
    char *text = rh_alloc(size, 1);
    if (!text)
        return nomem(p->path, p->err);
    if (!list)
        memcpy(text, text_of(node), size - 1);
    size_t used = 0;
    for (const yaml_node_item_t *i = item; i < end; i++) {
        const char *entry = text_of(node_at(p, *i)), *quote = quote_for(entry);
        used += (size_t)snprintf(text + used, size - used, "%s%s%s%s", i > item ? "," : "",
                                 quote, entry, quote);
    }
    p->roles->text[key] = text;
    return RH_OK;
}

static bool take_number(const yaml_node_t *node, double *x)
{
    if (!is_text(node))
        return false;
    const char *text = text_of(node);
    if (strcmp(text, ".inf") == 0 || strcmp(text, ".Inf") == 0)
        text++;
    return rh_number__read(text, strlen(text), x) == RH_NUMBER;
}

static rh_status take_missing(const parsing *p, const yaml_node_t *node, const char *name)
{
    rh_log_roles *roles = p->roles;
    if (node->type != YAML_SEQUENCE_NODE) {
        if (!take_number(node, &roles->missing[roles->nmissing++]))
            return refuse(p, node, name, "a number or a list of numbers");
        return RH_OK;
    }
    for (const yaml_node_item_t *i = node->data.sequence.items.start;
         i < node->data.sequence.items.top; i++) {
        const yaml_node_t *entry = node_at(p, *i);
        if (roles->nmissing == MISSING)
            return refuse(p, node, name, "at most 64 numbers");
        if (!entry || !take_number(entry, &roles->missing[roles->nmissing++]))
            return refuse(p, entry ? entry : node, name, "a number or a list of numbers");
    }
    return RH_OK;
}

// One of a few words; its place, or -1.
static int take_word(const yaml_node_t *node, const char *const *word, int n)
{
    for (int i = 0; i < n; i++)
        if (is_text(node) && strcmp(text_of(node), word[i]) == 0)
            return i;
    return -1;
}

static rh_status take_other(const parsing *p, const yaml_node_t *node, role_key key,
                            const char *name)
{
    static const char *const of[] = {"action", "state"};
    static const char *const kind[] = {"auto", "discrete", "continuous"};
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
    case MISSING_NUMBERS:
        return take_missing(p, node, name);
    case MAX_GAP:
        if (!take_number(node, &x) && !(is_text(node) && rh_log_duration(text_of(node), &x)))
            x = 0.0;
        if (!(x > 0.0))
            return refuse(p, node, name, "a time above 0 such as 90, 15m, 2h or 1d");
        roles->max_gap = x;
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
    case NKEY:
        break;
    }
    return take_text(p, node, key, name);
}

// ---------------------------------------------------------------------------- mappings

static yaml_node_t *value_of(const parsing *p, const yaml_node_t *map, const char *name)
{
    for (yaml_node_pair_t *i = map->data.mapping.pairs.start; i < map->data.mapping.pairs.top;
         i++) {
        yaml_node_t *at = node_at(p, i->key);
        if (is_text(at) && strcmp(text_of(at), name) == 0)
            return node_at(p, i->value);
    }
    return NULL;
}

static rh_status unknown_key(const parsing *p, const yaml_node_t *at)
{
    const char *name[NKNOWN];
    char what[380];
    for (int i = 0; i < NKNOWN; i++)
        name[i] = known[i].name;
    snprintf(what, sizeof what, "%s:%zu: no role", rh_path_tail(p->path),
             at->start_mark.line + 1);
    rh_unknown(p->err, what, is_text(at) ? text_of(at) : "(not a text)", name, NKNOWN);
    for (char *c = p->err ? p->err->text : ""; *c; c++) // one line, whatever the key is
        *c = (unsigned char)*c < 32 ? ' ' : *c;
    return RH_EFORMAT;
}

static rh_status take_pair(parsing *p, const yaml_node_t *at, const yaml_node_t *value, int i,
                           bool columns)
{
    rh_log_roles *roles = p->roles;
    const char *name = known[i].name;
    role_key key = known[i].key;
    if (key == ACTIONS && columns)
        key = ACTION;
    p->found = true;
    if (!value || is_nothing(value))
        return RH_OK;
    if (roles->has[key])
        return rh_fail(p->err, RH_EFORMAT, "%s:%zu: %s is given twice", rh_path_tail(p->path),
                       at->start_mark.line + 1, name);
    roles->has[key] = true;
    return take_other(p, value, key, name);
}

// Whether a key is one that is known but for - and capitals, and an s at its end.
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

// What a mapping says; strict: it may hold nothing else.
static rh_status take_map(parsing *p, const yaml_node_t *map, bool strict)
{
    bool columns = (value_of(p, map, "states") || value_of(p, map, "rewards")) &&
                   !value_of(p, map, "action");
    rh_status rc = RH_OK;
    for (yaml_node_pair_t *i = map->data.mapping.pairs.start;
         !rc && i < map->data.mapping.pairs.top; i++) {
        const yaml_node_t *at = node_at(p, i->key);
        int k = 0;
        while (k < NKNOWN && !(is_text(at) && strcmp(text_of(at), known[k].name) == 0))
            k++;
        if (k < NKNOWN)
            rc = take_pair(p, at, node_at(p, i->value), k, columns);
        else if (at && (strict || (is_text(at) && is_nearly_known(text_of(at)))))
            rc = unknown_key(p, at);
    }
    return rc;
}

// The mapping `name` of map, if there is one.
static rh_status take_inner(parsing *p, const yaml_node_t *map, const char *name, bool strict,
                            yaml_node_t **inner)
{
    *inner = value_of(p, map, name);
    if (!*inner || is_nothing(*inner)) {
        *inner = NULL;
        return RH_OK;
    }
    if ((*inner)->type != YAML_MAPPING_NODE)
        return refuse(p, *inner, name, "a mapping");
    return take_map(p, *inner, strict);
}

static rh_status take_document(parsing *p)
{
    yaml_node_t *root = yaml_document_get_root_node(p->document), *data = NULL, *inner;
    rh_status rc = RH_OK;
    if (root && root->type != YAML_MAPPING_NODE && !is_nothing(root))
        return rh_fail(p->err, RH_EFORMAT, "%s:%zu: found %s, expected a mapping of roles",
                       rh_path_tail(p->path), root->start_mark.line + 1,
                       root->type == YAML_SEQUENCE_NODE ? "a list" : "a text");
    if (root && root->type == YAML_MAPPING_NODE) {
        rc = take_map(p, root, false);
        if (!rc)
            rc = take_inner(p, root, "roles", true, &inner);
        data = value_of(p, root, "data");
        if (!rc && is_text(data) && !is_nothing(data)) { // the path alone
            rc = take_pair(p, data, data, NKNOWN - 1, false);
            data = NULL;
        } else if (!rc) {
            rc = take_inner(p, root, "data", false, &data);
        }
        if (!rc && data)
            rc = take_inner(p, data, "roles", true, &inner);
    }
    if (!rc && !p->found)
        rc = rh_fail(p->err, RH_EFORMAT,
                     "%s: no role in it, expected keys such as obs, action and reward",
                     rh_path_tail(p->path));
    return rc;
}

// A log's path starts from the folder of the file that names it.
static rh_status resolve_path(rh_log_roles *roles, const char *from, rh_error *err)
{
    const char *slash = strrchr(from, '/'), *path = roles->text[PATH];
    if (!path || *path == '/' || !slash)
        return RH_OK;
    size_t n = (size_t)(slash - from) + 1, size = strlen(path) + 1;
    char *whole = rh_alloc(n + size, 1);
    if (!whole)
        return nomem(from, err);
    memcpy(whole, from, n);
    memcpy(whole + n, path, size);
    rh_free(roles->text[PATH]);
    roles->text[PATH] = whole;
    return RH_OK;
}

// ---------------------------------------------------------------------------- from outside

rh_status rh_log__roles_parse(rh_log_roles **out, const void *bytes, size_t n, const char *path,
                              rh_error *err)
{
    yaml_parser_t parser;
    yaml_document_t document;
    rh_status rc = RH_OK;
    rh_log_roles *roles = rh_alloc(1, sizeof *roles);
    if (!roles)
        return nomem(path, err);
    if (!yaml_parser_initialize(&parser)) {
        rh_free(roles);
        return nomem(path, err);
    }
    yaml_parser_set_input_string(&parser, bytes, n);
    if (!yaml_parser_load(&parser, &document)) {
        rc = parser.error == YAML_MEMORY_ERROR
                 ? nomem(path, err)
                 : rh_fail(err, RH_EFORMAT, "%s:%zu: not YAML: %s", rh_path_tail(path),
                           parser.problem_mark.line + 1,
                           parser.problem ? parser.problem : "it cannot be read");
        goto done;
    }
    parsing p = {.roles = roles, .document = &document, .path = path, .err = err};
    rc = take_document(&p);
    yaml_document_delete(&document);
    if (!rc)
        rc = resolve_path(roles, path, err);
    if (!rc) {
        *out = roles;
        roles = NULL;
    }

done:
    yaml_parser_delete(&parser);
    rh_log_roles_destroy(roles);
    return rc;
}

// The whole of a small file. Owned: *bytes.
static rh_status read_file(const char *path, char **bytes, size_t *n, rh_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // never waits for a pipe's writer
    rh_status rc = RH_OK;
    *bytes = NULL;
    if (fd < 0 || fstat(fd, &st) != 0) {
        rc = rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_path_tail(path), strerror(errno));
        goto done;
    }
    if (!S_ISREG(st.st_mode) || st.st_size > LARGEST) {
        rc = rh_fail(err, RH_EFORMAT, "%s: %s, expected a small YAML file", rh_path_tail(path),
                     S_ISREG(st.st_mode) ? "more than 1 MB" : "it is no regular file");
        goto done;
    }
    *bytes = rh_alloc((size_t)st.st_size + 1, 1);
    if (!*bytes) {
        rc = nomem(path, err);
        goto done;
    }
    *n = 0;
    for (ssize_t got = 1; got > 0 && *n < (size_t)st.st_size; *n += (size_t)got) {
        got = read(fd, *bytes + *n, (size_t)st.st_size - *n);
        if (got < 0) {
            rc = rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_path_tail(path),
                         strerror(errno));
            goto done;
        }
    }

done:
    if (fd >= 0)
        close(fd);
    return rc;
}

rh_status rh_log_roles_read(rh_log_roles **out, const char *path, rh_error *err)
{
    char *bytes;
    size_t n = 0;
    rh_status rc = read_file(path, &bytes, &n, err);
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
        [ACTIONS] = &opt->actions,
    };
    for (int i = 0; i < NTEXT; i++)
        if (place[i] && roles->has[i])
            *place[i] = roles->text[i];
    if (roles->has[REWARD_OF])
        opt->reward_of = roles->reward_of;
    if (roles->has[ACTION_KIND])
        opt->action_kind = roles->action_kind;
    if (roles->has[MAX_GAP])
        opt->max_gap = roles->max_gap;
    if (roles->has[EPISODE_STEPS])
        opt->episode_steps = roles->episode_steps;
    if (roles->has[MISSING_NUMBERS]) {
        opt->missing = roles->missing;
        opt->nmissing = roles->nmissing;
    }
}
