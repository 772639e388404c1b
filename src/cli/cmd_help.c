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
    bool closed = option->kind >= CLI_CRITERION && option->kind <= CLI_POLICY;
    int n = closed ? cli_names(option->kind, name) : 0;
    for (int i = 0; i < n; i++)
        used += snprintf(about + used, sizeof about - (size_t)used, "%s%s",
                         i == 0 ? ": " : ", ", name[i]);
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

    for (int g = 0; command->group[g]; g++) {
        printf("\n%s%s%s\n", style.bold, command->group[g]->title, style.plain);
        for (const cli_option *o = command->group[g]->option; o->name; o++)
            print_option(o);
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
    printf("rehearse %s - rehearse an agent's learning run before it is deployed\n\n"
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
           "\n`rehearse help COMMAND` tells more; `rehearse --version` the version.\n",
           style.bold, style.plain);
}

static int help_main(const cli_args *args)
{
    if (args->nword > 1)
        return cli_refuse("help: unexpected argument '%s'", args->word[1]);
    if (args->nword == 0) {
        print_overview();
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
    .about = "What the program can do, or everything about one command",
    .operands = "[COMMAND]",
    .operand = CLI_COMMAND,
    .group = {&cli_common_group},
    .main = help_main,
};
