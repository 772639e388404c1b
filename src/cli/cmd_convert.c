// cmd_convert.c - rehearse convert: write a log in another format.

#include "base/text.h"
#include "cli_internal.h"
#include "log/log.h"

#include <sys/stat.h>

const char *cli_write_format(int i)
{
    const rh_log_format *format;
    int n = 0;
    for (int k = 0; (format = rh_log__format_at(k)) != NULL; k++)
        if (format->writes && n++ == i)
            return format->name;
    return NULL;
}

static const rh_key output_option[] = {
    {NULL, "to", 't', RH_KEY_CHOICE, "NAME", .name = cli_write_format,
     .about = "format to write", .initial = "by the extension of OUT"},
    {NULL, "quiet", 'q', RH_KEY_FLAG, NULL, .about = "print nothing"},
    {NULL, "json", 0, RH_KEY_FLAG, NULL, .about = "one JSON document on standard output"},
    {0},
};

static const cli_group output_group = {"output", output_option};

static void report(const rh_log *log, const char *out)
{
    int64_t ndropped = log->reading.nlost + log->reading.nincomplete;
    char to[1024], from[1024], dropped[100] = "", text[2600];
    if (ndropped > 0)
        snprintf(dropped, sizeof dropped, "; %s dropped, see rehearse inspect",
                 cli_count(ndropped).s);
    snprintf(text, sizeof text, "%s: %s step%s in %s episode%s, from %s (%s)%s",
             rh_text__printable(out, to, sizeof to), cli_count(log->n).s, cli_plural(log->n),
             cli_count(log->nepisode).s, cli_plural(log->nepisode),
             rh_text__printable(log->path, from, sizeof from), log->reading.format, dropped);
    cli_wrap(text, 0, cli_page());
}

static void report_json(const cli_log *log, const char *from, const char *out)
{
    struct stat st;
    rh_doc json = {.out = stdout};
    rh_doc__open(&json, NULL, '{', false);
    rh_doc__text(&json, "file", out);
    if (stat(out, &st) == 0)
        rh_doc__whole(&json, "bytes", (int64_t)st.st_size);
    else
        rh_doc__null(&json, "bytes");
    rh_doc__open(&json, "log", '{', false);
    cli_log_json(&json, log->log, from);
    rh_doc__close(&json);
    rh_doc__close(&json);
}

static int convert_main(const cli_args *args)
{
    if (args->nword != 2) {
        cli_refuse("convert: %d file name%s, expected two: a log and the file to write",
                   args->nword, cli_plural(args->nword));
        cli_try("rehearse convert plant.csv plant.npz");
        return CLI_USAGE;
    }

    // refusals before the work
    const char *from = args->word[0], *out = args->word[1], *to = cli_value(args, "to");
    cli_log log = {0};
    rh_error err;
    if (cli_has(args, "json") && cli_has(args, "quiet"))
        return cli_refuse("--json and --quiet cannot be used together");
    if (cli_same_file(from, out)) {
        char shown[1024];
        cli_refuse("%s: the log itself, expected another file to write",
                   rh_text__printable(out, shown, sizeof shown));
        return CLI_USAGE;
    }
    int rc = cli_pass(rh_log__write_check(out, to, &err), &err);
    if (!rc)
        rc = cli_log_read(&log, args, from);
    if (!rc)
        rc = cli_pass_file(rh_log_write(log.log, out, to, &err), &err);
    if (!rc && cli_has(args, "json"))
        report_json(&log, from, out);
    else if (!rc && !cli_has(args, "quiet"))
        report(log.log, out);
    cli_log_clear(&log);
    return rc;
}

const cli_command cli_convert = {
    .name = "convert",
    .about = "Write a log in another format",
    .operands = "LOG OUT",
    .detail =
        "Reads LOG as inspect does and writes OUT: CSV (.csv, .csv.gz, .tsv), NumPy (.npz) "
        "or Minari's HDF5 (.hdf5, .h5). Keeps all that both formats can hold: names, units, "
        "action labels, missing next states, ends of episodes.",
    .operand = {.type = RH_KEY_FILE},
    .group = {&output_group, &cli_log_group, &cli_common_group},
    .example = {"a plant's CSV for NumPy", "rehearse convert plant.csv plant.npz",
                "only some columns, with a computed reward",
                "rehearse convert plant.csv small.csv --obs 'temp,level' --reward -energy"},
    .see = "docs/logs.md",
    .single = true,
    .main = convert_main,
};
