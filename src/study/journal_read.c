// journal_read.c - the lines of a journal, ours and those of other programs.
//
// 1. A line that ends with a checksum is ours and counts only if the checksum is correct. One
//    that begins like ours without it is damaged. The checksum covers our lines before it too.
//    Other programs wrote all other lines (notes in optuna-dashboard, added trials): these
//    stay, and count only for the trial numbers. A note of theirs is not replaced.
// 2. Only the last line can be torn, by a killed program or a full disk: rh_replay__read()
//    leaves it out. Damage further up is refused with its line: later lines build on it.
// 3. Other programs may write NaN and Infinity, which Python accepts and JSON does not.

#include "base/base_internal.h"
#include "journal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define BLOCK ((size_t)1 << 20) // bytes read at a time
#define LONGEST_LINE (1 << 26)  // bytes of a line, at most

// ---------------------------------------------------------------------------- all lines

static rh_journal__fate damaged(rh_journal__reader *d, const char *why)
{
    d->why = why;
    return RH_DAMAGED;
}

static const char opening[] = "{\"op_code\":";
static const char writer[] = ",\"worker_id\":\"" RH_JOURNAL__WORKER;

// Whether the line ends like ours; *right: with the correct checksum.
static bool sealed(const rh_journal__reader *d, bool *right, uint32_t *crc)
{
    size_t n = (size_t)(d->end - d->line);
    if (n < RH_JOURNAL__SEAL)
        return false;
    const char *seal = d->end - RH_JOURNAL__SEAL;
    char expected[RH_JOURNAL__SEAL + 1];
    if (!rh_scan__after(seal, d->end, ",\"crc\":\"") || d->end[-2] != '"' || d->end[-1] != '}')
        return false;
    *crc = rh_base__crc32(d->r->crc, d->line, n - RH_JOURNAL__SEAL);
    snprintf(expected, sizeof expected, ",\"crc\":\"%08x\"}", (unsigned)*crc);
    *right = memcmp(seal, expected, RH_JOURNAL__SEAL) == 0;
    return true;
}

// Whether a line sets the note that optuna-dashboard shows beside a study.
static bool is_note(const json_t *line)
{
    json_t *attr = json_object_get(line, "system_attr");
    void *at = json_object_iter(attr);
    return at &&
           strncmp(json_object_iter_key(at), RH_JOURNAL__NOTE, strlen(RH_JOURNAL__NOTE)) == 0;
}

// A line of another program counts where it changes the trial numbers, or is a note.
static rh_journal__fate take_other(rh_journal__reader *d)
{
    rh_replay *r = d->r;
    rh_journal__fate f = RH_TAKEN;
    int64_t op = -1, study = -1;
    json_t *line = json_loadb(d->line, (size_t)(d->end - d->line), 0, NULL);
    const char *name = json_string_value(json_object_get(line, "study_name"));
    const char *worker = json_string_value(json_object_get(line, "worker_id"));
    if (json_is_integer(json_object_get(line, "op_code"))) {
        op = json_integer_value(json_object_get(line, "op_code"));
        if (json_is_integer(json_object_get(line, "study_id")))
            study = json_integer_value(json_object_get(line, "study_id"));
    } else if (!line && rh_scan__whole(rh_scan__after(d->line, d->end, opening), d->end, &op) &&
               d->end[-1] == '}') {
        static const char key[] = "\"study_id\":";
        const char *at = memmem(d->line, (size_t)(d->end - d->line), key, sizeof key - 1);
        rh_scan__whole(rh_scan__after(at, d->end, key), d->end, &study);
    } else
        f = damaged(d, "not a line of a journal");

    bool known = study >= 0 && study < r->nstudy && r->study[study].name;
    bool ours = study == 0 || (study > 0 && study == r->confirmed);
    if (f == RH_TAKEN && worker &&
        strncmp(worker, RH_JOURNAL__WORKER, strlen(RH_JOURNAL__WORKER)) == 0)
        f = damaged(d, "missing checksum");
    else if (f == RH_TAKEN && r->nstudy == 0)
        f = rh_journal__refuse(d, RH_EINVAL,
                               "rehearse did not write this journal; use another folder");
    else if (f == RH_TAKEN && op == 0 && name)
        f = rh_replay__add_study(r, name) < 0 ? rh_journal__no_memory(d) : RH_TAKEN;
    else if (f == RH_TAKEN && op == 1 && ours)
        f = rh_journal__refuse(d, RH_EINVAL,
                               "another program deleted the study; use another folder");
    else if (f == RH_TAKEN && op == 1 && known) {
        rh_free(r->study[study].name);
        r->study[study].name = NULL;
    } else if (f == RH_TAKEN && op == 3 && known) {
        r->study[study].noted = r->study[study].noted || is_note(line);
    } else if (f == RH_TAKEN && op == 4 && known) {
        f = rh_journal__add_other(d, (int)study);
    }
    r->foreign = r->foreign || f == RH_TAKEN;
    json_decref(line);
    return f;
}

static rh_journal__fate take(rh_journal__reader *d)
{
    int64_t op = -1;
    bool right = false;
    const char *at = rh_scan__whole(rh_scan__after(d->line, d->end, opening), d->end, &op);
    at = rh_scan__after(at, d->end, writer);
    uint32_t crc = 0;
    bool seal = sealed(d, &right, &crc);
    if (at && d->r->beside)
        return rh_journal__refuse(d, RH_EIO,
                                  "another process writes to this study; stop one of them");
    if (seal && !right)
        return damaged(d, "wrong checksum: this line was changed, or lines before it were "
                          "lost, moved or doubled");
    if (at && !seal)
        return damaged(d, "missing checksum");
    if (seal && !at)
        return rh_journal__refuse(d, RH_EFORMAT, "correct checksum, but another writer");
    if (!at)
        return take_other(d);
    rh_journal__fate f = rh_journal__take_ours(d, at, op);
    if (f == RH_TAKEN)
        d->r->crc = crc;
    return f;
}

// ---------------------------------------------------------------------------- reading

// Give up an unfinished last line, but only of a journal of ours, so that no other file is cut.
static rh_status give_up(const rh_journal__reader *d)
{
    static const char first[] = "{\"op_code\":0,\"worker_id\":\"" RH_JOURNAL__WORKER;
    size_t n = (size_t)(d->end - d->line);
    n = n < sizeof first - 1 ? n : sizeof first - 1;
    if (d->r->nline > 0 || memcmp(d->line, first, n) == 0)
        return RH_OK;
    return rh_fail(d->err, RH_EFORMAT,
                   "%s: not the journal of a study; move it away or use another folder",
                   rh_base__path_tail(d->r->path));
}

static rh_status refuse_middle(const rh_journal__reader *d)
{
    long long line = (long long)d->r->nline + 1;
    if (d->r->nline == 0)
        return give_up(d) ? RH_EFORMAT
                          : rh_fail(d->err, RH_EFORMAT, "%s:1: damaged: %s; use another folder",
                                    rh_base__path_tail(d->r->path), d->why);
    return rh_fail(
        d->err, RH_EFORMAT,
        "%s:%lld: damaged: %s; to resume from there, keep the first %lld lines (head "
        "-n %lld)",
        rh_base__path_tail(d->r->path), line, d->why, line - 1, line - 1);
}

// Take the lines of text (n) up to the last newline; *used: their bytes. A damaged line at the
// end of the file is torn: *used stops before it. `last`: the file ends here.
static rh_status take_lines(rh_journal__reader *d, const char *text, size_t n, bool last,
                            size_t *used)
{
    *used = 0;
    while (*used < n) {
        const char *end = memchr(text + *used, '\n', n - *used);
        d->line = text + *used;
        d->end = end ? end : text + n;
        if (!end)
            return last ? give_up(d) : RH_OK;
        rh_journal__fate f = take(d);
        bool ends = d->end + 1 == text + n;
        if (f == RH_REFUSED)
            return d->rc;
        if (f == RH_DAMAGED && ends)
            return last ? give_up(d) : RH_OK; // taken again once more has been read
        if (f == RH_DAMAGED)
            return refuse_middle(d);
        d->r->nline++;
        *used = (size_t)(d->end + 1 - text);
    }
    return RH_OK;
}

// Up to n bytes at `place`; -1 with errno.
static ssize_t fetch(int fd, char *bytes, size_t n, int64_t place)
{
    ssize_t got;
    do
        got = pread(fd, bytes, n, place);
    while (got < 0 && errno == EINTR);
    return got;
}

static rh_status read_all(rh_journal__reader *d, int fd, int64_t from, int64_t to,
                          int64_t *done, int64_t *rest)
{
    rh_status rc = RH_OK;
    size_t room = BLOCK, n = 0; // text holds the n bytes from *done
    char *text = rh_alloc(room, 1);
    *done = from;
    for (bool last = false; !rc && !last;) {
        size_t used = 0, most = room - n;
        if (!text) {
            rc = rh_base__no_memory(d->err, d->r->path);
            break;
        }
        if (to >= 0 && (int64_t)most > to - *done - (int64_t)n)
            most = (size_t)(to - *done - (int64_t)n);
        ssize_t got = fetch(fd, text + n, most, *done + (int64_t)n);
        if (got < 0) {
            rc = rh_fail(d->err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(d->r->path),
                         strerror(errno));
            break;
        }
        last = got == 0;
        n += (size_t)got;
        rc = take_lines(d, text, n, last, &used);
        memmove(text, text + used, n - used);
        n -= used;
        *done += (int64_t)used;

        // the line is longer than the buffer
        if (!rc && n == room && room >= LONGEST_LINE)
            rc = rh_fail(d->err, RH_EFORMAT, "%s:%lld: a line of more than %d bytes",
                         rh_base__path_tail(d->r->path), (long long)d->r->nline + 1,
                         LONGEST_LINE);
        else if (!rc && n == room) {
            char *larger = rh_alloc(2 * room, 1);
            if (larger)
                memcpy(larger, text, n);
            rh_free(text);
            text = larger;
            room *= 2;
        }
    }
    *rest = (int64_t)n;
    rh_free(text);
    return rc;
}

rh_status rh_replay__read(rh_replay *replay, int fd, int64_t from, int64_t to, int64_t *whole,
                          int64_t *torn, rh_error *err)
{
    rh_journal__reader d = {.r = replay, .err = err};
    return read_all(&d, fd, from, to, whole, torn);
}
