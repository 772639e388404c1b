// options.c - reads a command line by the command's table of options.
//
// --name value, --name=value, -n value, -nvalue, -qj4 for several, -- before operands like -x.
//
// 1. The rows check the program's own numbers and choices; the library checks its keys.
// 2. An option given twice counts as it was given last, so it overrides a shell alias. Of
//    options that may be repeated, the same name twice is refused: in
//    --set alpha=0.1 --set alpha=0.2 one of them is a mistake.
// 3. --help anywhere wins over every mistake beside it.

#include "base/base_internal.h"
#include "cli_internal.h"

#include "base/base.h"
#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const rh_key *find_long(const cli_command *command, const char *name, size_t length)
{
    const rh_key *o;
    for (int i = 0; (o = cli_option_at(command, i)) != NULL; i++)
        if (strlen(o->option) == length && strncmp(o->option, name, length) == 0)
            return o;
    return NULL;
}

static const rh_key *find_letter(const cli_command *command, char letter)
{
    const rh_key *o;
    for (int i = 0; (o = cli_option_at(command, i)) != NULL; i++)
        if (o->letter && o->letter == letter)
            return o;
    return NULL;
}

static int unknown_option(const cli_command *command, const char *name)
{
    const char *known[CLI_MAX_NAMES];
    const rh_key *o;
    int n = 0;
    for (int i = 0; n < CLI_MAX_NAMES && (o = cli_option_at(command, i)) != NULL; i++)
        known[n++] = o->option;
    const char *near = rh_base__suggest(name, known, n);
    if (near)
        cli_refuse("%s: no option '--%s'; did you mean '--%s'?", command->name, name, near);
    else
        cli_refuse("%s: no option '--%s'", command->name, name);
    cli_try("rehearse %s --help", command->name);
    return CLI_USAGE;
}

// ---------------------------------------------------------------------------- values

// A whole number, also as 1e6. False when it is none, or a double would round it.
static bool read_whole(const char *text, int64_t *number)
{
    double x;
    const char *end = text + strlen(text);
    if (rh_number__parse(text, end, &x) != end || !(fabs(x) < 9e15) || x != floor(x))
        return false;
    *number = (int64_t)x;
    return true;
}

static int check_whole(const cli_command *command, cli_given *given)
{
    const rh_key *o = given->option;
    bool whole = read_whole(given->value, &given->number);
    if (whole && given->number >= o->lo && given->number <= o->hi)
        return CLI_OK;
    if (o->hi == INT64_MAX)
        return cli_refuse("%s: --%s = %s, expected a whole number, %" PRId64 " or more",
                          command->name, o->option, given->value, o->lo);
    return cli_refuse("%s: --%s = %s, expected a whole number, %s to %s", command->name,
                      o->option, given->value, cli_count(o->lo).s, cli_count(o->hi).s);
}

static int check_choice(const cli_command *command, cli_given *given)
{
    const char *name[CLI_MAX_NAMES];
    int n = cli_names(given->option, name);
    for (int i = 0; i < n; i++)
        if (strcmp(name[i], given->value) == 0) {
            given->number = i;
            return CLI_OK;
        }
    rh_error err;
    char what[96];
    snprintf(what, sizeof what, "%s: --%s cannot be", command->name, given->option->option);
    return cli_pass(rh_base__unknown(&err, what, given->value, name, n), &err);
}

bool cli_split(const char *pair, char name[64], const char **value)
{
    const char *equals = strchr(pair, '=');
    if (!equals || equals == pair || equals - pair > 63)
        return false;
    memcpy(name, pair, (size_t)(equals - pair));
    name[equals - pair] = 0;
    *value = equals + 1;
    return true;
}

// name=value, with a name that was not given before.
static int check_pair(const cli_args *args, const cli_given *given)
{
    char name[64], other[64];
    const char *value, *before;
    const char *option = given->option->option;
    if (!cli_split(given->value, name, &value) || !*value)
        return cli_refuse("%s: --%s %s, expected %s", args->command->name, option, given->value,
                          given->option->value);
    for (int at = 0; (before = cli_each(args, option, &at)) != NULL;) {
        cli_split(before, other, &value);
        if (strcmp(name, other) == 0)
            return cli_refuse("%s: --%s %s is given twice: '%s' and '%s'", args->command->name,
                              option, name, before, given->value);
    }
    return CLI_OK;
}

// Check one option by the table, and keep it. The library checks the values of its keys.
static int take(cli_args *args, const rh_key *option, const char *value)
{
    cli_given given = {.option = option, .value = value};
    int rc = CLI_OK;
    if (option->type == RH_KEY_PAIRS)
        rc = check_pair(args, &given);
    else if (!option->key && option->type == RH_KEY_WHOLE)
        rc = check_whole(args->command, &given);
    else if (!option->key && rh_key_name(option, 0))
        rc = check_choice(args->command, &given);
    if (!rc)
        args->given[args->ngiven++] = given;
    return rc;
}

// ---------------------------------------------------------------------------- the line

// Where the line is read: argv[i].
typedef struct cursor {
    char **argv;
    int argc, i;
} cursor;

// The next argument as the value of an option, or NULL when there is none.
static const char *next_value(cursor *c)
{
    const char *next = c->i + 1 < c->argc ? c->argv[c->i + 1] : NULL;
    if (!next || strncmp(next, "--", 2) == 0)
        return NULL;
    c->i++;
    return next;
}

static int needs_value(const cli_command *command, const rh_key *option)
{
    cli_refuse("%s: --%s needs a value: --%s %s", command->name, option->option, option->option,
               option->value);
    cli_try("rehearse %s --help", command->name);
    return CLI_USAGE;
}

static int read_long(cli_args *args, cursor *c)
{
    const char *name = c->argv[c->i] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const rh_key *option = find_long(args->command, name, length);
    if (!option) {
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)length, name);
        return unknown_option(args->command, word);
    }

    if (!option->value && equals)
        return cli_refuse("%s: --%s takes no value", args->command->name, option->option);
    const char *value = NULL;
    if (option->value) {
        value = equals ? equals + 1 : next_value(c);
        if (!value)
            return needs_value(args->command, option);
    }
    return take(args, option, value);
}

static int read_letters(cli_args *args, cursor *c)
{
    for (const char *letter = c->argv[c->i] + 1; *letter; letter++) {
        const rh_key *option = find_letter(args->command, *letter);
        if (!option) {
            cli_refuse("%s: no option '-%c'", args->command->name, *letter);
            cli_try("rehearse %s --help", args->command->name);
            return CLI_USAGE;
        }
        if (!option->value) {
            int rc = take(args, option, NULL);
            if (rc)
                return rc;
            continue;
        }
        const char *value = letter[1] ? letter + 1 : next_value(c);
        return value ? take(args, option, value) : needs_value(args->command, option);
    }
    return CLI_OK;
}

static bool help_is_asked(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

int cli_args_init(cli_args *args, const cli_command *command, int argc, char **argv)
{
    *args = (cli_args){.command = command};
    args->help = help_is_asked(argc, argv);
    if (args->help)
        return CLI_OK;

    // an argument holds at most one option for each of its characters
    size_t most = 1;
    for (int i = 0; i < argc; i++)
        most += strlen(argv[i]) + 1;
    args->given = rh_alloc(most, sizeof *args->given);
    args->word = rh_alloc(most, sizeof *args->word);
    if (!args->given || !args->word)
        return cli_fail("out of memory");

    bool operands = false;
    int rc = CLI_OK;
    for (cursor c = {argv, argc, 0}; !rc && c.i < argc; c.i++) {
        const char *text = argv[c.i];
        if (operands || text[0] != '-' || !text[1])
            args->word[args->nword++] = text;
        else if (strcmp(text, "--") == 0)
            operands = true;
        else
            rc = text[1] == '-' ? read_long(args, &c) : read_letters(args, &c);
    }
    return rc;
}

void cli_args_clear(cli_args *args)
{
    rh_free(args->given);
    rh_free(args->word);
}

// ---------------------------------------------------------------------------- asking

static const cli_given *last_given(const cli_args *args, const char *name)
{
    assert(find_long(args->command, name, strlen(name))); // a word the table does not have
    for (int i = args->ngiven - 1; i >= 0; i--)
        if (strcmp(args->given[i].option->option, name) == 0)
            return &args->given[i];
    return NULL;
}

bool cli_has(const cli_args *args, const char *name)
{
    return last_given(args, name) != NULL;
}

const char *cli_value(const cli_args *args, const char *name)
{
    const cli_given *given = last_given(args, name);
    return given ? given->value : NULL;
}

int64_t cli_number(const cli_args *args, const char *name, int64_t otherwise)
{
    const cli_given *given = last_given(args, name);
    return given ? given->number : otherwise;
}

const char *cli_each(const cli_args *args, const char *name, int *at)
{
    for (; *at < args->ngiven; (*at)++)
        if (strcmp(args->given[*at].option->option, name) == 0)
            return args->given[(*at)++].value;
    return NULL;
}
