// log_args.c - the options for reading a log, shared by all commands that read one. They are
// the library's rows and override the file of roles.

#include "cli_internal.h"

#include "base/text.h"

#include <string.h>

static const rh_key option[] = {
    {NULL, "roles", 0, RH_KEY_FILE, "FILE", "a YAML file with these options as keys",
     .group = RH_KEY_LOG},
    {0},
};

const cli_group cli_log_group = {"log (detected where not given)", option};

const char *cli_value_of(const cli_args *args, const rh_key *key, char **joined)
{
    rh_text text = {0};
    const char *one;
    if (!key->repeats)
        return cli_value(args, key->option);
    for (int at = 0; (one = cli_each(args, key->option, &at)) != NULL;)
        rh_text__format(&text, "%s%s", text.n ? "; " : "", one);
    *joined = text.data;
    return text.data;
}

static int read_options(const cli_args *args, rh_log_roles *roles)
{
    const rh_key *key;
    rh_status rc = RH_OK;
    rh_error err;
    for (int i = 0; !rc && (key = rh_log_key_at(i)) != NULL; i++) {
        if (!key->option)
            continue;
        char *joined = NULL, where[64];
        const char *value = cli_value_of(args, key, &joined);
        snprintf(where, sizeof where, "%.20s: --%.30s", args->command->name, key->option);
        if (value)
            rc = rh_log_roles_set(roles, key->key, value, where, &err);
        rh_free(joined);
    }
    return cli_pass(rc, &err);
}

bool cli_is_yaml(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

int cli_log_read_as(cli_log *log, const cli_args *args, const char *path, const char *roles)
{
    rh_log_options opt = rh_log_defaults();
    rh_error err;
    *log = (cli_log){0};
    if (!roles)
        roles = cli_value(args, "roles");
    else if (cli_has(args, "roles"))
        return cli_refuse("%s: %s and --roles %s: two files of roles, expected one",
                          args->command->name, roles, cli_value(args, "roles"));
    rh_status rc = rh_log_roles_create(&log->roles, &err);
    if (!rc && roles)
        rc = rh_log_roles_read(log->roles, roles, &err);
    if (rc)
        return cli_pass_file(rc, &err);
    if (!path)
        path = rh_log_roles_path(log->roles);
    if (!path)
        return cli_refuse("%s: no path: in it, expected the log's", roles);
    int code = read_options(args, log->roles);
    if (code)
        return code;
    rh_log_roles_apply(log->roles, &opt);
    cli_work work;
    opt.watch = cli_work_show(&work, !cli_is_terminal(stderr) || cli_has(args, "quiet"));
    rc = rh_log_read(&log->log, path, &opt, &err);
    cli_work_end(&work);
    return cli_pass_file(rc, &err);
}

int cli_log_read(cli_log *log, const cli_args *args, const char *path)
{
    return cli_is_yaml(path) ? cli_log_read_as(log, args, NULL, path)
                             : cli_log_read_as(log, args, path, NULL);
}

void cli_log_clear(cli_log *log)
{
    rh_log_destroy(log->log);
    rh_log_roles_destroy(log->roles);
    *log = (cli_log){0};
}
