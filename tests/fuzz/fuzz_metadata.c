// fuzz_metadata.c - any metadata of a Minari dataset is refused with a message or gives valid
// spaces.
//
// The first byte chooses: metadata.json, a space, or our own names.

#include <stdlib.h>
#include <string.h>

#include "base/base_internal.h"
#include "log/metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_space(const rh_minari__space *space)
{
    require(space->nleaf >= 0 && space->nleaf <= RH_MAX_OBS);
    for (int i = 0; i < space->nleaf; i++) {
        const rh_log__leaf *leaf = &space->leaf[i];
        require(memchr(leaf->path, 0, sizeof leaf->path) &&
                memchr(leaf->name, 0, sizeof leaf->name));
        require(leaf->kind != RH_SPACE_UNKNOWN);
        require(leaf->width > 0 || leaf->kind == RH_SPACE_TEXT);
        require(leaf->kind != RH_SPACE_DISCRETE || leaf->n > 0);
    }
}

static void check_texts(char *const *text, int n)
{
    require((text != NULL) == (n > 0) && n <= RH_MAX_OBS);
    for (int i = 0; i < n; i++)
        require(text[i] != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const char *text = (const char *)data + 1;
    int64_t live = rh_base__alloc_live();
    rh_error err = {"m.json"};
    rh_metadata metadata = {0};
    rh_metadata__own own = {0};
    rh_status rc = RH_OK;
    if (data[0] % 3 == 0) {
        rc = rh_metadata__parse(&metadata, text, size - 1, "m.json", &err);
    } else if (data[0] % 3 == 1) {
        rc = rh_metadata__parse_space(&metadata.action, text, size - 1, "m.json", &err);
    } else {
        rc = rh_metadata__parse_own(&own, text, size - 1, "m.json", &err);
    }
    require(rc == RH_OK || rc == RH_EFORMAT);
    require(strncmp(err.text, "m.json", 6) == 0 && !strchr(err.text, '\n'));
    check_space(&metadata.observation);
    check_space(&metadata.action);
    check_texts(own.label, own.nlabel);
    check_texts(own.obs_name, own.nobs_name);
    rh_metadata__clear(&metadata);
    rh_metadata__clear_own(&own);
    require(rh_base__alloc_live() == live);
    return 0;
}
