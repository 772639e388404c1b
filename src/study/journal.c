// journal.c - the journal of a study: open, append, close.
//
// The journal is a file in the format of Optuna's JournalFileBackend (4.x and 5.0,
// optuna/storages/journal/_storage.py). Optuna and its dashboard can open it at any time, also
// while we write. docs/journal.md describes the lines.
//
// 1. Lines that belong together are one write() at the end of the file (O_APPEND). Another
//    process that reads sees complete lines, except perhaps the last, which Optuna waits for.
// 2. A write that fails is undone, so that a full disk leaves a journal that ends with a
//    complete line. If it cannot be undone, nothing more is written.
// 3. Other programs may write too. After each write we compare where our lines landed with
//    where the file ended before, and read what lies between: it may have shifted the trial
//    numbers.
// 4. A journal with an incomplete head and nothing else belongs to a process that was killed
//    before its first trial: it is started over.
// 5. Syncing to disk takes milliseconds, so the caller decides when.
// 6. The process that holds the lock removes temporary files of killed processes.
// 7. The folder may be deleted, moved or replaced while a study runs, and the journal cut off.
//    Before every write its name must still lead to the open file, and the file must not be
//    shorter than we left it: nothing of another study is overwritten, and no run is lost
//    without a word. It costs 2 us.

#include "journal.h"
#include "base/base_internal.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---------------------------------------------------------------------------- the folder

static rh_status make_folder(const char *folder, rh_error *err)
{
    struct stat there;
    if (mkdir(folder, 0777) == 0)
        return RH_OK;
    int fault = errno;
    if (stat(folder, &there) != 0)
        return rh_fail(err, RH_EIO, "%s: cannot create the folder: %s",
                       rh_base__path_tail(folder), strerror(fault));
    if (!S_ISDIR(there.st_mode))
        return rh_fail(err, RH_EIO, "%s: is a file, expected a folder for the study",
                       rh_base__path_tail(folder));
    return RH_OK;
}

// Remove what a killed process was writing. The study is locked, so nobody else writes here.
static void remove_left_over(const char *folder)
{
    static const char *const file[] = {"best.yaml",   "runs.csv",    "study.model",
                                       "report.json", "report.html", "log_next.csv"};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        rh_text path = {0};
        rh_text__add(&path, folder);
        rh_text__add(&path, "/");
        rh_text__add(&path, file[i]);
        if (!path.bad)
            rh_file__clean(path.data);
        rh_text__clear(&path);
    }
}

static rh_status open_file(rh_journal *j, rh_error *err)
{
    struct stat there;
    // O_NONBLOCK: do not wait if it is a pipe. O_NOFOLLOW: do not write elsewhere
    j->fd =
        open(j->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666);
    if (j->fd < 0 && errno == ELOOP)
        return rh_fail(err, RH_EIO, "%s: is a link, expected a file",
                       rh_base__path_tail(j->path));
    if (j->fd < 0 || fstat(j->fd, &there) != 0)
        return rh_fail(err, RH_EIO, "%s: cannot open for writing: %s",
                       rh_base__path_tail(j->path), strerror(errno));
    if (!S_ISREG(there.st_mode))
        return rh_fail(err, RH_EIO, "%s: is a device, pipe or socket, expected a file",
                       rh_base__path_tail(j->path));
    return RH_OK;
}

// ---------------------------------------------------------------------------- writing

static rh_status cannot_write(const rh_journal *j, int why, rh_error *err)
{
    return rh_fail(err, RH_EIO, "%s: cannot write: %s", rh_base__path_tail(j->path),
                   strerror(why));
}

rh_status rh_journal__check_place(const rh_journal *journal, rh_error *err)
{
    const rh_journal *j = journal;
    struct stat ours, there;
    if (fstat(j->fd, &ours) != 0)
        return cannot_write(j, errno, err);
    if (!j->path || lstat(j->path, &there) != 0 || there.st_dev != ours.st_dev ||
        there.st_ino != ours.st_ino)
        return rh_fail(
            err, RH_EIO,
            "%s: deleted, moved or replaced while the study ran, expected it to stay",
            rh_base__path_tail(j->path ? j->path : "study.log"));
    if (ours.st_size < j->size)
        return rh_fail(
            err, RH_EIO, "%s: cut off while the study ran: %lld bytes, expected %lld",
            rh_base__path_tail(j->path), (long long)ours.st_size, (long long)j->size);
    return RH_OK;
}

// Remove the last n bytes, unless another program has written after them.
static void take_back(rh_journal *j, size_t n)
{
    struct stat there;
    int64_t end = lseek(j->fd, 0, SEEK_CUR);
    if (n == 0)
        return;
    if (end < 0 || fstat(j->fd, &there) != 0 || there.st_size != end ||
        ftruncate(j->fd, end - (int64_t)n) != 0)
        j->broken = true;
}

// Read what other programs wrote up to `start`, where our lines begin.
static rh_status read_others(rh_journal *j, int64_t start, rh_error *err)
{
    int64_t whole = 0, torn = 0;
    if (start == j->size)
        return RH_OK;
    j->replay.beside = true;
    rh_status rc = rh_replay__read(&j->replay, j->fd, j->size, start, &whole, &torn, err);
    if (!rc && torn > 0)
        rc = rh_fail(err, RH_EFORMAT, "%s:%lld: another program wrote half a line",
                     rh_base__path_tail(j->path), (long long)j->replay.nline + 1);
    return rc;
}

rh_status rh_journal__append(rh_journal *journal, rh_error *err)
{
    rh_journal *j = journal;
    size_t n = j->text.n, done = 0;
    int fault = 0;
    bool bad = j->text.bad;
    j->text.bad = false;
    j->text.n = 0;
    if (bad)
        return rh_file__no_memory(j->path, err);
    if (j->broken)
        return rh_fail(err, RH_EIO, "%s: cannot write: an earlier error left half a line",
                       rh_base__path_tail(j->path));
    rh_status rc = rh_journal__check_place(j, err);
    if (rc) {
        j->broken = true;
        return rc;
    }

    uint32_t crc = j->replay.crc;
    j->text.n = n;
    rh_journal__seal_lines(&j->text, &crc);
    j->text.n = 0;
    j->dirty = true;
    while (done < n && !fault) {
        ssize_t written = write(j->fd, j->text.data + done, n - done);
        if (written > 0)
            done += (size_t)written;
        else if (written == 0 || errno != EINTR)
            fault = written == 0 ? EIO : errno;
    }
    if (fault) {
        take_back(j, done);
        return cannot_write(j, fault, err);
    }

    int64_t end = lseek(j->fd, 0, SEEK_CUR);
    rc = read_others(j, end - (int64_t)n, err);
    j->broken = rc != RH_OK;
    j->size = end;
    j->replay.crc = crc;
    for (size_t i = 0; i < n; i++)
        j->replay.nline += j->text.data[i] == '\n';
    return rc;
}

rh_status rh_journal__sync(rh_journal *journal, rh_error *err)
{
    if (!journal->dirty)
        return RH_OK;
    if (fdatasync(journal->fd) != 0)
        return cannot_write(journal, errno, err);
    journal->dirty = false;
    return RH_OK;
}

// ---------------------------------------------------------------------------- opening

// A new journal, or one with half a head.
static rh_status start_over(rh_journal *j, const char *folder, rh_error *err)
{
    if (j->replay.nowner > 0 || j->replay.foreign)
        return rh_fail(err, RH_EFORMAT, "%s: damaged: it does not describe the study",
                       rh_base__path_tail(j->path));
    if (ftruncate(j->fd, 0) != 0)
        return cannot_write(j, errno, err);
    j->size = 0;
    j->replay.crc = 0;
    rh_journal__head_lines(&j->text, &j->head);
    rh_status rc = rh_journal__append(j, err);
    if (!rc)
        rc = rh_journal__sync(j, err);
    int fault = rc ? 0 : rh_file__sync_folder(folder); // the journal's name
    if (rc || fault)
        return rc ? rc : cannot_write(j, fault, err);

    // read it back: lines of other programs refer to its study
    int64_t torn = 0;
    rh_replay__clear(&j->replay);
    rh_replay__init(&j->replay, &j->head, j->path);
    return rh_replay__read(&j->replay, j->fd, 0, j->size, &j->size, &torn, err);
}

// Remove the torn last line, unless another program is writing it.
static rh_status cut_off(rh_journal *j, int64_t torn, rh_error *err)
{
    struct stat there;
    if (fstat(j->fd, &there) != 0)
        return cannot_write(j, errno, err);
    if (there.st_size != j->size + torn)
        return rh_fail(err, RH_EIO, "%s: another program is writing to it, try again",
                       rh_base__path_tail(j->path));
    return ftruncate(j->fd, j->size) == 0 ? RH_OK : cannot_write(j, errno, err);
}

// Fewer trials or runs than the study has would leave out results that were looked at.
static rh_status check_budget(const rh_journal *j, rh_error *err)
{
    const rh_plan *plan = j->head.plan;
    double spent = 0.0;
    int nrun = 0;
    if (!j->replay.grown)
        return RH_OK;
    for (int i = 0; i < j->replay.ntrial; i++) {
        const rh_journal__entry *trial = &j->replay.trial[i];
        spent += trial->confirm ? 0.0 : rh_plan__share(plan, trial->x);
        for (int k = 0; trial->confirm && k < trial->nrun; k++)
            nrun = trial->run[k].run >= nrun ? trial->run[k].run + 1 : nrun;
    }
    // the last ask of several agents may spend more than is left
    int n = (int)spent - (plan->agents.n > 1 ? plan->batch - 1 : 0);
    if (n > plan->trials && !plan->method->finite)
        return rh_fail(err, RH_EINVAL,
                       "%s: the study has tried %d settings, --trials is %d, expected %d or "
                       "more; use another folder for fewer",
                       rh_base__path_tail(j->path), n, plan->trials, n);
    if (nrun > plan->confirm_runs && plan->confirm_settings > 0)
        return rh_fail(
            err, RH_EINVAL,
            "%s: the study has confirmed settings by %d runs in each model, "
            "--confirm-runs is %d, expected %d or more; use another folder for fewer",
            rh_base__path_tail(j->path), nrun, plan->confirm_runs, nrun);
    return RH_OK;
}

static rh_status read_journal(rh_journal *j, const char *folder, rh_error *err)
{
    int64_t torn = 0;
    rh_replay__init(&j->replay, &j->head, j->path);
    rh_status rc = rh_replay__read(&j->replay, j->fd, 0, -1, &j->size, &torn, err);
    if (rc)
        return rc;
    if (!rh_journal__head_whole(j->replay.attr))
        return start_over(j, folder, err);
    rc = check_budget(j, err);
    if (!rc && torn > 0)
        rc = cut_off(j, torn, err);
    if (rc)
        return rc;
    j->steps = json_object_get(j->replay.attr, "nstep") != NULL;
    if (j->replay.grown) {
        rh_journal__plan_line(&j->text, &j->head);
        rc = rh_journal__append(j, err);
    }
    return rc;
}

rh_status rh_journal__open(rh_journal **out, const char *folder, const rh_journal__head *head,
                           rh_error *err)
{
    if (head->ncurve < 0 || head->ncurve > RH_STUDY__NCURVE)
        return rh_fail(err, RH_EINVAL, "study: curve points = %d, expected 0 to %d",
                       head->ncurve, RH_STUDY__NCURVE);
    rh_journal *j = rh_alloc(1, sizeof *j);
    if (!j)
        return rh_base__no_memory(err, folder);
    j->head = *head;
    j->fd = -1;
    j->path = rh_study__path(folder, "study.log");
    j->note = rh_study__path(folder, "study.lock");
    if (!j->path || !j->note) {
        rh_journal__close(j);
        return rh_base__no_memory(err, folder);
    }
    rh_status rc = make_folder(folder, err);
    if (!rc)
        rc = open_file(j, err);
    if (!rc)
        rc = rh_lock__take(j->fd, folder, j->note, err);
    j->locked = !rc;
    if (!rc)
        rc = read_journal(j, folder, err);
    if (!rc) {
        remove_left_over(folder);
        *out = j;
        j = NULL;
    }
    rh_journal__close(j);
    return rc;
}

void rh_journal__close(rh_journal *journal)
{
    rh_journal *j = journal;
    if (!j)
        return;
    if (j->locked) {
        rh_journal__sync(j, NULL);
        if (rh_journal__check_place(j, NULL) == RH_OK) // otherwise it is another study's
            rh_lock__leave(j->note);
    }
    if (j->fd >= 0)
        close(j->fd);
    rh_replay__clear(&j->replay);
    rh_text__clear(&j->text);
    rh_free(j->path);
    rh_free(j->note);
    rh_free(j);
}

void rh_journal__set_steps(rh_journal *journal, int64_t nstep)
{
    journal->head.nstep = nstep; // written with the next trial
}

void rh_journal__set_kinds(rh_journal *journal, const rh_kinds *kinds)
{
    journal->head.kinds = kinds; // written with the next trial
}

int rh_journal__ntrial(const rh_journal *journal)
{
    return journal->replay.ntrial;
}

const rh_journal__entry *rh_journal__trial(const rh_journal *journal, int i)
{
    return i >= 0 && i < journal->replay.ntrial ? &journal->replay.trial[i] : NULL;
}

void rh_journal__forget(rh_journal *journal, int i)
{
    if (i >= 0 && i < journal->replay.ntrial)
        rh_journal__clear_entry(&journal->replay.trial[i]);
}
