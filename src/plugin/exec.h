// exec.h - a program that answers JSON lines, and the kinds of agent made of such programs.

#ifndef REHEARSE_PLUGIN_EXEC_H
#define REHEARSE_PLUGIN_EXEC_H

#include "base/text.h"
#include "rehearse/plugin.h"

#include <sys/types.h>

#define RH_EXEC__PREFIX "exec:"
#define RH_EXEC__VERSION 1 // of the protocol

// A program that was started.
typedef struct rh_exec {
    const char *command; // borrowed
    int fd;              // its standard input and output; -1: it is not there
    pid_t pid;
    char reason[240]; // what it did wrong; "": nothing
    size_t nread;     // bytes in the buffer
    size_t nline;     // of these, the line that was returned last
    size_t nout;      // bytes in out
    char buffer[1 << 16];
    char out[1 << 16];
} rh_exec;

// Start p->command. Close also after a failure.
rh_status rh_exec__open(rh_exec *p, rh_error *err);
void rh_exec__close(rh_exec *p); // ends it

// Send n bytes; the next line of its answers, without its end. False and NULL: p->reason.
bool rh_exec__send(rh_exec *p, const char *text, size_t n);
const char *rh_exec__line(rh_exec *p, double seconds);

// For tests: wait less.
void rh_exec__wait_at_most(double seconds);

// Append to p->out.
void rh_exec__add(rh_exec *p, const char *text);
void rh_exec__add_number(rh_exec *p, const char *name, double x); // "name":x
void rh_exec__add_numbers(rh_exec *p, const double *x, int n);

// Read the numbers act (nact) of the key "action". False: p->reason.
bool rh_exec__action(rh_exec *p, const char *line, double *act, int nact);

#endif
