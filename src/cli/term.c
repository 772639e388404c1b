// term.c - the terminal, the signals and the machine.
//
// 1. Only the locale's character set is used; files have the decimal points of the C locale.
// 2. The first signal sets a flag and erases the progress line for good; the second one exits.
//    A plug-in may not return, or a program not answer, so that nobody looks at the flag: with
//    either the program also exits GRACE seconds after the first signal.
// 3. TERM=dumb does not count as a terminal: nothing can be redrawn there.

#include "base/file.h"
#include "cli_internal.h"
#include "plugin/plugin.h"

#include <langinfo.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define GRACE 3 // seconds; decision 2, by hand

static volatile sig_atomic_t caught; // the signal, 0 for none
static volatile sig_atomic_t drawn;  // standard error holds an unfinished line

bool cli_is_terminal(FILE *stream)
{
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) && term && *term && strcmp(term, "dumb") != 0;
}

// The size of the terminal, from the environment otherwise, or 80 x 24.
static int measure(FILE *stream, bool rows)
{
    struct winsize size;
    const char *said = getenv(rows ? "LINES" : "COLUMNS");
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
        return rows ? size.ws_row : size.ws_col;
    int n = said ? atoi(said) : 0;
    if (n > 0)
        return n;
    return rows ? 24 : 80;
}

int cli_columns(FILE *stream)
{
    return measure(stream, false);
}

int cli_columns_or(FILE *stream, int otherwise)
{
    const char *said = getenv("COLUMNS");
    bool known = cli_is_terminal(stream) || (said && atoi(said) > 0);
    return known ? measure(stream, false) : otherwise;
}

int cli_rows(FILE *stream)
{
    return measure(stream, true);
}

bool cli_utf8(void)
{
    return setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

cli_style cli_style_of(FILE *stream)
{
    const char *no = getenv("NO_COLOR");
    if (!cli_is_terminal(stream) || (no && *no))
        return (cli_style){"", "", "", "", ""};
    return (cli_style){.bold = "\033[1m",
                       .dim = "\033[2m",
                       .curve = "\033[36m",
                       .alarm = "\033[33m",
                       .plain = "\033[0m"};
}

double cli_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int cli_ncpu(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 && n < 4096 ? (int)n : 1;
}

static void end_at_once(int number)
{
    rh_plugin__end_programs(true);
    rh_file__remove_temporaries();
    signal(number, SIG_DFL);
    raise(number);
}

// Use the handler unless the caller of the program had the signal ignored (nohup).
static void handle(int number, void (*handler)(int), bool always)
{
    struct sigaction before, action = {.sa_handler = handler, .sa_flags = (int)SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (always || (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN))
        sigaction(number, &action, NULL);
}

void cli_clean_on_signals(void)
{
    handle(SIGINT, end_at_once, false);
    handle(SIGTERM, end_at_once, false);
    handle(SIGHUP, end_at_once, false);
}

// Decision 2. The signal that was caught ends the program.
static void on_alarm(int number)
{
    static const char *const why[] = {"rehearse: stopped: a plug-in does not return\n",
                                      "rehearse: stopped: a program does not answer\n"};
    const char *text = why[rh_plugin__count() == 0];
    (void)number;
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        drawn = 0;
    end_at_once(caught);
}

static void on_signal(int number)
{
    static const char wipe[] = "\r\033[K";
    caught = number;
    handle(number, end_at_once, true);
    if (rh_plugin__count() + rh_plugin__end_programs(false) > 0)
        alarm(GRACE);
    if (drawn && write(STDERR_FILENO, wipe, sizeof wipe - 1) < 0)
        drawn = 0;
}

void cli_catch_signals(void)
{
    handle(SIGALRM, on_alarm, true);
    handle(SIGINT, on_signal, true);
    handle(SIGTERM, on_signal, true);
    handle(SIGHUP, end_at_once, false);
}

int cli_interrupted(void)
{
    return caught;
}

void cli_line_is_drawn(bool now)
{
    drawn = now;
}
