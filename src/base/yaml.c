// yaml.c - a small YAML file as a tree.
//
// libyaml composes the document; the tree is a copy of it with aliases expanded.
//
// 1. A few aliases can expand to a billion nodes, and an alias can contain itself, so a tree
//    has at most 10,000 nodes and a depth of 16.
// 2. A key given twice in one mapping is refused with both lines, because YAML readers differ
//    in which one counts. The merge key << is refused too: YAML 1.2 removed it.
// 3. Numbers follow the decimal grammar of number.c: no 0x10, nan or blanks. Whole numbers
//    without point or exponent are exact, because a seed can have more digits than a double.
// 4. libyaml composes in time quadratic in the depth, in the number of anchors and in that of
//    %TAG directives: a megabyte takes minutes. Depth and number of nodes are therefore checked
//    first, event by event, and parsing stops at the limit; directives are counted before.

#include "yaml.h"
#include "base_internal.h"

#include "number.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#define LARGEST (1 << 20) // bytes of a file
#define MOST_NODES 10000
#define DEEPEST 16
#define DIRECTIVES 16 // most lines that begin with %
#define CHARACTERS 40 // bytes of a value in a message

typedef struct copying {
    yaml_document_t *document;
    const char *path;
    int nnode;
    rh_status rc; // of the first fault
    rh_error *err;
} copying;

// ---------------------------------------------------------------------------- trees

rh_yaml *rh_yaml__branch(rh_yaml__kind kind)
{
    rh_yaml *node = rh_alloc(1, sizeof *node);
    if (node)
        node->kind = kind;
    return node;
}

rh_yaml *rh_yaml__text(const char *text, size_t n)
{
    rh_yaml *node = rh_yaml__branch(RH_YAML_TEXT);
    if (!node)
        return NULL;
    node->plain = true;
    node->text = rh_alloc(n + 1, 1);
    if (!node->text) {
        rh_free(node);
        return NULL;
    }
    memcpy(node->text, text, n);
    return node;
}

void rh_yaml__destroy(rh_yaml *node)
{
    if (!node)
        return;
    for (int i = 0; i < node->n; i++) {
        rh_yaml__destroy(node->key[i]);
        rh_yaml__destroy(node->item[i]);
    }
    rh_free(node->text);
    rh_free(node->key);
    rh_free(node->item);
    rh_free(node);
}

// Make space for one more. False: out of memory.
static bool make_room(rh_yaml *to)
{
    if (to->n < to->room)
        return true;
    size_t room = to->room ? 2 * (size_t)to->room : 8;
    rh_yaml **key = rh_alloc(room, sizeof(rh_yaml *));
    rh_yaml **item = rh_alloc(room, sizeof(rh_yaml *));
    if (!key || !item) {
        rh_free(key);
        rh_free(item);
        return false;
    }
    for (int i = 0; i < to->n; i++) {
        key[i] = to->key[i];
        item[i] = to->item[i];
    }
    rh_free(to->key);
    rh_free(to->item);
    to->key = key;
    to->item = item;
    to->room = (int)room;
    return true;
}

bool rh_yaml__add(rh_yaml *to, rh_yaml *key, rh_yaml *item)
{
    if (!to || !item || (to->kind == RH_YAML_MAP && !key) || !make_room(to)) {
        rh_yaml__destroy(key);
        rh_yaml__destroy(item);
        return false;
    }
    to->key[to->n] = key;
    to->item[to->n++] = item;
    return true;
}

const rh_yaml *rh_yaml__get(const rh_yaml *map, const char *name)
{
    for (int i = 0; map->kind == RH_YAML_MAP && i < map->n; i++)
        if (strcmp(map->key[i]->text, name) == 0)
            return map->item[i];
    return NULL;
}

// ---------------------------------------------------------------------------- from libyaml

static rh_yaml *copy(copying *c, yaml_node_item_t index, int depth);

static rh_status too_much(const char *path, int line, bool deep, rh_error *err)
{
    return rh_fail(
        err, RH_EFORMAT, "%s:%d: %s, expected a small file", rh_base__path_tail(path), line,
        deep ? "nested more than 16 deep" : "more than 10,000 values after expanding aliases");
}

static int line_of(const yaml_node_t *node)
{
    return (int)node->start_mark.line + 1;
}

static rh_yaml *copy_text(copying *c, const yaml_node_t *node)
{
    const char *text = (const char *)node->data.scalar.value;
    size_t n = node->data.scalar.length;
    if (strlen(text) != n) {
        c->rc = rh_fail(c->err, RH_EFORMAT, "%s:%d: found binary data, expected a text",
                        rh_base__path_tail(c->path), line_of(node));
        return NULL;
    }
    rh_yaml *out = rh_yaml__text(text, n);
    if (!out) {
        c->rc = rh_base__no_memory(c->err, c->path);
        return NULL;
    }
    out->plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    out->line = line_of(node);
    return out;
}

static void copy_list(copying *c, const yaml_node_t *node, int depth, rh_yaml *to)
{
    for (const yaml_node_item_t *i = node->data.sequence.items.start;
         i < node->data.sequence.items.top && !c->rc; i++) {
        rh_yaml *item = copy(c, *i, depth + 1);
        if (item && !rh_yaml__add(to, NULL, item))
            c->rc = rh_base__no_memory(c->err, c->path);
    }
}

// A key must be a text that the mapping does not have yet.
static rh_status check_key(const copying *c, const rh_yaml *map, const rh_yaml *key)
{
    char shown[RH_YAML__SHOWN];
    if (key->kind != RH_YAML_TEXT)
        return rh_fail(c->err, RH_EFORMAT, "%s:%d: found %s as a key, expected a text",
                       rh_base__path_tail(c->path), key->line,
                       key->kind == RH_YAML_LIST ? "a list" : "a mapping");
    if (key->plain && strcmp(key->text, "<<") == 0)
        return rh_fail(c->err, RH_EFORMAT,
                       "%s:%d: found the merge key <<, expected the keys themselves",
                       rh_base__path_tail(c->path), key->line);
    for (int i = 0; i < map->n; i++)
        if (strcmp(map->key[i]->text, key->text) == 0) {
            rh_yaml__show(key, shown);
            return rh_fail(c->err, RH_EFORMAT, "%s:%d: %s is given twice, first in line %d",
                           rh_base__path_tail(c->path), key->line, shown, map->key[i]->line);
        }
    return RH_OK;
}

static void copy_map(copying *c, const yaml_node_t *node, int depth, rh_yaml *to)
{
    for (const yaml_node_pair_t *i = node->data.mapping.pairs.start;
         i < node->data.mapping.pairs.top && !c->rc; i++) {
        rh_yaml *key = copy(c, i->key, depth + 1);
        if (!key)
            return;
        c->rc = check_key(c, to, key);
        rh_yaml *item = c->rc ? NULL : copy(c, i->value, depth + 1);
        if (!item)
            rh_yaml__destroy(key);
        else if (!rh_yaml__add(to, key, item))
            c->rc = rh_base__no_memory(c->err, c->path);
    }
}

// The tree below a node, or NULL with c->rc set.
static rh_yaml *copy(copying *c, yaml_node_item_t index, int depth)
{
    const yaml_node_t *node = yaml_document_get_node(c->document, index);
    if (++c->nnode > MOST_NODES || depth > DEEPEST) {
        c->rc = too_much(c->path, line_of(node), depth > DEEPEST, c->err);
        return NULL;
    }
    if (node->type == YAML_SCALAR_NODE)
        return copy_text(c, node);
    bool list = node->type == YAML_SEQUENCE_NODE;
    rh_yaml *branch = rh_yaml__branch(list ? RH_YAML_LIST : RH_YAML_MAP);
    if (!branch) {
        c->rc = rh_base__no_memory(c->err, c->path);
        return NULL;
    }
    branch->line = line_of(node);
    if (list)
        copy_list(c, node, depth, branch);
    else
        copy_map(c, node, depth, branch);
    if (!c->rc)
        return branch;
    rh_yaml__destroy(branch);
    return NULL;
}

// Number of lines that end within the first n bytes.
static size_t lines_before(const char *bytes, size_t n)
{
    size_t nline = 0;
    for (size_t i = 0; i < n; i++)
        nline += bytes[i] == '\n';
    return nline;
}

// Whether a line, counted from 0, is indented with a tab. libyaml does not always report it.
static bool has_tab(const char *bytes, size_t n, size_t line)
{
    size_t i = 0;
    for (; i < n && line > 0; i++)
        line -= bytes[i] == '\n';
    while (i < n && bytes[i] == ' ')
        i++;
    return i < n && bytes[i] == '\t';
}

static rh_status not_yaml(const yaml_parser_t *parser, const char *bytes, size_t n,
                          const char *path, rh_error *err)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return rh_base__no_memory(err, path);
    const char *problem = parser->problem ? parser->problem : "it cannot be read";
    size_t line = parser->problem_mark.line, at = parser->problem_offset;
    bool tab = false;
    if (parser->error == YAML_READER_ERROR) // which has no mark
        line = lines_before(bytes, at < n ? at : n);
    else
        tab = !strstr(problem, "tab") && has_tab(bytes, n, line);
    return rh_fail(err, RH_EFORMAT, "%s:%zu: not YAML: %s%s", rh_base__path_tail(path),
                   line + 1, problem,
                   tab ? "; the line is indented with a tab, expected spaces" : "");
}

// Decision 4. The line of the first directive too many, counted from 1, or 0.
static int find_directives(const char *bytes, size_t n)
{
    int line = 1, count = 0;
    for (size_t i = 0; i < n; i++) {
        bool begins = i == 0 || bytes[i - 1] == '\n';
        line += begins && i > 0;
        count += begins && bytes[i] == '%';
        if (count > DIRECTIVES)
            return line;
    }
    return 0;
}

// Decision 4. Other faults are found when the document is composed.
static rh_status check_size(const void *bytes, size_t n, const char *path, rh_error *err)
{
    yaml_parser_t parser;
    yaml_event_t event;
    rh_status rc = RH_OK;
    int depth = 0, nnode = 0, line = find_directives(bytes, n);
    if (line)
        return rh_fail(err, RH_EFORMAT,
                       "%s:%d: more than %d lines begin with %%, expected none",
                       rh_base__path_tail(path), line, DIRECTIVES);
    if (!yaml_parser_initialize(&parser))
        return rh_base__no_memory(err, path);
    yaml_parser_set_input_string(&parser, bytes, n);
    for (bool more = true; more && !rc && yaml_parser_parse(&parser, &event);) {
        yaml_event_type_t type = event.type;
        bool opens = type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT;
        depth += opens;
        depth -= type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT;
        nnode += opens || type == YAML_SCALAR_EVENT || type == YAML_ALIAS_EVENT;
        if (depth > DEEPEST + 1 || nnode > MOST_NODES)
            rc = too_much(path, (int)event.start_mark.line + 1, depth > DEEPEST + 1, err);
        more = type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return rc;
}

// The bytes with a ~ in lists that begin with a comma, "[, 47]", which YAML refuses. NULL:
// there is no such list, or no memory. Owned: the result (*nfilled).
static char *fill_gaps(const char *bytes, size_t n, size_t *nfilled)
{
    size_t ngap = 0, to = 0;
    for (int pass = 0; pass < 2; pass++) {
        char *filled = pass ? rh_alloc(n + ngap, 1) : NULL;
        if (pass && (!ngap || !filled)) {
            rh_free(filled);
            return NULL;
        }
        for (size_t i = 0; i < n; i++) {
            size_t next = i + 1;
            while (bytes[i] == '[' && next < n && bytes[next] == ' ')
                next++;
            bool gap = bytes[i] == '[' && next < n && bytes[next] == ',';
            ngap += gap && !pass;
            if (!pass)
                continue;
            filled[to++] = bytes[i];
            if (gap)
                filled[to++] = '~';
        }
        if (pass) {
            *nfilled = to;
            return filled;
        }
    }
    return NULL;
}

static rh_status parse(rh_yaml **out, const void *bytes, size_t n, const char *path,
                       rh_error *err)
{
    yaml_parser_t parser;
    yaml_document_t document, next;
    rh_yaml *tree = NULL;
    rh_status rc = check_size(bytes, n, path, err);
    if (rc)
        return rc;
    if (!yaml_parser_initialize(&parser))
        return rh_base__no_memory(err, path);
    yaml_parser_set_input_string(&parser, bytes, n);
    if (!yaml_parser_load(&parser, &document)) {
        rc = not_yaml(&parser, bytes, n, path, err);
        yaml_parser_delete(&parser);
        return rc;
    }

    // one document only
    copying c = {.document = &document, .path = path, .err = err};
    if (yaml_document_get_root_node(&document)) {
        tree = copy(&c, 1, 0);
        rc = c.rc;
        if (!rc && !yaml_parser_load(&parser, &next)) {
            rc = not_yaml(&parser, bytes, n, path, err);
        } else if (!rc) {
            const yaml_node_t *root = yaml_document_get_root_node(&next);
            if (root)
                rc = rh_fail(err, RH_EFORMAT, "%s:%d: a second document, expected one",
                             rh_base__path_tail(path), line_of(root));
            yaml_document_delete(&next);
        }
    } else {
        tree = rh_yaml__text("", 0);
        rc = tree ? RH_OK : rh_base__no_memory(err, path);
    }
    yaml_document_delete(&document);
    yaml_parser_delete(&parser);
    if (rc)
        rh_yaml__destroy(tree);
    else
        *out = tree;
    return rc;
}

rh_status rh_yaml__parse(rh_yaml **out, const void *bytes, size_t n, const char *path,
                         rh_error *err)
{
    rh_status rc = parse(out, bytes, n, path, err);
    size_t nfilled = 0;
    if (rc != RH_EFORMAT)
        return rc;

    // a list may begin with a comma; the message is about the file as it is
    char *filled = fill_gaps(bytes, n, &nfilled);
    rh_status again = filled ? parse(out, filled, nfilled, path, NULL) : rc;
    rh_free(filled);
    return again ? rc : RH_OK;
}

// Owned: *bytes.
static rh_status load(char **bytes, size_t *n, const char *path, rh_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // never waits for a pipe's writer
    rh_status rc = RH_OK;
    char *text = NULL;
    size_t used = 0;
    if (fd < 0 || fstat(fd, &st) != 0) {
        rc = rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(path),
                     strerror(errno));
        goto done;
    }
    if (!S_ISREG(st.st_mode) || st.st_size > LARGEST) {
        rc = rh_fail(err, RH_EFORMAT, "%s: %s, expected a small YAML file",
                     rh_base__path_tail(path),
                     S_ISREG(st.st_mode) ? "more than 1 MB" : "not a regular file");
        goto done;
    }
    text = rh_alloc((size_t)st.st_size + 1, 1);
    if (!text) {
        rc = rh_base__no_memory(err, path);
        goto done;
    }
    for (ssize_t got = 1; got != 0 && used < (size_t)st.st_size;) {
        got = read(fd, text + used, (size_t)st.st_size - used);
        if (got > 0)
            used += (size_t)got;
        if (got < 0 && errno != EINTR) {
            rc = rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(path),
                         strerror(errno));
            goto done;
        }
    }
    *bytes = text;
    *n = used;
    text = NULL;

done:
    rh_free(text);
    if (fd >= 0)
        close(fd);
    return rc;
}

// ---------------------------------------------------------------------------- values of texts

bool rh_yaml__nothing(const rh_yaml *node)
{
    return node->kind == RH_YAML_TEXT && node->plain &&
           (!*node->text || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

static const char *digits(const char *c)
{
    return c + strspn(c, "0123456789");
}

bool rh_yaml__number(const rh_yaml *node, double *x)
{
    double value;
    const char *end = node->kind == RH_YAML_TEXT ? node->text + strlen(node->text) : NULL;
    if (!end || rh_number__parse(node->text, end, &value) != end || !isfinite(value))
        return false;
    *x = value;
    return true;
}

bool rh_yaml__whole(const rh_yaml *node, uint64_t *n)
{
    double x;
    if (!rh_yaml__number(node, &x))
        return false;
    const char *c = node->text + (*node->text == '+');
    if (!*digits(c)) {
        uint64_t whole = 0;
        for (; *c; c++) {
            uint64_t digit = (uint64_t)(*c - '0');
            if (whole > (UINT64_MAX - digit) / 10)
                return false;
            whole = 10 * whole + digit;
        }
        *n = whole;
        return true;
    }
    if (!(x >= 0.0 && x <= 9007199254740992.0) || x != floor(x))
        return false;
    *n = (uint64_t)x;
    return true;
}

bool rh_yaml__truth(const rh_yaml *node, bool *yes)
{
    static const char *const word[] = {"false", "no",  "off", "False", "No",  "Off",
                                       "FALSE", "NO",  "OFF", "true",  "yes", "on",
                                       "True",  "Yes", "On",  "TRUE",  "YES", "ON"};
    for (int i = 0; node->kind == RH_YAML_TEXT && i < 18; i++)
        if (strcmp(node->text, word[i]) == 0) {
            *yes = i >= 9;
            return true;
        }
    return false;
}

// One path of a file.
static void add_path(rh_text *text, const char *path, const char *file, const char *before)
{
    const char *slash = strrchr(file, '/');
    size_t n = strlen(before);
    if (strncmp(path, before, n) == 0) {
        rh_text__add(text, before);
        path += n;
    }
    if (slash && *path && *path != '/')
        rh_text__add_n(text, file, (size_t)(slash - file) + 1);
    rh_text__add(text, path);
}

char *rh_yaml__paths(const rh_yaml *node, const char *file, const char *before)
{
    rh_text text = {0};
    bool list = node->kind == RH_YAML_LIST;
    for (int i = 0; i < (list ? node->n : 1); i++) {
        const rh_yaml *one = list ? node->item[i] : node;
        if (one->kind != RH_YAML_TEXT) {
            rh_text__clear(&text);
            return NULL;
        }
        for (const char *at = one->text; at;) {
            size_t n = strcspn(at, "\n");
            char *path = rh_alloc(n + 1, 1);
            if (path)
                add_path(&text, memcpy(path, at, n), file, before);
            text.bad = text.bad || !path;
            rh_free(path);
            at = at[n] ? at + n + 1 : NULL;
            if (at || i + 1 < (list ? node->n : 1))
                rh_text__add(&text, "\n");
        }
    }
    if (text.bad)
        rh_text__clear(&text);
    return text.data;
}

void rh_yaml__show(const rh_yaml *node, char shown[RH_YAML__SHOWN])
{
    const char *text = node->kind == RH_YAML_LIST  ? "a list"
                       : node->kind == RH_YAML_MAP ? "a mapping"
                       : *node->text               ? node->text
                       : node->plain               ? "nothing"
                                                   : "''";
    rh_text__printable(text, shown, CHARACTERS + sizeof "...");
}

rh_status rh_yaml__read(rh_yaml **out, const char *path, rh_error *err)
{
    char *bytes = NULL;
    size_t n = 0;
    rh_status rc = load(&bytes, &n, path, err);
    if (!rc)
        rc = rh_yaml__parse(out, bytes, n, path, err);
    rh_free(bytes);
    return rc;
}
