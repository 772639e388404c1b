// cmd_paper.c - rehearse paper: the options of the program beside this one that repeats the
// paper's experiments (reproduction/program/main.c).

#include "cli_internal.h"

#define MOST_LOGS 300 // of a condition

static const char *const experiments[] = {"exp1", "exp2",         "exp3", "exp4",   "exp5",
                                          "raw",  "actor-critic", "fqi",  "theory", "all",
                                          NULL};
static const char *const constants[] = {"released", "printed", NULL};

static const rh_key main_option[] = {
    {NULL, "output", 'o', RH_KEY_FILE, "FOLDER",
     .about = "where results go; an existing battery is resumed"},
    {NULL, "logs", 0, RH_KEY_WHOLE, "N", .about = "logs of each condition",
     .initial = "30; with --quick 2", .lo = 1, .hi = MOST_LOGS},
    {NULL, "costly", 0, RH_KEY_WHOLE, "N",
     .about =
         "logs for the costliest methods: our default beside the paper's, CEM, agents that "
         "begin with a policy; 0: none",
     .initial = "6; with --quick 1", .lo = 0, .hi = MOST_LOGS},
    {NULL, "quick", 0, RH_KEY_FLAG, NULL,
     .about = "few logs, settings and runs, and short runs: minutes instead of hours"},
    {NULL, "constants", 0, RH_KEY_TEXT, "WHICH", .words = constants,
     .about = "where text and code of the paper differ: released, as in the authors' code, or "
              "printed",
     .initial = "released"},
    {NULL, "seed", 0, RH_KEY_WHOLE, "N",
     .about = "random seed of the first log; the others follow", .initial = "1", .lo = 0,
     .hi = INT64_MAX - 1000000},
    {NULL, "jobs", 'j', RH_KEY_WHOLE, "N",
     .about = "cells in parallel; does not change results", .initial = "all CPUs", .lo = 1,
     .hi = 4096},
    {NULL, "part", 0, RH_KEY_TEXT, "I/N",
     .about =
         "do only the I-th of N parts of the cells, on one of N machines that share FOLDER; "
         "then once without --part, for the results"},
    {NULL, "dry-run", 0, RH_KEY_FLAG, NULL,
     .about = "print cells, learning steps and CPU time that are left, and stop"},
    {0},
};

static const rh_key output_option[] = {
    {NULL, "json", 0, RH_KEY_FLAG, NULL, .about = "one JSON document on standard output"},
    {NULL, "quiet", 'q', RH_KEY_FLAG, NULL,
     .about = "print nothing; results are in the folder"},
    {0},
};

static const cli_group main_group = {CLI_MAIN, main_option};
static const cli_group output_group = {"output", output_option};

const cli_command cli_paper = {
    .name = "paper",
    .about = "Repeat the paper's experiments and check its claims",
    .operands = "EXPERIMENT|all -o FOLDER [options]",
    .detail =
        "EXPERIMENT is exp1 to exp5, raw, actor-critic, fqi, theory, or all. Collects the "
        "logs, chooses settings from each with the paper's methods and with our default, "
        "looks their true scores up in the simulator, and decides each sentence of the paper "
        "that asserts an outcome by a stated rule: holds, does not hold, or not decided. "
        "FOLDER gets a page, index.html, and CSV of everything. The same command resumes what "
        "was stopped. At full size the whole takes hours: begin with --quick, and ask "
        "--dry-run what it costs.",
    .operand = {.type = RH_KEY_CHOICE, .words = experiments},
    .group = {&main_group, &output_group, &cli_common_group},
    .example = {"everything in small, to see what there is",
                "rehearse paper all --quick -o small", "Experiment 1 at full size",
                "rehearse paper exp1 -o paper", "on four machines with one file system",
                "srun -N 4 --ntasks-per-node 1 rehearse paper all -o paper",
                "what all of it would cost", "rehearse paper all --dry-run -o paper"},
    .see = "reproduction/docs/paper.md explains every experiment, rule and file.",
    .program = "rehearse-paper",
};
