// minari.c - reads Minari datasets: a folder with data/main_data.hdf5 and data/metadata.json,
// or the HDF5 file alone.
//
//     episode_<i>/observations  (T + 1 rows)    actions, rewards, terminations, truncations (T)
//     Dict: a group by key; Tuple: a group with _index_0, _index_1, ...
//
// After Minari's hdf5_storage.py. Minari sorts episodes by name (episode_10 before episode_2);
// here they are sorted by number.
//
// 1. The spaces come from metadata.json; up to version 0.4.3, and in files we write, from
//    attributes of the root; else from the shapes in the first episode.
// 2. All actions of a Discrete space are named, including those never taken. Of MultiDiscrete,
//    MultiBinary and several Discrete actions, the combinations that occur are actions,
//    "1/0/2", if at most RH_MAX_ACTIONS are possible; more are refused, unless the caller says
//    how to read them. Other actions are continuous, even integers.
// 3. A Discrete observation is a category, not a quantity: it has a number for each value, 1
//    where the observation has this value and else 0, called "obs=3".
// 4. Attributes hold what Minari has no place for (minari_write.c): `rehearse` of the root has
//    names and labels. Of an episode, rehearse_resumes says that it does not begin in a start
//    state, rehearse_end_unknown that its last observation is made up, and rehearse_goes_on
//    that the next episode continues it.

#include "minari.h"
#include "base/base_internal.h"
#include "base/number.h"
#include "log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_EPISODES 50000000

// ---------------------------------------------------------------------------- the whole

// Names of the numbers in a bundle, in one block; none if the space is one without parts or
// categories.
static rh_status name_parts(const rh_minari__reader *r, const rh_minari__bundle *b,
                            char ***name, rh_error *err)
{
    size_t length = RH_LEAF__NAME + 32;
    bool seen = b == &r->obs;
    if (b->n == 1 && !*b->leaf[0].path && !(seen && rh_minari__is_category(&b->leaf[0])))
        return RH_OK;
    *name = rh_alloc(1, (size_t)b->nout * (sizeof **name + length));
    if (!*name)
        return rh_base__no_memory(err, r->path);
    char *text = (char *)(*name + b->nout);
    int k = 0;
    for (int i = 0; i < b->n; i++) {
        const rh_log__leaf *leaf = &b->leaf[i];
        bool category = seen && rh_minari__is_category(leaf);
        for (int j = 0; j < (category ? leaf->n : leaf->width); j++, text += length) {
            if (category)
                snprintf(text, length, "%s=%lld", *leaf->name ? leaf->name : "obs",
                         (long long)leaf->start + j);
            else if (leaf->width == 1)
                snprintf(text, length, "%s", leaf->name);
            else
                snprintf(text, length, "%s_%d", leaf->name, j);
            (*name)[k++] = text;
        }
    }
    return RH_OK;
}

// The names start .. start + n - 1 of a Discrete space.
static rh_status make_labels(rh_minari__reader *r, const rh_log__leaf *leaf,
                             rh_feed__plan *plan, rh_error *err)
{
    if (leaf->n > RH_MAX_ACTIONS)
        return rh_fail(err, RH_EFORMAT,
                       "%s: %lld different actions, expected at most %d; give actions that are "
                       "alike one number",
                       rh_base__path_tail(r->path), (long long)leaf->n, RH_MAX_ACTIONS);
    const size_t length = 24;
    r->label = rh_alloc(1, (size_t)leaf->n * (sizeof *r->label + length));
    if (!r->label)
        return rh_base__no_memory(err, r->path);
    char *text = (char *)(r->label + leaf->n);
    for (int i = 0; i < leaf->n; i++, text += length) {
        snprintf(text, length, "%lld", (long long)leaf->start + i);
        r->label[i] = text;
    }
    plan->label = (const char *const *)r->label;
    plan->nlabel = (int)leaf->n;
    return RH_OK;
}

// Whether actions are combinations of discrete ones; *n: how many are possible.
static bool is_product(const rh_minari__reader *r, int64_t *n)
{
    *n = 1;
    for (int i = 0; i < r->act.n; i++) {
        const rh_log__leaf *leaf = &r->act.leaf[i];
        if (leaf->kind != RH_SPACE_DISCRETE && leaf->kind != RH_SPACE_MULTI_DISCRETE &&
            leaf->kind != RH_SPACE_MULTI_BINARY)
            return false;
        *n = *n > INT32_MAX / (leaf->n > 0 ? leaf->n : 1) ? INT32_MAX : *n * leaf->n;
    }
    return r->act.n > 1 || r->act.leaf[0].kind != RH_SPACE_DISCRETE;
}

static rh_status plan_actions(rh_minari__reader *r, rh_feed__plan *plan, rh_error *err)
{
    const rh_log__leaf *leaf = &r->act.leaf[0];
    plan->shape.whole = r->act.part[0].whole;
    if (r->own.label) {
        int64_t start;
        plan->label = (const char *const *)r->own.label;
        plan->nlabel = r->own.nlabel;
        plan->indices = !rh_metadata__in_a_row(plan->label, plan->nlabel, &start);
        return RH_OK;
    }
    int64_t n;
    if (is_product(r, &n) && !r->own.continuous) {
        if (n > RH_MAX_ACTIONS && r->opt->action_kind == RH_ACTION_AUTO)
            return rh_fail(err, RH_EFORMAT,
                           "%s: actions have %s%lld combinations, expected at most %d; say "
                           "--action-kind continuous to read them as quantities, or discrete "
                           "to take those that occur",
                           rh_base__path_tail(r->path), n >= 1 << 20 ? "at least " : "",
                           (long long)n, RH_MAX_ACTIONS);
        plan->shape.action = RH_ACTION_DISCRETE;
        r->ncombination = n;
        return RH_OK;
    }
    if (r->act.n > 1 || r->own.continuous || leaf->kind == RH_SPACE_BOX)
        plan->shape.action = RH_ACTION_CONTINUOUS;
    bool continuous = r->opt->action_kind == RH_ACTION_CONTINUOUS;
    if (r->act.n == 1 && leaf->kind == RH_SPACE_DISCRETE && !continuous)
        return make_labels(r, leaf, plan, err);
    return RH_OK;
}

static rh_status note_all(rh_minari__reader *r, bool said, rh_error *err)
{
    rh_log_builder *b = r->feed.builder;
    rh_status rc = RH_OK;
    if (!said)
        rc = rh_log__note(b, err, "no metadata.json: read by the shapes of its datasets alone");
    if (!rc)
        rc = rh_log__note(b, err,
                          "observations = episode_<i>/observations, one more than steps");
    if (!rc)
        rc = rh_log__note(b, err, "terminals = dataset terminations (%s)",
                          r->column[RH_MINARI_TERMINAL].type);
    if (!rc)
        rc = rh_log__note(b, err, "truncations = dataset truncations (%s): truncated",
                          r->column[RH_MINARI_TRUNCATED].type);
    if (!rc && *r->time_name)
        rc = rh_log__note(b, err, "time = dataset %s", r->time_name);
    if (!rc && r->ncombination > 0 && r->opt->action_kind != RH_ACTION_CONTINUOUS)
        rc = rh_log__note(b, err,
                          "actions are discrete: the combinations that occur, of %lld possible",
                          (long long)r->ncombination);
    for (int i = 0; i < r->obs.n && !rc; i++)
        if (rh_minari__is_category(&r->obs.leaf[i]))
            rc =
                rh_log__note(b, err, "%.100s is a category: one number for each of %lld values",
                             *r->obs.leaf[i].name ? r->obs.leaf[i].name : "the observation",
                             (long long)r->obs.leaf[i].n);
    if (!rc && r->opt->reward_of == RH_REWARD_OF_STATE)
        rc = rh_log__note(b, err, "rewards = dataset rewards, of the action of the row before");
    return rc ? rc : rh_log__note(b, err, "s' = the next row of observations");
}

// Called with the first episode open, which determines the shapes.
static rh_status open_feed(rh_minari__reader *r, bool said, rh_error *err)
{
    rh_feed__plan plan = {.action = "actions",
                          .shape = {.nobs = r->obs.nout,
                                    .nact = r->act.width,
                                    .times = *r->time_name != 0,
                                    .path = r->path,
                                    .format = "minari"}};
    plan.named = true;
    rh_status rc = plan_actions(r, &plan, err);
    if (!rc)
        rc = name_parts(r, &r->obs, &r->obs_name, err);
    if (!rc)
        rc = name_parts(r, &r->act, &r->act_name, err);
    if (rc)
        return rc;
    const rh_metadata__own *own = &r->own;
    bool all = !r->opt->obs;
    plan.shape.obs_name = all && own->nobs_name == r->obs.nout
                              ? (const char *const *)own->obs_name
                              : (const char *const *)r->obs_name;
    if (all && own->nobs_unit == r->obs.nout)
        plan.shape.obs_unit = (const char *const *)own->obs_unit;
    plan.shape.act_name = own->nact_name == r->act.width ? (const char *const *)own->act_name
                                                         : (const char *const *)r->act_name;
    plan.shape.reward_name = own->reward_name;
    rc = rh_feed__open(&r->feed, &plan, r->opt, err);
    if (rc)
        return rc;
    r->row = rh_alloc(2 * (size_t)r->obs.nout + (size_t)r->act.width + (size_t)r->obs.width,
                      sizeof *r->row);
    if (!r->row)
        return rh_base__no_memory(err, r->path);
    r->next = r->row + r->obs.nout;
    r->action = r->next + r->obs.nout;
    r->raw = r->action + r->act.width;
    return note_all(r, said, err);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// The number that n digits write, at most 15 of them.
static int64_t whole_of(const char *digit, size_t n)
{
    double x = 0.0;
    rh_number__parse(digit, digit + n, &x);
    return (int64_t)x;
}

// The numbers of all episodes, sorted. Owned: *number.
static rh_status list_episodes(const rh_minari__reader *r, int64_t **number, int64_t *n,
                               rh_error *err)
{
    char **name = NULL;
    int64_t nname = 0;
    rh_status rc = rh_hdf5__names(r->file, "/", MAX_EPISODES, &name, &nname, err);
    if (rc)
        return rc;
    int64_t *all = rh_alloc((size_t)nname + 1, sizeof *all), used = 0;
    for (int64_t i = 0; all && i < nname; i++) {
        const char *digit = strncmp(name[i], "episode_", 8) == 0 ? name[i] + 8 : "";
        size_t length = strspn(digit, "0123456789");
        if (length > 0 && length < 16 && !digit[length])
            all[used++] = whole_of(digit, length);
    }
    rh_free(name);
    if (!all)
        return rh_base__no_memory(err, r->path);
    qsort(all, (size_t)used, sizeof *all, by_number);
    *number = all;
    *n = used;
    if (used == 0)
        return rh_fail(err, RH_EFORMAT, "%s: no episode, expected groups episode_0, episode_1",
                       rh_base__path_tail(r->path));
    return RH_OK;
}

static rh_status check_options(const rh_minari__reader *r, rh_error *err)
{
    char shown[48];
    rh_status rc = rh_feed__refuse_names(r->opt, false, "a Minari dataset", r->path, err);
    if (rc)
        return rc;
    if (r->metadata.format[0] && strcmp(r->metadata.format, "hdf5") != 0)
        return rh_fail(err, RH_EFORMAT, "%s: data_format %s, expected hdf5",
                       rh_base__path_tail(r->path),
                       rh_text__printable(r->metadata.format, shown, sizeof shown));
    return RH_OK;
}

static rh_status read_episodes(rh_minari__reader *r, bool said, rh_error *err)
{
    int64_t *number = NULL, n = 0;
    rh_status rc = list_episodes(r, &number, &n, err);
    for (int64_t i = 0; i < n && !rc; i++) {
        char episode[40];
        snprintf(episode, sizeof episode, "episode_%lld", (long long)number[i]);
        if (i == 0) {
            rh_minari__find_time(r, episode);
            rc = rh_minari__leaves(r, &r->obs, &r->metadata.observation, episode,
                                   "observations", err);
            if (!rc)
                rc =
                    rh_minari__leaves(r, &r->act, &r->metadata.action, episode, "actions", err);
        }
        if (!rc)
            rc = rh_minari__open_episode(r, episode, err);
        if (!rc && i == 0)
            rc = open_feed(r, said, err);
        if (!rc && i == 0 && r->metadata.nepisode > 0 && r->metadata.nepisode != n)
            rc = rh_log__note(r->feed.builder, err,
                              "metadata.json says %lld episodes, the file has %lld",
                              (long long)r->metadata.nepisode, (long long)n);
        if (!rc)
            rc = rh_minari__push_episode(r, episode, err);
        rh_minari__close_episode(r);
    }
    rh_free(number);
    return rc;
}

rh_status rh_minari__read(rh_log **out, rh_hdf5 *file, const rh_log_options *opt, rh_error *err)
{
    bool said = false;
    rh_minari__reader *r = rh_alloc(1, sizeof *r);
    if (!r)
        return rh_base__no_memory(err, rh_hdf5__path(file));
    r->file = file;
    r->opt = opt;
    r->path = rh_hdf5__path(file);
    rh_status rc = rh_minari__metadata(r, &said, err);
    if (!rc)
        rc = check_options(r, err);
    if (!rc)
        rc = read_episodes(r, said, err);
    if (!rc)
        rc = rh_feed__finish(&r->feed, out, err);

    rh_feed__clear(&r->feed);
    rh_metadata__clear(&r->metadata);
    rh_metadata__clear_own(&r->own);
    void *const owned[] = {r->obs.leaf,   r->obs.part, r->obs.beside, r->act.leaf, r->act.part,
                           r->act.beside, r->label,    r->obs_name,   r->act_name, r->row};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        rh_free(owned[i]);
    rh_free(r);
    return rc;
}

// ---------------------------------------------------------------------------- the format

static bool is_file(const char *folder, const char *name, char *path, size_t size)
{
    struct stat st;
    int length = snprintf(path, size, "%s/%s", folder, name);
    return length > 0 && (size_t)length < size && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool probe_minari(const char *path, bool folder, const unsigned char *head, size_t n)
{
    static const char *const mark[] = {"data/main_data.hdf5", "main_data.hdf5",
                                       "data/metadata.json", "metadata.json"};
    char full[4096];
    bool found = !folder && rh_hdf5__probe(path, head, n);
    for (int i = 0; folder && !found && i < 4; i++)
        found = is_file(path, mark[i], full, sizeof full);
    return found;
}

static rh_status read_minari(rh_log **out, const char *path, const rh_log_options *opt,
                             rh_error *err)
{
    char full[4096];
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return rh_hdf5__read(out, path, opt, err);
    if (is_file(path, "data/main_data.hdf5", full, sizeof full) ||
        is_file(path, "main_data.hdf5", full, sizeof full))
        return rh_hdf5__read(out, full, opt, err);

    // the data is in another format: say which
    rh_metadata metadata = {0};
    char *text = NULL, shown[48];
    size_t n = 0;
    if (!is_file(path, "data/metadata.json", full, sizeof full))
        is_file(path, "metadata.json", full, sizeof full);
    rh_status rc = rh_minari__text(full, &text, &n, err);
    if (!rc && text)
        rc = rh_metadata__parse(&metadata, text, n, full, err);
    if (!rc)
        rc = rh_fail(
            err, RH_EFORMAT,
            "%s: a Minari dataset with data_format %s, expected hdf5 (main_data.hdf5); "
            "docs/logs.md shows how to export it",
            rh_base__path_tail(path),
            metadata.format[0] ? rh_text__printable(metadata.format, shown, sizeof shown)
                               : "not said");
    rh_metadata__clear(&metadata);
    rh_free(text);
    return rc;
}

const rh_log__format rh_log__minari = {
    .about = {"minari", "Minari datasets: a folder, or its HDF5 file", true, true},
    .ending = {".hdf5", ".h5"},
    .probe = probe_minari,
    .read = read_minari,
    .write = rh_minari__write,
};
