// main.c - the program rehearse-paper, which `rehearse paper` starts: the paper's experiments
// again, and what holds of its claims. src/cli/cmd_paper.c has its options.
//
// 1. Options and the folder are checked before the first cell.
// 2. Every finished cell is kept in the folder: after an interrupt, a crash or a full disk the
//    same command resumes, and ends with the same results.
// 3. --dry-run says what the whole would cost and leaves no trace.
// 4. Each of several processes (mpirun, srun) does a part of the cells; the first then collects
//    the results.

#include "base/number.h"
#include "base/text.h"
#include "cli/cli_internal.h"
#include "paper/paper.h"
#include "report/report_internal.h"
#include "study/study.h"

#include <math.h>
#include <string.h>

#define REDRAW 0.2      // seconds
#define REPORT 10.0     // seconds, as in cli/progress.c
#define GUESS_AFTER 1.0 // seconds of work before the time left is told
#define BAR 24

#define QUICK_LOGS 2
#define QUICK_COSTLY 1

typedef struct battery {
    const cli_args *args;
    rh_paper_options opt;
    rh_paper *paper; // owned
    cli_launch launch;
    rh_ranks *ranks; // owned; NULL: this process alone
    rh_paper_progress last;
    double begun, drawn;
    bool terminal, quiet, json, visible;
} battery;

// ---------------------------------------------------------------------------- progress

static void wipe(battery *b)
{
    if (b->visible)
        fputs("\r\033[K", stderr);
    b->visible = false;
    cli_line_is_drawn(false);
}

static void draw_line(battery *b, double now)
{
    const rh_paper_progress *p = &b->last;
    char line[512], left[64] = "", counts[96];
    double done = p->share - p->share_resumed, elapsed = now - b->begun;
    if (done > 0.0 && elapsed > GUESS_AFTER)
        snprintf(left, sizeof left, "  ETA %s",
                 cli_seconds(elapsed / done * (1.0 - p->share)).s);
    snprintf(counts, sizeof counts, "%s/%s cells", cli_count(p->ndone).s,
             cli_count(p->ncell).s);
    snprintf(line, sizeof line, "%3d%%  ", (int)(100.0 * p->share));
    int room = cli_columns(stderr) - 1;
    if (b->terminal && room >= 6 + BAR + 2 + (int)strlen(counts) + (int)strlen(left))
        cli_append_bar(line, sizeof line, p->share, BAR);
    size_t used = strlen(line);
    snprintf(line + used, sizeof line - used, "%s%s", counts, left);
    if (!b->terminal) {
        fprintf(stderr, "rehearse: %s\n", line + strspn(line, " "));
        return;
    }
    fprintf(stderr, "\r\033[K%s", line);
    b->visible = true;
    cli_line_is_drawn(true);
}

static void news(void *context, const rh_paper_progress *progress)
{
    battery *b = context;
    double now = cli_now();
    b->last = *progress;
    if (b->quiet || cli_interrupted() || now - b->drawn < (b->terminal ? REDRAW : REPORT))
        return;
    b->drawn = now;
    draw_line(b, now);
}

static bool stop(void *context)
{
    (void)context;
    return cli_interrupted() != 0;
}

// ---------------------------------------------------------------------------- options

// --part 2/8
static int read_part(battery *b)
{
    const char *text = cli_value(b->args, "part"), *slash = text ? strchr(text, '/') : NULL;
    double part = 0.0, nparts = 0.0;
    if (!text)
        return CLI_OK;
    if (b->launch.count != 1)
        return cli_refuse("paper: --part = %s, expected none: each of several processes does a "
                          "part",
                          text);
    bool good = slash && rh_number__read(text, (size_t)(slash - text), &part) == RH_NUMBER &&
                rh_number__read(slash + 1, strlen(slash + 1), &nparts) == RH_NUMBER &&
                part == floor(part) && nparts == floor(nparts) && part >= 1.0 &&
                part <= nparts && nparts <= 1e6;
    if (!good)
        return cli_refuse("paper: --part = %s, expected I/N such as 2/8", text);
    b->opt.part = (int)part - 1;
    b->opt.nparts = (int)nparts;
    return CLI_OK;
}

// Open the battery, or open it again for another part.
static int open_part(battery *b, int part, int nparts)
{
    rh_error err;
    rh_paper_destroy(b->paper);
    b->paper = NULL;
    b->opt.part = part;
    b->opt.nparts = nparts;
    rh_status status = rh_paper_create(&b->paper, b->args->word[0], &b->opt, &err);
    return cli_pass(status, &err);
}

static int prepare(battery *b)
{
    const cli_args *args = b->args;
    bool quick = cli_has(args, "quick");
    if (args->nword != 1) {
        cli_refuse("paper: %d names, expected one: an experiment, or all", args->nword);
        cli_try("rehearse paper exp1 --quick -o exp1");
        return CLI_USAGE;
    }
    if (cli_has(args, "json") && cli_has(args, "quiet"))
        return cli_refuse("--json and --quiet cannot be used together");
    const char *folder = cli_value(args, "output");
    if (!folder || !*folder) {
        cli_refuse("paper: --output is missing, expected a folder for the results");
        cli_try("rehearse paper %s --quick -o %s", args->word[0], args->word[0]);
        return CLI_USAGE;
    }
    b->opt = rh_paper_defaults();
    b->opt.folder = folder;
    b->opt.quick = quick;
    b->opt.nlog = (int)cli_number(args, "logs", quick ? QUICK_LOGS : b->opt.nlog);
    b->opt.ncostly = (int)cli_number(args, "costly", quick ? QUICK_COSTLY : b->opt.ncostly);
    b->opt.seed = (uint64_t)cli_number(args, "seed", 1);
    b->opt.constants = (rh_paper_constants)cli_number(args, "constants", RH_PAPER_RELEASED);
    b->opt.nthread = (int)cli_number(args, "jobs", cli_launch_jobs(&b->launch));
    b->opt.progress = news;
    b->opt.stop = stop;
    b->opt.context = b;
    b->quiet = cli_has(args, "quiet") || b->launch.me > 0;
    b->json = cli_has(args, "json");
    b->terminal = cli_is_terminal(stderr);
    int rc = read_part(b);
    return rc ? rc : open_part(b, b->opt.part, b->opt.nparts);
}

// ---------------------------------------------------------------------------- output

// "2.31 hours", or "1m 05s" of less than one.
static cli_text cpu_time(double seconds)
{
    cli_text text = cli_seconds(seconds);
    if (seconds >= 3600.0)
        snprintf(text.s, sizeof text.s, "%.2f hours", seconds / 3600.0);
    return text;
}

static int print_estimate(const battery *b)
{
    rh_paper_estimate e = rh_paper_foresee(b->paper);
    if (b->json) {
        rh_doc json = {.out = stdout};
        rh_doc__open(&json, NULL, '{', false);
        rh_doc__text(&json, "experiment", b->args->word[0]);
        rh_doc__whole(&json, "cells", e.ncell);
        rh_doc__whole(&json, "cells_done", e.ndone);
        rh_doc__whole(&json, "studies", e.nstudy);
        rh_doc__whole(&json, "learning_steps", e.nstep);
        rh_doc__real(&json, "cpu_hours", e.seconds / 3600.0);
        rh_doc__close(&json);
        return CLI_OK;
    }
    cli_line("cells", "%s, %s of them studies; %s done", cli_count(e.ncell).s,
             cli_count(e.nstudy).s, cli_count(e.ndone).s);
    cli_line("learning steps", "%s", cli_count(e.nstep).s);
    cli_line("CPU time", "%s, about %s on %d thread%s", cpu_time(e.seconds).s,
             cli_seconds(e.seconds / b->opt.nthread).s, b->opt.nthread,
             cli_plural(b->opt.nthread));
    return CLI_OK;
}

static void print_claims(const battery *b)
{
    int count[3] = {0};
    const rh_paper_claim *c;
    for (int i = 0; (c = rh_paper_claim_at(b->paper, i)) != NULL; i++)
        count[c->verdict]++;
    for (int i = 0; (c = rh_paper_claim_at(b->paper, i)) != NULL; i++) {
        printf("%-29s %-14s ", c->id, rh_paper_verdict_name(c->verdict));
        cli_wrap(c->measured, 45, cli_page());
    }
    rh_paper_cost cost = rh_paper_spent(b->paper);
    printf("\n");
    cli_line("claims", "%d hold%s, %d do%s not hold, %d not decided", count[RH_PAPER_HOLDS],
             count[RH_PAPER_HOLDS] == 1 ? "s" : "", count[RH_PAPER_FAILS],
             count[RH_PAPER_FAILS] == 1 ? "es" : "", count[RH_PAPER_OPEN]);
    cli_line("CPU time", "%s, %s learning steps", cpu_time(cost.cpu).s,
             cli_count(cost.nstep).s);
    cli_line("page", "%s/" RH_PAPER_PAGE, b->opt.folder);
}

static void json_claims(const battery *b)
{
    rh_doc json = {.out = stdout};
    const rh_paper_claim *c;
    rh_paper_cost cost = rh_paper_spent(b->paper);
    rh_doc__open(&json, NULL, '{', false);
    rh_doc__text(&json, "experiment", b->args->word[0]);
    rh_doc__text(&json, "folder", b->opt.folder);
    rh_doc__real(&json, "cpu_seconds", cost.cpu);
    rh_doc__whole(&json, "learning_steps", cost.nstep);
    rh_doc__open(&json, "claims", '[', false);
    for (int i = 0; (c = rh_paper_claim_at(b->paper, i)) != NULL; i++) {
        rh_doc__open(&json, NULL, '{', false);
        rh_doc__text(&json, "id", c->id);
        rh_doc__text(&json, "experiment", c->experiment);
        rh_doc__text(&json, "verdict", rh_paper_verdict_name(c->verdict));
        rh_doc__real(&json, "value", c->value);
        rh_doc__real(&json, "lo95", c->lo95);
        rh_doc__real(&json, "hi95", c->hi95);
        rh_doc__whole(&json, "logs", c->nlog);
        rh_doc__text(&json, "measured", c->measured);
        rh_doc__text(&json, "rule", c->rule);
        rh_doc__text(&json, "sentence", c->sentence);
        rh_doc__close(&json);
    }
    rh_doc__close(&json);
    rh_doc__close(&json);
}

extern const rh_asset rh_asset__paper; // assets.c, from page/paper.js

static int write_page(const battery *b)
{
    static const rh_report__source of_paper = {"paper", "paper", "the paper's experiments",
                                               "`rehearse paper`", &rh_asset__paper};
    rh_text path = {0}, data = {0};
    rh_error err;
    int rc = CLI_OK;
    rh_text__format(&path, "%s/" RH_PAPER_PAGE, b->opt.folder);
    rh_text__format(&data, "%s/" RH_PAPER_DATA, b->opt.folder);
    if (path.bad || data.bad)
        rc = cli_fail("out of memory");
    else
        rc = cli_pass_file(rh_report__write_page(path.data, data.data, &of_paper, &err), &err);
    rh_text__clear(&path);
    rh_text__clear(&data);
    return rc;
}

// ---------------------------------------------------------------------------- the command

// Do the cells of this part.
static int do_cells(battery *b)
{
    rh_error err;
    cli_catch_signals();
    b->begun = b->drawn = cli_now();
    rh_status status = rh_paper_run(b->paper, &err);
    wipe(b);
    if (status == RH_ESTOPPED && cli_interrupted()) {
        cli_say("interrupted: %d of %d cells are kept in %s; the same command resumes",
                b->last.ndone, b->last.ncell, b->opt.folder);
        return CLI_SIGNAL + cli_interrupted();
    }
    if (status && b->launch.me > 0) { // the first may have a message, too
        cli_launch_pause(CLI_PATIENCE);
        cli_hush(false);
        cli_say("rank %d: %s", b->launch.me, err.text);
        return CLI_FAILED;
    }
    int rc = cli_pass_file(status, &err);
    if (status == RH_EIO)
        cli_try("fix this and rerun the same command; finished cells are kept");
    return rc;
}

// As one of several processes. When all are done, the first finds every cell there.
static int share_cells(battery *b)
{
    int rc = cli_launch_ranks("paper", &b->launch, &b->ranks);
    if (!rc)
        rc = open_part(b, rh_ranks_me(b->ranks), rh_ranks_count(b->ranks));
    if (!rc)
        rc = do_cells(b);
    if (!rc)
        rh_ranks__meet(b->ranks);
    if (!rc && b->launch.me == 0)
        rc = open_part(b, 0, 1);
    return rc;
}

static int carry_out(battery *b)
{
    int rc = b->launch.count == 1 ? CLI_OK : share_cells(b);
    if (!rc && b->launch.me == 0)
        rc = do_cells(b);
    if (rc || b->launch.me > 0)
        return rc;
    rh_paper_estimate left = rh_paper_foresee(b->paper);
    if (left.ndone < left.ncell) {
        if (!b->quiet)
            cli_say("part %d of %d is done; %s of %s cells of all parts are in %s",
                    b->opt.part + 1, b->opt.nparts, cli_count(left.ndone).s,
                    cli_count(left.ncell).s, b->opt.folder);
        return CLI_OK;
    }
    rc = write_page(b);
    if (rc)
        return rc;
    if (b->json)
        json_claims(b);
    else if (!b->quiet)
        print_claims(b);
    return CLI_OK;
}

static int paper_main(const cli_args *args)
{
    battery b = {.args = args, .launch = cli_launched()};
    bool dry = cli_has(args, "dry-run");
    if (dry && b.launch.me > 0)
        return CLI_OK; // the first does it
    cli_hush(b.launch.me > 0);
    int rc = prepare(&b);
    if (rc && b.launch.me > 0)
        cli_launch_pause(CLI_GRACE);
    if (!rc)
        rc = dry ? print_estimate(&b) : carry_out(&b);
    rh_paper_destroy(b.paper);
    if (rc && b.ranks && rh_ranks_count(b.ranks) > 1) { // the others would wait for this one
        fflush(stdout);
        rh_ranks_abort(b.ranks, rc);
    }
    rh_ranks_end(b.ranks);
    return rc;
}

// ---------------------------------------------------------------------------- the program

const cli_command *cli_command_at(int i)
{
    return i == 0 ? &cli_paper : NULL;
}

static int dispatch(int argc, char **argv)
{
    cli_command command = cli_paper;
    command.main = paper_main;
    return cli_command_run(&command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    return cli_main(argc, argv, dispatch);
}
