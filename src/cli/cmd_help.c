// cmd_help.c - what the program can do, and every command's options, from the tables.
//
// Lines keep within 80 columns, or those of a narrower terminal. Commands to paste are not cut.

#include "cli_internal.h"

#include <string.h>

#define WIDE 80
#define ABOUT_AT 28 // column where the text beside an option begins

static int width_of_page(void)
{
    int columns = cli_columns_or(stdout, WIDE);
    return columns < CLI_NARROW ? CLI_NARROW : columns > WIDE ? WIDE : columns;
}

static void print_option(const rh_key *option)
{
    char left[64], about[512];
    snprintf(left, sizeof left, "  %c%c%s --%s%s%s", option->letter ? '-' : ' ',
             option->letter ? option->letter : ' ', option->letter ? "," : " ", option->option,
             option->value ? " " : "", option->value ? option->value : "");
    int column = printf("%s", left);

    // what it is, what it can be, what it is when not given
    snprintf(about, sizeof about, "%s", option->about);
    cli_option_choices(option, about, sizeof about);
    if (option->repeats || option->type == RH_KEY_PAIRS)
        rh_text__put(about, sizeof about, " (may be repeated)");
    if (option->initial)
        rh_text__put(about, sizeof about, " [default: %s]", option->initial);

    if (column + 2 > ABOUT_AT) {
        putchar('\n');
        column = 0;
    }
    printf("%*s", ABOUT_AT - column, "");
    cli_wrap(about, ABOUT_AT, width_of_page());
}

static int longest_word(const char *text)
{
    int most = 0;
    for (; *text; text += *text == ' ') {
        int n = (int)strcspn(text, " ");
        most = n > most ? n : most;
        text += n;
    }
    return most;
}

static void print_command(const cli_command *command)
{
    cli_style style = cli_style_of(stdout);
    cli_wrap(command->about, 0, width_of_page());
    printf("\n%susage:%s rehearse %s", style.bold, style.plain, command->name);
    int indent = (int)strlen("usage: rehearse ") + (int)strlen(command->name) + 1;
    bool below = indent + longest_word(command->operands) >= width_of_page();
    indent = below ? 4 : indent;
    printf(below ? "\n    " : " ");
    cli_wrap(command->operands, indent, width_of_page());
    if (command->detail) {
        putchar('\n');
        cli_wrap(command->detail, 0, width_of_page());
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
    for (int i = 0; command->example[i]; i += 2) {
        printf("  %s", style.dim);
        cli_wrap(command->example[i], 2, width_of_page());
        printf("%s      %s\n", style.plain, command->example[i + 1]);
    }
    if (command->see) {
        putchar('\n');
        cli_wrap(command->see, 0, width_of_page());
    }
}

static void overview_line(const cli_command *command)
{
    int column = printf("  %-10s ", command->name);
    cli_wrap(command->about, column, width_of_page());
}

static void print_overview(void)
{
    cli_style style = cli_style_of(stdout);
    char title[200];
    snprintf(title, sizeof title, "rehearse %s - " CLI_TAGLINE, rh_version());
    cli_wrap(title, 0, width_of_page());
    printf("\n%susage:%s rehearse COMMAND [options]\n\n%scommands%s\n", style.bold, style.plain,
           style.bold, style.plain);
    for (int i = 0; cli_command_at(i); i++)
        overview_line(cli_command_at(i));
    printf("\n%sexamples%s\n"
           "  rehearse tune plant.csv\n"
           "  rehearse list\n"
           "  rehearse run acrobot --agent esarsa\n"
           "  rehearse sweep acrobot --agent esarsa --grid paper\n"
           "  rehearse fit plant.csv\n"
           "  rehearse run model:plant.model --agent esarsa\n"
           "\n",
           style.bold, style.plain);
    cli_wrap("`rehearse help COMMAND` explains a command, `rehearse help study-file` lists the "
             "keys of a study file, `rehearse --version` prints the version.",
             0, width_of_page());
}

// ---------------------------------------------------------------------------- the keys

// What a key may be: "a whole number, 1 to 1,000,000".
static void print_type(const rh_key *key)
{
    switch (key->type) {
    case RH_KEY_WHOLE:
        if (key->hi == INT64_MAX)
            printf("a whole number from %s on", cli_count(key->lo).s);
        else
            printf("a whole number, %s to %s", cli_count(key->lo).s, cli_count(key->hi).s);
        break;
    case RH_KEY_REAL:
        printf("a number, %s to %s", cli_count(key->lo).s, cli_count(key->hi).s);
        break;
    case RH_KEY_FLAG:
        printf("`yes` or `no`");
        break;
    case RH_KEY_CHOICE:
        if (key->list)
            printf("one of `rehearse list %s`", key->list);
        for (int i = 0; !key->list && rh_key_name(key, i); i++)
            printf("%s`%s`", i ? ", " : "", rh_key_name(key, i));
        break;
    case RH_KEY_FILE:
        printf("a path, from the folder of the file");
        break;
    case RH_KEY_PAIRS:
        printf("names and values");
        break;
    case RH_KEY_TEXT:
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
    const rh_key *key;
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
    .operand = {.type = RH_KEY_CHOICE, .name = cli_command_name},
    .group = {&cli_common_group},
    .main = help_main,
};
