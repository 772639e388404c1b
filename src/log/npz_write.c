// npz_write.c - writes a log as a NumPy archive that np.load() and, without loss, npz.c read.
//
//     obs, next_obs  float64 (n, nobs)     episode    int64 (n)      obs_names    text (nobs)
//     action         int64 (n), or         time       float64 (n)    obs_units    text (nobs)
//                    float64 (n, nact)     start      bool (episodes)  action_labels  text
//     reward         float64 (n)           next_known bool (n)       action_names text (nact)
//     terminal, truncated  bool (n)        action_kind, reward_name  text (1)
//
// 1. next_obs is all NAN where s' is unknown. If a known s' is all missing too, next_known
//    tells them apart. start is written if an episode resumes after a gap.
// 2. Discrete actions are their labels if all are integers, else indices into action_labels.
// 3. Members are stored, not compressed: this is as fast as the disk. They carry a fixed date,
//    so the same log gives the same bytes.
// 4. The archive is generated from the log while it is written, without a second copy.

#include "base/base_internal.h"
#include "base/file.h"
#include "npy.h"
#include "npz.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <zip.h>

typedef enum content {
    OBS,
    NEXT,
    ACTION,
    REWARD,
    TERMINAL,
    TRUNCATED,
    EPISODE,
    TIME,
    START,
    KNOWN,
    TEXT
} content;

// One member being written.
typedef struct member {
    const rh_log *log; // borrowed
    content what;
    const char *const *text;              // borrowed                  (nrow)
    bool named;                           // actions are written as their labels
    int64_t nrow;                         // rows
    size_t width;                         // bytes of a row
    unsigned char head[RH_NPY__OWN_HEAD]; // before the first row
    size_t nhead;
    uint64_t at; // bytes written so far
    unsigned char row[RH_MAX_OBS * sizeof(double) + 8];
} member;

// ---------------------------------------------------------------------------- rows as bytes

static void put_bits(unsigned char *to, uint64_t bits)
{
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)(bits >> 8 * i);
}

static void put_numbers(unsigned char *to, const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        put_bits(to + 8 * i, bits);
    }
}

static int64_t whole_label(const char *text)
{
    int64_t value = 0;
    for (const char *digit = *text == '-' ? text + 1 : text; *digit; digit++)
        value = 10 * value + (*digit - '0');
    return *text == '-' ? -value : value;
}

// A UTF-8 text as characters of four bytes. Invalid bytes become U+FFFD.
static size_t put_letters(unsigned char *to, const char *text)
{
    size_t n = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c; n++) {
        int more = *c < 0x80   ? 0
                   : *c < 0xc2 ? -1
                   : *c < 0xe0 ? 1
                   : *c < 0xf0 ? 2
                   : *c < 0xf5 ? 3
                               : -1;
        uint32_t letter = more == 0 ? *c : more > 0 ? *c & (0x3fU >> more) : 0xfffd;
        c++;
        for (int i = 0; i < more; i++) {
            if ((*c & 0xc0) != 0x80) {
                letter = 0xfffd;
                break;
            }
            letter = letter << 6 | (*c++ & 0x3f);
        }
        for (int i = 0; to && i < 4; i++)
            to[4 * n + (size_t)i] = (unsigned char)(letter >> 8 * i);
    }
    return n;
}

static void put_action(unsigned char *to, const member *m, int64_t i)
{
    const rh_log *log = m->log;
    const double *act = log->act + i * log->nact;
    if (log->naction == 0)
        put_numbers(to, act, log->nact);
    else
        put_bits(to, (uint64_t)(m->named ? whole_label(log->label[(int)*act]) : (int64_t)*act));
}

// Put row i of a member into m->row.
static void make_row(member *m, int64_t i)
{
    const rh_log *log = m->log;
    double unknown = (double)NAN;
    switch (m->what) {
    case OBS:
        put_numbers(m->row, log->obs + (int64_t)log->from[i] * log->nobs, log->nobs);
        break;
    case NEXT:
        if (log->to[i] != RH_UNKNOWN)
            put_numbers(m->row, log->obs + (int64_t)log->to[i] * log->nobs, log->nobs);
        for (int k = 0; log->to[i] == RH_UNKNOWN && k < log->nobs; k++)
            put_numbers(m->row + 8 * k, &unknown, 1);
        break;
    case ACTION:
        put_action(m->row, m, i);
        break;
    case REWARD:
        put_numbers(m->row, &log->reward[i], 1);
        break;
    case TERMINAL:
        m->row[0] = (log->flag[i] & RH_FLAG_TERMINAL) != 0;
        break;
    case TRUNCATED:
        m->row[0] = (log->flag[i] & RH_FLAG_TRUNCATED) != 0;
        break;
    case EPISODE:
        put_bits(m->row, (uint64_t)log->episode[i]);
        break;
    case TIME:
        put_numbers(m->row, &log->time[i], 1);
        break;
    case START:
        m->row[0] = log->start[i];
        break;
    case KNOWN:
        m->row[0] = log->to[i] != RH_UNKNOWN;
        break;
    case TEXT:
        memset(m->row, 0, m->width);
        put_letters(m->row, m->text[i]);
        break;
    }
}

// ---------------------------------------------------------------------------- for libzip

static zip_int64_t read_member(member *m, unsigned char *to, zip_uint64_t n)
{
    uint64_t size = m->nhead + (uint64_t)m->nrow * m->width;
    zip_uint64_t got = 0;
    while (got < n && m->at < size) {
        const unsigned char *from = m->head + m->at;
        size_t left = m->nhead - (size_t)m->at;
        if (m->at >= m->nhead) {
            uint64_t behind = m->at - m->nhead;
            size_t part = (size_t)(behind % m->width);
            make_row(m, (int64_t)(behind / m->width));
            from = m->row + part;
            left = m->width - part;
        }
        size_t take = left < n - got ? left : (size_t)(n - got);
        memcpy(to + got, from, take);
        got += take;
        m->at += take;
    }
    return (zip_int64_t)got;
}

static zip_int64_t serve(void *self, void *data, zip_uint64_t n, zip_source_cmd_t command)
{
    member *m = self;
    zip_stat_t *st = data;
    if (command == ZIP_SOURCE_SUPPORTS)
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ,
                                              ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                              ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
    if (command == ZIP_SOURCE_OPEN)
        m->at = 0;
    if (command == ZIP_SOURCE_READ)
        return read_member(m, data, n);
    if (command == ZIP_SOURCE_ERROR) { // cannot happen: the source is in memory
        memset(data, 0, 2 * sizeof(int));
        return 2 * sizeof(int);
    }
    if (command == ZIP_SOURCE_STAT) {
        zip_stat_init(st);
        st->size = m->nhead + (uint64_t)m->nrow * m->width;
        st->valid |= ZIP_STAT_SIZE;
        return sizeof *st;
    }
    return 0;
}

// ---------------------------------------------------------------------------- which members

#define MAX_MEMBERS 20

typedef struct writing {
    const rh_log *log;
    const char *path;
    zip_t *zip;
    member *all; // owned (MAX_MEMBERS)
    int n;
    bool named;   // actions are written as their labels
    rh_status rc; // after a failure nothing is added
    rh_error *err;
} writing;

static void fail_zip(writing *w)
{
    zip_error_t *why = zip_get_error(w->zip);
    bool memory = zip_error_code_zip(why) == ZIP_ER_MEMORY;
    w->rc = rh_fail(w->err, memory ? RH_ENOMEM : RH_EIO, "%s: cannot write: %s",
                    rh_base__path_tail(w->path), zip_error_strerror(why));
}

// Add an array of rank 1 (ncol 0) or 2, whose elements have `size` bytes.
static void add(writing *w, const char *name, content what, const char *descr, size_t size,
                int64_t nrow, int64_t ncol)
{
    const zip_uint16_t new_year_1980 = 1 << 5 | 1;
    char file[40];
    if (w->rc)
        return;
    member *m = &w->all[w->n++];
    m->log = w->log;
    m->what = what;
    m->named = w->named;
    m->nrow = nrow;
    m->width = size * (size_t)(ncol ? ncol : 1);
    m->nhead = rh_npy__write_head(m->head, descr, ncol ? 2 : 1, (int64_t[2]){nrow, ncol});
    snprintf(file, sizeof file, "%s.npy", name);
    zip_source_t *source = zip_source_function(w->zip, serve, m);
    zip_int64_t i = source ? zip_file_add(w->zip, file, source, ZIP_FL_ENC_UTF_8) : -1;
    if (i < 0 || zip_set_file_compression(w->zip, (zip_uint64_t)i, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(w->zip, (zip_uint64_t)i, 0, new_year_1980, 0) != 0)
        fail_zip(w);
    if (i < 0)
        zip_source_free(source);
}

static void add_texts(writing *w, const char *name, const char *const *text, int n)
{
    char descr[24];
    size_t longest = 1;
    for (int i = 0; i < n; i++) {
        size_t length = put_letters(NULL, text[i]);
        longest = length > longest ? length : longest;
    }
    if (!w->rc && 4 * longest > sizeof w->all->row)
        w->rc = rh_fail(w->err, RH_EINVAL,
                        "%s: cannot write: a name of %zu characters, expected at "
                        "most %zu",
                        rh_base__path_tail(w->path), longest, sizeof w->all->row / 4);
    snprintf(descr, sizeof descr, "<U%zu", longest);
    w->all[w->n].text = text;
    add(w, name, TEXT, descr, 4 * longest, n, 0);
}

bool rh_npz__is_whole(const char *label)
{
    const char *digit = *label == '-' ? label + 1 : label;
    size_t n = strspn(digit, "0123456789");
    bool zero = *digit == '0';
    return n > 0 && n < 16 && !digit[n] && (!zero || (n == 1 && digit == label));
}

static bool labels_are_whole(const rh_log *log)
{
    for (int i = 0; i < log->naction; i++)
        if (!rh_npz__is_whole(log->label[i]))
            return false;
    return log->naction > 0;
}

// Whether some known s' is all missing.
static bool has_blank_next(const rh_log *log)
{
    for (int64_t i = 0; i < log->n; i++) {
        if (log->to[i] == RH_UNKNOWN)
            continue;
        const double *next = log->obs + (int64_t)log->to[i] * log->nobs;
        int k = 0;
        while (k < log->nobs && isnan(next[k]))
            k++;
        if (k == log->nobs)
            return true;
    }
    return false;
}

// Write all members and close the archive.
static void write_all(writing *w)
{
    const rh_log *log = w->log;
    const bool discrete = log->naction > 0;
    const char *const kind = discrete ? "discrete" : "continuous";
    w->named = labels_are_whole(log);
    add(w, "obs", OBS, "<f8", 8, log->n, log->nobs);
    add(w, "action", ACTION, discrete ? "<i8" : "<f8", 8, log->n, discrete ? 0 : log->nact);
    add(w, "reward", REWARD, "<f8", 8, log->n, 0);
    add(w, "next_obs", NEXT, "<f8", 8, log->n, log->nobs);
    add(w, "terminal", TERMINAL, "|b1", 1, log->n, 0);
    add(w, "truncated", TRUNCATED, "|b1", 1, log->n, 0);
    add(w, "episode", EPISODE, "<i8", 8, log->n, 0);
    if (log->nepisode > 0 && memchr(log->start, 0, (size_t)log->nepisode)) // one resumes
        add(w, "start", START, "|b1", 1, log->nepisode, 0);
    if (has_blank_next(log))
        add(w, "next_known", KNOWN, "|b1", 1, log->n, 0);
    if (log->time)
        add(w, "time", TIME, "<f8", 8, log->n, 0);
    add_texts(w, "obs_names", log->obs_name, log->nobs);
    add_texts(w, "obs_units", log->obs_unit, log->nobs);
    if (discrete)
        add_texts(w, "action_labels", log->label, log->naction);
    add_texts(w, "action_names", log->act_name, log->nact);
    add_texts(w, "action_kind", &kind, 1);
    add_texts(w, "reward_name", &log->reward_name, 1);
    if (!w->rc && zip_close(w->zip) != 0) // here they are written
        fail_zip(w);
    else if (!w->rc)
        w->zip = NULL;
    if (w->zip)
        zip_discard(w->zip);
}

rh_status rh_npz__write(const rh_log *log, const char *path, rh_error *err)
{
    writing w = {.log = log, .path = path, .err = err};
    rh_file *file = NULL;
    int why = 0;
    rh_status rc = rh_file__create(&file, path, err);
    if (rc)
        return rc;
    w.all = rh_alloc(MAX_MEMBERS, sizeof *w.all);
    if (w.all)
        w.zip = zip_open(rh_file__temporary(file), ZIP_CREATE | ZIP_TRUNCATE, &why);
    if (!w.zip)
        w.rc = w.all ? rh_file__cannot_write(path, errno, err) : rh_file__no_memory(path, err);
    else
        write_all(&w);
    rh_free(w.all);
    if (!w.rc)
        return rh_file__commit(file, err);
    rh_file__discard(file);
    return w.rc;
}
