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

static void print_case(const char *name, const rh_param *param, int nparam)
{
    printf("        case '%s'\n            printf '%%s\\n'", name);
    for (int i = 0; i < nparam; i++)
        printf(" %s=", param[i].name);
    putchar('\n');
}

static void begin_params(const char *kind, const char *where)
{
    printf("function __rehearse_%s_params\n    switch (%s)\n", kind, where);
}

static void end_params(void)
{
    puts("    end\nend\n");
}

// A function per kind that prints the parameters of the one on the line.
static void print_lookups(void)
{
    begin_params("agent", "__rehearse_value --agent -a");
    for (int i = 0; i < rh_agent_ntype(); i++)
        print_case(rh_agent_type_at(i)->name, rh_agent_type_at(i)->param,
                   rh_agent_type_at(i)->nparam);
    end_params();
    begin_params("env", "__rehearse_env");
    for (int i = 0; i < rh_env_ntype(); i++)
        print_case(rh_env_type_at(i)->name, rh_env_type_at(i)->param,
                   rh_env_type_at(i)->nparam);
    end_params();
    begin_params("model", "__rehearse_value --model -m");
    for (int i = 0; i < rh_model_ntype(); i++)
        print_case(rh_model_type_at(i)->name, rh_model_type_at(i)->param,
                   rh_model_type_at(i)->nparam);
    end_params();
    begin_params("repr", "__rehearse_value --repr");
    for (int i = 0; i < rh_repr_ntype(); i++)
        print_case(rh_repr_type_at(i)->name, rh_repr_type_at(i)->param,
                   rh_repr_type_at(i)->nparam);
    end_params();
    begin_params("method", "__rehearse_value --method");
    for (int i = 0; i < rh_search_ntype(); i++)
        print_case(rh_search_type_at(i)->name, rh_search_type_at(i)->param,
                   rh_search_type_at(i)->nparam);
    end_params();
}

// The values of an option: files, names, or a function that prints parameters.
static void print_values(const cli_option *o)
{
    static const struct {
        cli_kind kind;
        const char *words;
    } looked_up[] = {
        {CLI_AGENT_SET, "(__rehearse_agent_params)"},
        {CLI_ENV_SET, "(__rehearse_env_params)"},
        {CLI_MODEL_SET, "(__rehearse_model_params)"},
        {CLI_REPR_SET, "(__rehearse_repr_params)"},
        {CLI_METHOD_SET, "(__rehearse_method_params)"},
    };
    const char *name[CLI_MAX_NAMES];
    if (o->kind == CLI_FILE) {
        fputs(" -r -F", stdout);
        return;
    }
    fputs(" -x", stdout);
    for (size_t i = 0; i < sizeof looked_up / sizeof *looked_up; i++)
        if (looked_up[i].kind == o->kind) {
            printf(" -a '%s'", looked_up[i].words);
            return;
        }
    int n = cli_choices(o, name);
    for (int i = 0; i < n; i++)
        printf("%s%s%s", i ? " " : " -a '", name[i], i + 1 < n ? "" : "'");
}

static void print_command(const cli_command *command)
{
    const cli_option *o;
    const char *name[CLI_MAX_NAMES];
    printf("\ncomplete -c rehearse -n __fish_use_subcommand -x -a %s -d ", command->name);
    print_quoted(command->about);
    putchar('\n');

    // operands: files, or names
    int n = command->operand == CLI_FILE ? 0 : cli_names(command->operand, name);
    printf("complete -c rehearse -n '__fish_seen_subcommand_from %s'", command->name);
    fputs(command->operand == CLI_FILE ? " -F" : " -f", stdout);
    for (int i = 0; i < n; i++)
        printf("%s%s%s", i ? " " : " -a '", name[i], i + 1 < n ? "" : "'");
    putchar('\n');
    for (int k = 0; (o = cli_option_at(command, k)) != NULL; k++) {
        printf("complete -c rehearse -n '__fish_seen_subcommand_from %s' -l %s", command->name,
               o->name);
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
