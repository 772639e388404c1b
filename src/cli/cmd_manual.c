// cmd_manual.c - rehearse manual: the page rehearse(1), or of one command such as
// rehearse-tune(1), in roff, from the tables.

#include "cli_internal.h"

#include <ctype.h>

// Text with everything escaped that roff would take as its own.
static void print_text(const char *text)
{
    bool line_begins = true;
    for (const char *c = text; *c; c++) {
        if (line_begins && (*c == '.' || *c == '\''))
            fputs("\\&", stdout);
        if (*c == '\\')
            fputs("\\e", stdout);
        else if (*c == '-')
            fputs("\\-", stdout);
        else
            putchar(*c);
        line_begins = *c == '\n';
    }
}

static void print_title(const char *title)
{
    fputs(".SH ", stdout);
    for (const char *c = title; *c; c++)
        putchar(toupper((unsigned char)*c));
    putchar('\n');
}

static void print_option(const rh_key *o)
{
    puts(".TP");
    if (o->letter)
        printf("\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", stdout);
    print_text(o->option);
    fputs("\\fR", stdout);
    if (o->value) {
        fputs(" \\fI", stdout);
        print_text(o->value);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    print_text(o->about);

    char choices[512] = "";
    cli_option_choices(o, choices, sizeof choices);
    printf("%s%s\n", choices,
           o->repeats || o->type == RH_KEY_PAIRS ? ". May be repeated." : ".");
    if (o->initial) {
        fputs("Default: ", stdout);
        print_text(o->initial);
        puts(".");
    }
}

static void print_command(const cli_command *command)
{
    fputs(".SS rehearse ", stdout);
    printf("%s ", command->name);
    print_text(command->operands);
    putchar('\n');
    print_text(command->about);
    puts(".");
    if (command->detail) {
        puts(".PP");
        print_text(command->detail);
        putchar('\n');
    }
    for (int i = 0; cli_option_at(command, i); i++)
        print_option(cli_option_at(command, i));
}

static void print_examples(const cli_command *command)
{
    for (int i = 0; command->example[i]; i += 2) {
        puts(".PP");
        print_text(command->example[i]);
        puts(":\n.PP\n.RS\n.nf");
        print_text(command->example[i + 1]);
        puts("\n.fi\n.RE");
    }
}

static void print_ends(void)
{
    puts(
        ".SH EXIT STATUS\n"
        ".TP\n0\nThe work was done. Runs that diverged are a result, not a failure.\n"
        ".TP\n1\nThe work could not be done.\n"
        ".TP\n2\nThe command line or an input was refused, or an output could not be written.\n"
        ".TP\n130, 143\nInterrupted (Ctrl\\-C, SIGTERM). What was finished is reported.\n"
        ".SH ENVIRONMENT\n"
        ".TP\nNO_COLOR\nWhen set and not empty, nothing is coloured.\n"
        ".TP\nLC_ALL, LC_CTYPE, LANG\nWhether charts may use more than ASCII.");
}

// The page rehearse-COMMAND(1).
static void print_page(const cli_command *command)
{
    fputs(".TH REHEARSE\\-", stdout);
    for (const char *c = command->name; *c; c++)
        putchar(toupper((unsigned char)*c));
    printf(" 1 \"\" \"rehearse %s\"\n.SH NAME\nrehearse\\-%s \\- ", rh_version(),
           command->name);
    print_text(command->about);
    printf("\n.SH SYNOPSIS\n.B rehearse %s\n", command->name);
    print_text(command->operands);
    puts("\n.SH DESCRIPTION");
    print_text(command->detail ? command->detail : command->about);
    putchar('\n');
    print_title("options");
    for (int i = 0; cli_option_at(command, i); i++)
        print_option(cli_option_at(command, i));
    print_title("examples");
    print_examples(command);
    print_ends();
    puts(".SH SEE ALSO\n.BR rehearse (1)");
}

static int manual_main(const cli_args *args)
{
    if (args->nword > 1)
        return cli_refuse("manual: unexpected argument '%s'", args->word[1]);
    if (args->nword == 1) {
        const cli_command *command = cli_command_find(args->word[0]);
        if (!command)
            return CLI_USAGE;
        print_page(command);
        return CLI_OK;
    }
    printf(".TH REHEARSE 1 \"\" \"rehearse %s\"\n", rh_version());
    puts(
        ".SH NAME\nrehearse \\- " CLI_TAGLINE "\n"
        ".SH SYNOPSIS\n.B rehearse\n.I command\n[options]\n"
        ".SH DESCRIPTION\n"
        "Fits a calibration model to a log, runs an agent's learning in it many times, and\n"
        "chooses hyperparameters by the scores. Results depend on the seed, not on the number\n"
        "of threads.");
    print_title("commands");
    for (int i = 0; cli_command_at(i); i++)
        print_command(cli_command_at(i));

    print_title("examples");
    for (int i = 0; cli_command_at(i); i++)
        print_examples(cli_command_at(i));
    print_ends();
    return CLI_OK;
}

const cli_command cli_manual = {
    .name = "manual",
    .about = "The manual page, in roff",
    .operands = "[COMMAND]",
    .operand = {.type = RH_KEY_CHOICE, .name = cli_command_name},
    .group = {&cli_common_group},
    .example = {"read it", "rehearse manual | man -l -", "the page of one command",
                "rehearse manual tune | man -l -"},
    .main = manual_main,
};
