// fuzz_packed.c - any bytes that begin like a packed file are refused with a message or
// unpacked to what the limits allow.

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "fuzz_log.h"
#include "log/spool.h"

#define MOST (1 << 20) // bytes of text

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rh_log_options opt = rh_log_defaults();
    int64_t live = rh_base__alloc_live();
    rh_error err = {""};
    if (!rh_spool__unpacks() || !rh_spool__is_packed(data, size))
        return 0;
    opt.max_memory = MOST;
    int packed = memfd_create("log", 0), out = -1;
    require(packed >= 0 && write(packed, data, size) == (ssize_t)size);
    rh_status rc = rh_spool__unpack(packed, "file", &opt, &out, &err);
    require((rc == RH_OK) == (out >= 0));
    require(rc == RH_OK || strncmp(err.text, "file:", 5) == 0);
    require(!strchr(err.text, '\n'));
    if (out >= 0) {
        require(lseek(out, 0, SEEK_END) <= MOST);
        close(out);
    }
    close(packed);
    require(rh_base__alloc_live() == live);
    return 0;
}
