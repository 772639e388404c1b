// key.h - one thing that a user can set: a key of a file, an option, a keyword argument.
//
// A table of rows is the only description of what a log, a plan or a command accepts. Files,
// the command line and Python are read by it; --help, completions, manual and docs are made
// from it.

#ifndef REHEARSE_KEY_H
#define REHEARSE_KEY_H

#include "rehearse/base.h"

typedef enum rh_key_type {
    RH_KEY_WHOLE,  // a whole number, lo to hi
    RH_KEY_REAL,   // a number, lo to hi
    RH_KEY_TEXT,   // its own form, see about
    RH_KEY_FILE,   // a path
    RH_KEY_FLAG,   // yes or no; the option takes no argument
    RH_KEY_CHOICE, // one of the names
    RH_KEY_PAIRS   // one key for each name below the section; the option takes NAME=VALUE
} rh_key_type;

// The headings of --help, in their order.
typedef enum rh_key_group {
    RH_KEY_MAIN,
    RH_KEY_SEARCH,
    RH_KEY_EVALUATION,
    RH_KEY_MODEL,
    RH_KEY_TASK,
    RH_KEY_LOG
} rh_key_group;

typedef struct rh_key {
    const char *key;          // "evaluation.runs"; "model.*": any name below model; NULL: only
                              // an option of the program
    const char *option;       // "runs", without dashes; NULL: only in a file
    char letter;              // of the option; 0: none
    rh_key_type type;         //
    const char *value;        // what help calls the option's argument; NULL: it takes none
    const char *about;        // one line, without the default
    const char *initial;      // the default, in words; NULL: none
    int64_t lo, hi;           // of a number, both included
    const char *fixed;        // of a flag: what the option sets; NULL: yes
    const char *const *words; // of a choice: its names, ending with NULL; or
    const char *(*name)(int i); // the i-th, NULL after the last
    const char *list;  // the topic of `rehearse list` that has the names or, of pairs, what has
                       // parameters of these names; NULL: none
    bool repeats;      // the option may be given more than once
    unsigned commands; // of rh_plan_command; 0: all that read a log
    rh_key_group group; //
} rh_key;

// The i-th name of a choice; NULL after the last.
RH_API const char *rh_key_name(const rh_key *key, int i);

#endif
