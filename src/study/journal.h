// journal.h - what the files of the journal share.

#ifndef REHEARSE_STUDY_JOURNAL_H
#define REHEARSE_STUDY_JOURNAL_H

#include "study_internal.h"

#include <jansson.h>

#define RH_JOURNAL__VERSION 4              // of the lines
#define RH_JOURNAL__WORKER "rehearse/"     // the writer, followed by the version
#define RH_JOURNAL__SEAL 18                // bytes of ,"crc":"89abcdef"}
#define RH_JOURNAL__NAME_SIZE 64           // bytes of a parameter value or key
#define RH_JOURNAL__CONFIRMED "-confirmed" // ends the name of the confirmations' study
#define RH_JOURNAL__TIME "time is over"    // the key of when a search was ended
#define RH_JOURNAL__NOTE "dashboard:note_" // begins the keys of a note of optuna-dashboard

// ---------------------------------------------------------------------------- text

// The fewest digits that read back to the same bits; NAN is null, infinities "inf" and "-inf".
void rh_journal__number(rh_text *text, double x);

bool rh_journal__number_of(const json_t *found, double *x); // reads it; false: something else

// Start a line; end it with space for its checksum, and a newline.
void rh_journal__begin_line(rh_text *text, int op_code);
void rh_journal__end_line(rh_text *text);

// Fill in the checksums of all lines of a text. *crc: that of the line before, then of the
// last.
void rh_journal__seal_lines(rh_text *text, uint32_t *crc);

// Start the line of an attribute of a study or a trial; end it. Optuna expects one per line.
void rh_journal__study_attr(rh_text *text, int study, const char *key);
void rh_journal__system_attr(rh_text *text, int study, const char *key); // not shown to people
void rh_journal__trial_attr(rh_text *text, int id, const char *key);
void rh_journal__end_attr(rh_text *text);

// ---------------------------------------------------------------------------- scanning

// Read a part at `at`. Returns the position after it; NULL: something else. NULL stays NULL.
const char *rh_scan__after(const char *at, const char *end, const char *text);
const char *rh_scan__whole(const char *at, const char *end, int64_t *n); // 0 or more
const char *rh_scan__number(const char *at, const char *end, double *x);

// ---------------------------------------------------------------------------- the head

// The line of a new study: larger is better.
void rh_journal__study_line(rh_text *text, const char *name);

// The lines that describe the study.
void rh_journal__head_lines(rh_text *text, const rh_journal__head *head);
void rh_journal__plan_line(rh_text *text, const rh_journal__head *head);

// The kinds of model; nothing where kinds is NULL.
void rh_journal__kinds_line(rh_text *text, const rh_kinds *kinds);

// Whether the attributes describe a study completely.
bool rh_journal__head_whole(const json_t *attr);

// RH_OK, or RH_EINVAL with the first difference. *grown: open entries differ.
rh_status rh_journal__compare(const json_t *attr, const rh_journal__head *head,
                              const char *path, bool *grown, rh_error *err);

// ---------------------------------------------------------------------------- reading

// A study of the file.
typedef struct rh_journal__study {
    char *name; // owned; NULL: deleted
    int ntrial; // those of other programs included
    bool noted; // another program wrote its note
} rh_journal__study;

// What the lines read so far say.
typedef struct rh_replay {
    const rh_journal__head *head; // borrowed
    const char *path;             // borrowed, for messages
    json_t *attr;                 // owned: attributes of our study; NULL: none
    bool grown;                   // open entries of the plan differ
    uint32_t verdict;             // CRC-32 of the last verdict by itself, 0: none
    uint32_t crc;                 // checksum of our last line, 0: none
    rh_journal__entry *trial;     // owned: our trials                   (ntrial)
    int ntrial, trial_room;       //
    int *owner;                   // owned: index in trial of every trial of the file, or -1
    int nowner, owner_room;       //                                     (nowner)
    rh_journal__study *study;     // owned: all studies, that of the search first (nstudy)
    int nstudy, study_room;       //
    int confirmed;                // the study of the confirmations, 0: none
    int64_t nline;                // lines read
    bool foreign;                 // other programs wrote lines
    bool beside; // reading what was written beside us: our own lines are errors
} rh_replay;

void rh_replay__init(rh_replay *replay, const rh_journal__head *head, const char *path);
void rh_replay__clear(rh_replay *replay);

// Read fd from byte `from` to byte `to`; -1: to its end. *whole: end of the last complete line;
// *torn: bytes of a torn line after it. Other damage is refused with its line number.
rh_status rh_replay__read(rh_replay *replay, int fd, int64_t from, int64_t to, int64_t *whole,
                          int64_t *torn, rh_error *err);

void rh_journal__clear_entry(rh_journal__entry *trial); // frees x and run

// Append a trial of ours in a study. NULL: out of memory.
rh_journal__entry *rh_replay__add(rh_replay *replay, int study, int setting);

// Append a study, unless there is one of this name. Its index; -1: out of memory.
int rh_replay__add_study(rh_replay *replay, const char *name);

// What reading a line came to.
typedef enum rh_journal__fate {
    RH_TAKEN,
    RH_DAMAGED, // perhaps torn
    RH_REFUSED  // with rc and err set
} rh_journal__fate;

typedef struct rh_journal__reader {
    rh_replay *r;
    const char *line, *end; // the line, without its newline
    const char *why;        // RH_DAMAGED: how
    rh_status rc;           // RH_REFUSED
    rh_error *err;
} rh_journal__reader;

// Refuse the line, with its number.
rh_journal__fate rh_journal__refuse(rh_journal__reader *d, rh_status rc, const char *why);
rh_journal__fate rh_journal__no_memory(rh_journal__reader *d);

// A trial of another program begins.
rh_journal__fate rh_journal__add_other(rh_journal__reader *d, int study);

// A line of ours with the right checksum. at: the version, after the name of the writer.
rh_journal__fate rh_journal__take_ours(rh_journal__reader *d, const char *at, int64_t op);

// ---------------------------------------------------------------------------- writing

struct rh_journal {
    rh_journal__head head; // a copy; the plan is borrowed
    rh_replay replay;      //
    char *path, *note;     // owned: study.log, and study.lock, which names the process
    int fd;                // -1: not open
    bool locked;           //
    int64_t size;          // bytes of the file that have been read or written
    rh_text text;          // lines to write
    bool steps;            // the steps of a run have been written
    bool dirty;            // written lines may not be on the disk
    bool broken;           // half a line could not be removed: write nothing more
};

// The agent's parameters as {name: value}.
void rh_journal__hp(rh_text *text, const rh_agent_type *agent, const double *hp);

// Append journal->text to the file and empty it.
rh_status rh_journal__append(rh_journal *journal, rh_error *err);

// ---------------------------------------------------------------------------- the lock

// Lock the open journal, or say which process holds it. `note`: path of study.lock.
rh_status rh_lock__take(int fd, const char *folder, const char *note, rh_error *err);
// Call before closing the journal, which releases the lock.
void rh_lock__leave(const char *note);

#endif
