// fuzz_csv.c - any text is refused with a message or read as a log with valid indices. The
// first byte chooses the options.

#include <stdlib.h>
#include <string.h>

#include "base/base_internal.h"
#include "fuzz_log.h"
#include "log/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double missing[] = {-1.0, 9999.0};
    rh_log_options opt = rh_log_defaults();
    uint8_t choice = size ? data[0] : 0;
    data += size > 0;
    size -= size > 0;
    if (choice & 1)
        opt.reward_of = RH_REWARD_OF_STATE;
    if (choice & 2)
        opt.action_kind = choice & 4 ? RH_ACTION_DISCRETE : RH_ACTION_CONTINUOUS;
    else if (choice & 4)
        opt.actions = "0,1,on,off";
    if (choice & 8) {
        opt.missing = missing;
        opt.nmissing = 2;
        opt.max_gap = 10.0;
    }
    if (choice & 16)
        opt.episode_steps = 2;
    if (choice & 32)
        opt.reward = "-r + 0.5*s0";
    if (choice & 64)
        opt.obs = "s*";
    if (choice & 128) { // as spreadsheets write them
        opt.decimal = choice & 1 ? RH_DECIMAL_COMMA : RH_DECIMAL_AUTO;
        opt.dates = choice & 2 ? RH_DATES_DAY_FIRST : RH_DATES_AUTO;
        opt.missing_words = "Bad,No Data";
    }
    if ((choice & 0xc0) == 0xc0) { // as historians do
        opt.pivot = "tag,value";
        opt.every = choice & 4 ? 10.0 : (double)NAN;
        opt.pivot_value = (rh_pivot_value)((choice >> 3) % 3);
        opt.skip = choice & 32 ? 1 : RH_SKIP_AUTO;
        opt.obs = opt.reward = opt.actions = NULL;
    }

    int64_t live = rh_base__alloc_live();
    rh_error err = {""};
    rh_log *log = NULL;
    rh_status rc = rh_csv__read_bytes(&log, data, size, "file", &opt, &err);
    require((rc == RH_OK) == (log != NULL));
    require(rc == RH_OK || strncmp(err.text, "file:", 5) == 0);
    require(!strchr(err.text, '\n'));
    if (log)
        check(log);
    rh_log_destroy(log);
    require(rh_base__alloc_live() == live);
    return 0;
}
