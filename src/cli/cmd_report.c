// cmd_report.c - rehearse report: the page of a study, or of several side by side.
//
// `tune` writes the page when it ends. This command writes it again, from report.json alone: by
// another version, to another place, or for several studies.

#include "cli_internal.h"

#include "base/text.h"
#include "report/report.h"

#include <string.h>
#include <sys/stat.h>

static const rh_key main_option[] = {
    {NULL, "output", 'o', RH_KEY_FILE, "FILE", .about = "the page",
     .initial = "report.html in the study's folder"},
    {NULL, "deployment", 0, RH_KEY_FILE, "FOLDER",
     .about = "show what a deployment of the study earned, beside what was promised"},
    {NULL, "compare", 0, RH_KEY_FLAG, NULL,
     .about = "put several studies side by side; needs --output"},
    {0},
};

static const cli_group main_group = {CLI_MAIN, main_option};

static int check_words(const cli_args *args)
{
    bool compare = cli_has(args, "compare");
    if (!compare && args->nword != 1) {
        cli_refuse("report: %d names, expected one: the folder of a study", args->nword);
        cli_try(args->nword > 1 ? "rehearse report --compare A.study B.study -o compared.html"
                                : "rehearse report plant.study");
        return CLI_USAGE;
    }
    if (compare && (args->nword < 2 || args->nword > RH_REPORT_MOST)) {
        cli_refuse("report: --compare with %d name%s, expected 2 to %d folders of studies",
                   args->nword, cli_plural(args->nword), RH_REPORT_MOST);
        return CLI_USAGE;
    }
    if (compare && cli_has(args, "deployment"))
        return cli_refuse("report: --compare with --deployment, expected one of them");
    if (compare && !cli_has(args, "output"))
        return cli_refuse("report: --compare without --output, expected a file for the page");
    for (int i = 0; i < args->nword; i++) {
        struct stat there;
        if (stat(args->word[i], &there) == 0 && !S_ISDIR(there.st_mode)) {
            cli_refuse("%s: is a file, expected the folder of a study", args->word[i]);
            cli_try("rehearse tune writes one; its name ends with .study");
            return CLI_USAGE;
        }
        if (stat(args->word[i], &there) != 0)
            return cli_refuse("%s: no such folder, expected that of a study", args->word[i]);
    }
    return CLI_OK;
}

static int report_main(const cli_args *args)
{
    int rc = check_words(args);
    if (rc)
        return rc;
    const char *output = cli_value(args, "output"), *deployment = cli_value(args, "deployment");
    rh_text path = {0};
    rh_error err;
    if (output)
        rh_text__add(&path, output);
    else
        rh_text__format(&path, "%s/" RH_REPORT_PAGE, args->word[0]);
    if (path.bad)
        rc = cli_fail("out of memory");
    else
        rc = cli_file_probe(path.n ? path.data : "", false);
    if (!rc)
        rc = cli_pass_file(
            deployment ? rh_report__write_deployed(path.data, args->word[0], deployment, &err)
                       : rh_report_write(path.data, args->word, args->nword, 0, &err),
            &err);
    if (!rc)
        printf("%s\n", path.data);
    rh_text__clear(&path);
    return rc;
}

const cli_command cli_report = {
    .name = "report",
    .about = "Write the page of a study, to look at its result in a browser",
    .operands = "STUDY [options]",
    .detail =
        "STUDY is the folder of a study. The page is one file without a network: the setting "
        "to deploy, how it learns, which hyperparameters matter, how the search went, the "
        "models, the log, and how all was made. `tune` writes it too, as report.html in the "
        "folder.",
    .operand = {.type = RH_KEY_FILE},
    .group = {&main_group, &cli_common_group},
    .example = {"write plant.study/report.html again", "rehearse report plant.study",
                "promised, earned and next",
                "rehearse report plant.study --deployment best.deploy",
                "two studies side by side",
                "rehearse report --compare a.study b.study -o compared.html"},
    .see = "docs/report.md explains the page.",
    .main = report_main,
};
