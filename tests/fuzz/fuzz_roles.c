// fuzz_roles.c - any YAML text is refused with a message or gives valid options.

#include <stdlib.h>
#include <string.h>

#include "base/base_internal.h"
#include "log/roles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t live = rh_base__alloc_live();
    rh_error err = {""};
    rh_log_roles *roles = NULL;
    require(rh_log_roles_create(&roles, NULL) == RH_OK);
    rh_status rc = rh_log__roles_parse(roles, data, size, "a/file", &err);
    require(rc == RH_OK || strncmp(err.text, "a/file:", 7) == 0);
    require(!strchr(err.text, '\n'));
    if (rc == RH_OK) {
        rh_log_options opt = rh_log_defaults();
        rh_log_roles_apply(roles, &opt);
        require(opt.max_gap > 0.0 && opt.episode_steps >= 1);
        require(opt.nmissing >= 0 && (opt.nmissing == 0 || opt.missing));
        const char *path = rh_log_roles_path(roles);
        require(!path || path[0] == '/' || strncmp(path, "a/", 2) == 0);
    }
    rh_log_roles_destroy(roles);
    require(rh_base__alloc_live() == live);
    return 0;
}
