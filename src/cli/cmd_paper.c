// cmd_paper.c - rehearse paper: the options of the program beside this one that repeats the
// paper's experiments (reproduction/program/main.c).

#include "cli_internal.h"

#define MOST_LOGS 300 // of a condition

static const cli_option main_option[] = {
    {"output", 'o', CLI_FILE, "FOLDER",
     .about = "where results go; an existing battery is resumed"},
    {"logs", 0, CLI_WHOLE, "N", .about = "logs of each condition",
     .initial = "30; with --quick 2", .lo = 1, .hi = MOST_LOGS},
    {"costly", 0, CLI_WHOLE, "N",
     .about =
         "logs for the costliest methods: our default beside the paper's, CEM, agents that "
         "begin with a policy; 0: none",
     .initial = "6; with --quick 1", .lo = 0, .hi = MOST_LOGS},
    {"quick", 0, CLI_NONE, NULL,
     .about = "few logs, settings and runs, and short runs: minutes instead of hours"},
    {"constants", 0, CLI_CONSTANTS, "WHICH",
     .about = "where text and code of the paper differ: released, as in the authors' code, or "
              "printed",
     .initial = "released"},
    {"seed", 0, CLI_WHOLE, "N", .about = "random seed of the first log; the others follow",
     .initial = "1", .lo = 0, .hi = INT64_MAX - 1000000},
    {"jobs", 'j', CLI_WHOLE, "N", .about = "cells in parallel; does not change results",
     .initial = "all CPUs", .lo = 1, .hi = 4096},
    {"part", 0, CLI_TEXT, "I/N",
     .about =
         "do only the I-th of N parts of the cells, on one of N machines that share FOLDER; "
         "then once without --part, for the results"},
    {"dry-run", 0, CLI_NONE, NULL,
     .about = "print cells, learning steps and CPU time that are left, and stop"},
    {0},
};

static const cli_option output_option[] = {
    {"json", 0, CLI_NONE, NULL, .about = "one JSON document on standard output"},
    {"quiet", 'q', CLI_NONE, NULL, .about = "print nothing; results are in the folder"},
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
    .operand = CLI_EXPERIMENT,
    .group = {&main_group, &output_group, &cli_common_group},
    .example = {"everything in small, to see what there is",
                "rehearse paper all --quick -o small", "Experiment 1 at full size",
                "rehearse paper exp1 -o paper", "on four machines with one file system",
                "srun -N 4 --ntasks-per-node 1 rehearse paper all -o paper",
                "what all of it would cost", "rehearse paper all --dry-run -o paper"},
    .see = "reproduction/docs/paper.md explains every experiment, rule and file.",
    .program = "rehearse-paper",
};
