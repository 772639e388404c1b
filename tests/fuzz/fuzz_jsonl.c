// fuzz_jsonl.c - any JSON lines are refused with a message or read as a log with valid indices.

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "fuzz_log.h"
#include "log/log_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rh_log_options opt = rh_log_defaults();
    int64_t live = rh_base__alloc_live();
    rh_error err = {""};
    rh_log *log = NULL;
    int fd = memfd_create("log", 0);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
    rh_status rc = rh_log__jsonl.read_fd(&log, fd, "file", &opt, &err);
    require((rc == RH_OK) == (log != NULL));
    require(rc == RH_OK || strncmp(err.text, "file:", 5) == 0);
    require(!strchr(err.text, '\n'));
    if (log)
        check(log);
    rh_log_destroy(log);
    require(rh_base__alloc_live() == live);
    return 0;
}
