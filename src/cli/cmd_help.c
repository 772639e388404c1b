// cmd_help.c - what the program can do, and every command's options, from the tables.
//
// Lines keep within 80 columns.

#include "cli_internal.h"

#include <string.h>

#define WIDTH 80
#define ABOUT_AT 28 // column where the text beside an option begins

static void print_option(const cli_option *option)
{
    char left[64], about[512];
    snprintf(left, sizeof left, "  %c%c%s --%s%s%s", option->letter ? '-' : ' ',
             option->letter ? option->letter : ' ', option->letter ? "," : " ", option->name,
             option->value ? " " : "", option->value ? option->value : "");
    int column = printf("%s", left);

    // what it is, what it can be, what it is when not given
    int used = snprintf(about, sizeof about, "%s", option->about);
    const char *name[CLI_MAX_NAMES];
    bool closed = (option->key && option->key->name) ||
                  (option->kind >= CLI_ACTION_KIND && option->kind <= CLI_POLICY);
    int n = closed ? cli_choices(option, name) : 0;
    for (int i = 0; i < n; i++)
        used += snprintf(about + used, sizeof about - (size_t)used, "%s%s%s",
                         i == 0 ? " (" : ", ", name[i], i + 1 < n ? "" : ")");
    if (option->repeats)
        used += snprintf(about + used, sizeof about - (size_t)used, " (may be repeated)");
    if (option->initial)
        snprintf(about + used, sizeof about - (size_t)used, " [default: %s]", option->initial);

    if (column + 2 > ABOUT_AT) {
        putchar('\n');
        column = 0;
    }
    printf("%*s", ABOUT_AT - column, "");
    cli_wrap(about, ABOUT_AT, WIDTH);
}

static void print_command(const cli_command *command)
{
    cli_style style = cli_style_of(stdout);
    cli_wrap(command->about, 0, WIDTH);
    printf("\n%susage:%s rehearse %s", style.bold, style.plain, command->name);
    int indent = (int)strlen("usage: rehearse ") + (int)strlen(command->name) + 1;
    putchar(' ');
    cli_wrap(command->operands, indent, WIDTH);
    if (command->detail) {
        putchar('\n');
        cli_wrap(command->detail, 0, WIDTH);
    }

    const char *title = "";
    for (int i = 0; cli_option_at(command, i); i++) {
        if (strcmp(title, cli_option_title(command, i)) != 0) {
            title = cli_option_title(command, i);
            printf("\n%s%s%s\n", style.bold, title, style.plain);
        }
        print_option(cli_option_at(command, i));
    }

    if (command->example[0])
        printf("\n%sexamples%s\n", style.bold, style.plain);
    for (int i = 0; command->example[i]; i += 2)
        printf("  %s%s%s\n      %s\n", style.dim, command->example[i], style.plain,
               command->example[i + 1]);
    if (command->see) {
        putchar('\n');
        cli_wrap(command->see, 0, WIDTH);
    }
}

static void print_overview(void)
{
    cli_style style = cli_style_of(stdout);
    printf("rehearse %s - " CLI_TAGLINE "\n\n"
           "%susage:%s rehearse COMMAND [options]\n\n%scommands%s\n",
           rh_version(), style.bold, style.plain, style.bold, style.plain);
    for (int i = 0; cli_command_at(i); i++)
        if (!cli_command_at(i)->hidden)
            printf("  %-8s %s\n", cli_command_at(i)->name, cli_command_at(i)->about);
    printf("\n%sexamples%s\n"
           "  rehearse tune plant.csv\n"
           "  rehearse list\n"
           "  rehearse run acrobot --agent esarsa\n"
           "  rehearse sweep acrobot --agent esarsa --grid paper\n"
           "  rehearse fit plant.csv\n"
           "  rehearse run model:plant.model --agent esarsa\n"
           "\n`rehearse help COMMAND` explains a command, `rehearse help study-file` lists "
           "the\nkeys of a study file, `rehearse --version` prints the version.\n",
           style.bold, style.plain);
}

// ---------------------------------------------------------------------------- the keys

// What a key may be: "a whole number, 1 to 1,000,000".
static void print_type(const rh_plan_key *key)
{
    switch (key->type) {
    case RH_PLAN_WHOLE:
        if (key->hi == INT64_MAX)
            printf("a whole number from %s on", cli_count(key->lo).s);
        else
            printf("a whole number, %s to %s", cli_count(key->lo).s, cli_count(key->hi).s);
        break;
    case RH_PLAN_REAL:
        printf("a number, %s to %s", cli_count(key->lo).s, cli_count(key->hi).s);
        break;
    case RH_PLAN_FLAG:
        printf("`yes` or `no`");
        break;
    case RH_PLAN_CHOICE:
        if (key->list)
            printf("one of `rehearse list %s`", key->list);
        for (int i = 0; !key->list && key->name(i); i++)
            printf("%s`%s`", i ? ", " : "", key->name(i));
        break;
    case RH_PLAN_FILE:
        printf("a path, from the folder of the file");
        break;
    case RH_PLAN_PAIRS:
        printf("names and values");
        break;
    case RH_PLAN_TEXT:
        printf("text");
        break;
    }
}

// The reference of all keys, as a Markdown table: docs/study-file.md has it.
static void print_keys(void)
{
    static const struct {
        rh_plan_command command;
        const char *name;
    } use[] = {{RH_PLAN_FIT, "fit"},
               {RH_PLAN_RUN, "run"},
               {RH_PLAN_SWEEP, "sweep"},
               {RH_PLAN_TUNE, "tune"}};
    const rh_plan_key *key;
    puts("| key | option | value | meaning | default | used by |\n|---|---|---|---|---|---|");
    for (int i = 0; (key = rh_plan_key_at(i)) != NULL; i++) {
        if (key->fixed) // another option of the key above
            continue;
        printf("| `%s` | %s%s%s | ", key->key, key->option ? "`--" : "",
               key->option ? key->option : "", key->option ? "`" : "");
        print_type(key);
        printf(" | %s | %s |", key->about, key->initial ? key->initial : "");
        bool more = false;
        for (int k = 0; k < 4; k++)
            if (key->commands & use[k].command) {
                printf("%s %s", more ? "," : "", use[k].name);
                more = true;
            }
        puts(" |");
    }
}

static int help_main(const cli_args *args)
{
    if (args->nword > 1)
        return cli_refuse("help: unexpected argument '%s'", args->word[1]);
    if (args->nword == 0) {
        print_overview();
        return CLI_OK;
    }
    if (strcmp(args->word[0], "study-file") == 0) {
        print_keys();
        return CLI_OK;
    }
    const cli_command *command = cli_command_find(args->word[0]);
    if (!command)
        return CLI_USAGE;
    print_command(command);
    return CLI_OK;
}

const cli_command cli_help = {
    .name = "help",
    .about = "List the commands, explain one, or list the keys of a study file",
    .operands = "[COMMAND|study-file]",
    .operand = CLI_COMMAND,
    .group = {&cli_common_group},
    .main = help_main,
};
