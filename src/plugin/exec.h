// exec.h - a program that answers JSON lines, and the kinds of agents and environments made of
// such programs.

#ifndef REHEARSE_PLUGIN_EXEC_H
#define REHEARSE_PLUGIN_EXEC_H

#include "base/text.h"
#include "rehearse/plugin.h"

#include <jansson.h>
#include <string.h>
#include <sys/types.h>

#define RH_EXEC__PREFIX "exec:"
#define RH_EXEC__VERSION 1 // of the protocol

// ---------------------------------------------------------------------------- the program

// A program that was started.
typedef struct rh_exec {
    const char *command; // borrowed
    int fd;              // its standard input and output; -1: it is not there
    pid_t pid;
    char reason[320]; // what it did wrong; "": nothing
    size_t nread;     // bytes in the buffer
    size_t nline;     // of these, the line that was returned last
    size_t nout;      // bytes in out
    bool answered;    // at least once
    double within;    // seconds to wait for an answer, then it is late; 0: a failure, as usual
    int nlate;        // answers that are still to come, and are not wanted any more
    double since;     // when the first of them was asked for
    char buffer[1 << 16];
    char out[1 << 16];
} rh_exec;

// Start p->command. Close also after a failure.
rh_status rh_exec__open(rh_exec *p, rh_error *err);
void rh_exec__close(rh_exec *p); // ends it

// Whether it can be asked: it is there and has done nothing wrong.
bool rh_exec__healthy(const rh_exec *p);

// Send p->out; the next line of its answers, without its end. False and NULL: p->reason.
bool rh_exec__send(rh_exec *p);
const char *rh_exec__line(rh_exec *p);

// Note what it did wrong, if nothing is noted yet; an answer that is not `expected`. False.
bool rh_exec__fail(rh_exec *p, const char *what);
bool rh_exec__nonsense(rh_exec *p, const char *line, const char *expected);

// Append to p->out.
void rh_exec__add(rh_exec *p, const char *text);
void rh_exec__add_number(rh_exec *p, const char *name, double x); // "name":x
void rh_exec__add_numbers(rh_exec *p, const double *x, int n);
void rh_exec__add_params(rh_exec *p, const rh_param *param, int n, const double *value);

// Read the finite numbers x (n) of a key: one number, or a list of n. False: p->reason.
bool rh_exec__numbers(rh_exec *p, const char *line, const char *key, double *x, int n,
                      const char *expected);

// ---------------------------------------------------------------------------- kinds

// What agents and environments of a command have in common. All texts are owned.
typedef struct rh_exec__kind {
    char *name; // "exec:COMMAND"
    char *about;
    rh_param param[RH_MAX_PARAM];
    int nparam;
} rh_exec__kind;

static inline bool rh_exec__named(const char *name)
{
    return strncmp(name, RH_EXEC__PREFIX, strlen(RH_EXEC__PREFIX)) == 0;
}

// Start the program once and let it describe itself, as an "agent" or an "environment".
// Clear also after a failure. Owned: *root, the description, free with json_decref().
rh_status rh_exec__describe(rh_exec__kind *kind, const char *name, const char *what,
                            json_t **root, rh_error *err);
void rh_exec__clear(rh_exec__kind *kind);

// The number of a key, or what to take otherwise.
double rh_exec__number_in(const json_t *object, const char *key, double otherwise);

#endif
