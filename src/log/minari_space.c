// minari_space.c - finds the parts of a Minari dataset's observations and actions.

#include "base/base.h"
#include "base/base_internal.h"
#include "minari.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_GROUPS 1000 // most groups of an observation or action

#define MAX_JSON (64 << 20) // most bytes of metadata.json

// ---------------------------------------------------------------------------- what it says

rh_status rh_minari__text(const char *path, char **text, size_t *n, rh_error *err)
{
    FILE *stream = fopen(path, "rbe");
    struct stat st;
    if (!stream)
        return RH_OK; // there is no such file
    rh_status rc = RH_OK;
    if (fstat(fileno(stream), &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > MAX_JSON)
        rc = rh_fail(err, RH_EFORMAT, "%s: not a file of at most %d bytes",
                     rh_base__path_tail(path), MAX_JSON);
    if (!rc) {
        *text = rh_alloc((size_t)st.st_size + 1, 1);
        if (*text)
            *n = fread(*text, 1, (size_t)st.st_size, stream);
        else
            rc = rh_base__no_memory(err, path);
    }
    fclose(stream);
    return rc;
}

// metadata.json beside a file called main_data.hdf5.
static rh_status read_json(rh_minari__reader *r, bool *any, rh_error *err)
{
    static const char main_data[] = "main_data.hdf5", json[] = "metadata.json";
    size_t length = strlen(r->path), tail = sizeof main_data - 1, n = 0;
    char *text = NULL;
    if (length < tail || strcmp(r->path + length - tail, main_data) != 0 ||
        (length > tail && r->path[length - tail - 1] != '/'))
        return RH_OK;
    char *path = rh_alloc(length + sizeof json, 1);
    if (!path)
        return rh_base__no_memory(err, r->path);
    memcpy(path, r->path, length - tail);
    memcpy(path + length - tail, json, sizeof json);
    rh_status rc = rh_minari__text(path, &text, &n, err);
    if (!rc && text) {
        *any = true;
        rc = rh_metadata__parse(&r->metadata, text, n, path, err);
    }
    rh_free(text);
    rh_free(path);
    return rc;
}

// A space from an attribute of the root.
static rh_status read_attribute(rh_minari__reader *r, const char *name, rh_minari__space *space,
                                bool *any, rh_error *err)
{
    char *text = NULL;
    rh_status rc = rh_hdf5__text_attribute(r->file, "/", name, &text, err);
    if (!rc && text) {
        *any = true;
        rc = rh_metadata__parse_space(space, text, strlen(text), r->path, err);
    }
    rh_free(text);
    return rc;
}

rh_status rh_minari__metadata(rh_minari__reader *r, bool *any, rh_error *err)
{
    char *text = NULL;
    r->metadata.jpeg = true;
    rh_status rc = read_json(r, any, err);
    if (!rc && !*any)
        rc = read_attribute(r, "observation_space", &r->metadata.observation, any, err);
    if (!rc && !r->metadata.action.leaf)
        rc = read_attribute(r, "action_space", &r->metadata.action, any, err);
    if (!rc)
        rc = rh_hdf5__text_attribute(r->file, "/", "rehearse", &text, err);
    r->ours = text != NULL;
    if (!rc && text)
        rc = rh_metadata__parse_own(&r->own, text, strlen(text), r->path, err);
    rh_free(text);
    return rc;
}

// ---------------------------------------------------------------------------- leaves

static int by_index(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    long long i = 0, j = 0;
    if (sscanf(x, "_index_%lld", &i) == 1 && sscanf(y, "_index_%lld", &j) == 1 && i != j)
        return i < j ? -1 : 1;
    return strcmp(x, y);
}

// The datasets at and below `at` of an episode's observations or actions.
static rh_status find_leaves(const rh_minari__reader *r, const char *top, const char *at,
                             rh_minari__bundle *b, int depth, rh_error *err)
{
    char full[RH_ARRAY__NAME], below[RH_LEAF__NAME];
    char **name = NULL;
    int64_t n = 0;
    int length = snprintf(full, sizeof full, "%s%s%s", top, *at ? "/" : "", at);
    rh_hdf5__type_kind kind = rh_hdf5__kind(r->file, full);
    // the groups are counted: hard links can make a file a maze without end
    if (length >= (int)sizeof full || depth > 16 || b->n == RH_MAX_OBS ||
        (kind == RH_HDF5_GROUP && b->ngroup++ == MAX_GROUPS))
        return rh_fail(err, RH_EFORMAT, "%s: %s is nested too deeply",
                       rh_base__path_tail(r->path), top);
    if (kind == RH_HDF5_DATASET || kind == RH_HDF5_OUTSIDE) {
        rh_log__leaf *leaf = &b->leaf[b->n++];
        *leaf = (rh_log__leaf){.kind = RH_SPACE_UNKNOWN, .width = -1};
        for (size_t i = 0; at[i]; i++) {
            leaf->path[i] = at[i];
            leaf->name[i] = (char)(at[i] == '/' ? '.' : at[i]);
        }
        return RH_OK;
    }
    if (kind != RH_HDF5_GROUP)
        return rh_fail(err, RH_EFORMAT, "%s: no dataset %s", rh_base__path_tail(r->path), full);
    rh_status rc = rh_hdf5__names(r->file, full, RH_MAX_OBS + 1, &name, &n, err);
    if (!rc && n > 1)
        qsort(name, (size_t)n, sizeof *name, by_index);
    for (int64_t i = 0; i < n && !rc; i++) {
        length = snprintf(below, sizeof below, "%s%s%s", at, *at ? "/" : "", name[i]);
        rc = length < (int)sizeof below
                 ? find_leaves(r, top, below, b, depth + 1, err)
                 : rh_fail(err, RH_EFORMAT, "%s: a name below %s is too long",
                           rh_base__path_tail(r->path), full);
    }
    rh_free(name);
    return rc;
}

// Keep the leaves that the caller chose, in that order.
static rh_status choose_leaves(const rh_minari__reader *r, rh_minari__bundle *b,
                               const char *list, rh_error *err)
{
    char **word = NULL, what[400], shown[48];
    const char *known[RH_MAX_OBS];
    int nword = 0, n = 0;
    rh_log__leaf *chosen = rh_alloc(RH_MAX_OBS, sizeof *chosen);
    rh_status rc =
        chosen ? rh_log__split(list, &word, &nword, err) : rh_base__no_memory(err, r->path);
    for (int i = 0; i < nword && !rc; i++) {
        int before = n;
        for (int j = 0; j < b->n && n < RH_MAX_OBS; j++)
            if (rh_log__matches(word[i], b->leaf[j].name))
                chosen[n++] = b->leaf[j];
        if (n > before)
            continue;
        for (int j = 0; j < b->n; j++)
            known[j] = *b->leaf[j].name ? b->leaf[j].name : "(one space without parts)";
        snprintf(what, sizeof what, "%s: no part of the observations",
                 rh_base__path_tail(r->path));
        rc = rh_base__unknown(err, what, rh_text__printable(word[i], shown, sizeof shown),
                              known, b->n);
    }
    rh_free(word);
    if (!rc) {
        rh_free(b->leaf);
        b->leaf = chosen;
        b->n = n;
    } else {
        rh_free(chosen);
    }
    return rc;
}

rh_status rh_minari__leaves(rh_minari__reader *r, rh_minari__bundle *b,
                            const rh_minari__space *space, const char *episode,
                            const char *what, rh_error *err)
{
    char top[80];
    snprintf(top, sizeof top, "%.40s/%s", episode, what);
    b->leaf = rh_alloc(RH_MAX_OBS, sizeof *b->leaf);
    if (!b->leaf)
        return rh_base__no_memory(err, r->path);
    b->n = space->nleaf;
    if (b->n > 0)
        memcpy(b->leaf, space->leaf, (size_t)b->n * sizeof *b->leaf);
    rh_status rc = b->n > 0 ? RH_OK : find_leaves(r, top, "", b, 0, err);
    if (!rc && b == &r->obs && r->opt->obs)
        rc = choose_leaves(r, b, r->opt->obs, err);
    for (int i = 0; i < b->n && !rc; i++) {
        const rh_log__leaf *leaf = &b->leaf[i];
        if (leaf->kind == RH_SPACE_TEXT)
            rc = rh_fail(err, RH_EFORMAT, "%s: %s%s%s are text, expected numbers",
                         rh_base__path_tail(r->path), what, *leaf->name ? " " : "", leaf->name);
        else if (leaf->image)
            rc =
                rh_fail(err, RH_EFORMAT, "%s: %s%s%s are images%s, expected at most %d numbers",
                        rh_base__path_tail(r->path), what, *leaf->name ? " " : "", leaf->name,
                        r->metadata.jpeg ? " (JPEG)" : "", RH_MAX_OBS);
    }
    if (!rc && b->n == 0)
        rc = rh_fail(err, RH_EFORMAT, "%s: the space of the %s has no numbers",
                     rh_base__path_tail(r->path), what);
    if (rc)
        return rc;
    b->part = rh_alloc((size_t)b->n, sizeof *b->part);
    b->beside = rh_alloc((size_t)b->n, sizeof *b->beside);
    return b->part && b->beside ? RH_OK : rh_base__no_memory(err, r->path);
}
