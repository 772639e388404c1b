// inspect_json.c - the report of `inspect` in JSON; null for what is not known.

#include "cli_internal.h"
#include "log/log.h"

#include <string.h>

void cli_inspect_json(FILE *out, const rh_log *log, const rh_log_report *r,
                      const rh_facts *facts, const rh_experiments *experiments, int64_t size)
{
    rh_doc json = {.out = out};
    rh_names names = rh_log_names(log);
    rh_fields head = *rh_log_report_fields(), rest = head;
    head.nfield = 0; // facts are between the columns and the tests of order
    while (strcmp(head.field[head.nfield].name, "duplicates") != 0)
        head.nfield++;
    rest.field += head.nfield;
    rest.nfield -= head.nfield;

    rh_doc__open(&json, NULL, '{', false);
    rh_doc__text(&json, "version", rh_version());
    rh_doc__open(&json, "log", '{', false);
    cli_log_json(&json, log, log->path);
    rh_doc__whole(&json, "bytes", size);
    rh_doc__close(&json);
    rh_field__write(&json, "reading", rh_log__reading_fields(), &log->reading, NULL);
    rh_field__write_within(&json, &head, r, &names);
    rh_field__write(&json, "facts", rh_facts_fields(), facts, &names);
    rh_field__write(&json, "experiments", rh_experiments__fields(), facts ? experiments : NULL,
                    &names);
    rh_field__write_within(&json, &rest, r, &names);
    rh_doc__close(&json);
}
