// completion_fish.c - rehearse completion fish: one `complete` command per option.
//
// fish has no variables of the word to complete in common with bash and zsh, but describes each
// candidate: the tables' texts are shown beside the names. Parameters of --set and the like are
// those of the agent, environment, model, representation or method already on the line.

#include "cli_internal.h"

#include <string.h>

// Text in single quotes, as fish reads it.
static void print_quoted(const char *text)
{
    putchar('\'');
    for (const char *c = text; *c; c++) {
        if (*c == '\'' || *c == '\\')
            putchar('\\');
        putchar(*c);
    }
    putchar('\'');
}

// A function per topic that prints the parameters of the one on the line.
static void print_lookups(void)
{
    cli_item item;
    for (int k = 0; k < CLI_NLOOKUP; k++) {
        printf("function __rehearse_%s_params\n    switch (%s)\n", cli_lookups[k].word,
               cli_lookups[k].fish);
        for (int i = 0; cli_lookup_item(cli_lookups[k].topic, i, &item); i++) {
            printf("        case '%s'\n            printf '%%s\\n'", item.name);
            for (int p = 0; p < item.nparam; p++)
                printf(" %s=", item.param[p].name);
            putchar('\n');
        }
        puts("    end\nend\n");
    }
}

// Names in quotes; nothing without any.
static void print_names(const rh_key *key)
{
    for (int i = 0; rh_key_name(key, i); i++)
        printf("%s%s%s", i ? " " : " -a '", rh_key_name(key, i),
               rh_key_name(key, i + 1) ? "" : "'");
}

// The values of an option: files, names, or a function that prints parameters.
static void print_values(const rh_key *o)
{
    const cli_lookup *lookup = cli_lookup_of(o);
    fputs(o->type == RH_KEY_FILE ? " -r -F" : " -x", stdout);
    if (lookup)
        printf(" -a '(__rehearse_%s_params)'", lookup->word);
    else if (o->list && strcmp(o->list, "grids") == 0) {
        fputs(" -a '", stdout);
        cli_print_grids();
        fputs("'", stdout);
    } else
        print_names(o);
}

static void print_command(const cli_command *command)
{
    const rh_key *o;
    printf("\ncomplete -c rehearse -n __fish_use_subcommand -x -a %s -d ", command->name);
    print_quoted(command->about);
    putchar('\n');

    // operands: files, or names
    printf("complete -c rehearse -n '__fish_seen_subcommand_from %s'", command->name);
    fputs(command->operand.type == RH_KEY_FILE ? " -F" : " -f", stdout);
    print_names(&command->operand);
    putchar('\n');
    for (int k = 0; (o = cli_option_at(command, k)) != NULL; k++) {
        printf("complete -c rehearse -n '__fish_seen_subcommand_from %s' -l %s", command->name,
               o->option);
        if (o->letter)
            printf(" -s %c", o->letter);
        if (o->value)
            print_values(o);
        fputs(" -d ", stdout);
        print_quoted(o->about);
        putchar('\n');
    }
}

void cli_completion_fish(void)
{
    puts("# rehearse in fish: rehearse completion fish | source\n\n"
         "# the value of an option that is on the line, under any of its names\n"
         "function __rehearse_value\n"
         "    set -l words (commandline -opc)\n"
         "    for i in (seq (count $words))\n"
         "        for name in $argv\n"
         "            if test \"$words[$i]\" = \"$name\"; and test $i -lt (count $words)\n"
         "                echo $words[(math $i + 1)]\n"
         "                return\n"
         "            else if string match -q -- \"$name=*\" $words[$i]\n"
         "                string replace -- \"$name=\" '' $words[$i]\n"
         "                return\n"
         "            end\n"
         "        end\n"
         "    end\n"
         "end\n\n"
         "# the first operand\n"
         "function __rehearse_env\n"
         "    set -l words (commandline -opc)\n"
         "    test (count $words) -gt 2; and echo $words[3]\n"
         "end\n");
    print_lookups();
    puts("complete -c rehearse -f\n"
         "complete -c rehearse -n __fish_use_subcommand -l help -s h -d 'list the commands'\n"
         "complete -c rehearse -n __fish_use_subcommand -l version -s V -d 'print the "
         "version'");
    for (int i = 0; cli_command_at(i); i++)
        print_command(cli_command_at(i));
}
