// fuzz_hdf5.c - any HDF5 log is refused with a message or read as a valid log.
//
// The log is read by the helper program, so an execution takes some 10 ms and libhdf5's own
// branches are not seen; tests/log/flipped_files checks the program from outside.

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "fuzz_log.h"
#include "rehearse/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t mark[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    char path[] = "/tmp/rehearse-fuzz-XXXXXX";
    if (size < sizeof mark)
        return 0;
    int fd = mkstemp(path);
    require(fd >= 0 && write(fd, mark, sizeof mark) == sizeof mark &&
            write(fd, data + sizeof mark, size - sizeof mark) == (ssize_t)(size - sizeof mark));
    close(fd);
    int64_t live = rh_base__alloc_live();
    rh_error err = {""};
    rh_log *log = NULL;
    rh_status rc = rh_log_read(&log, path, NULL, &err);
    unlink(path);
    require((rc == RH_OK) == (log != NULL));
    require(rc == RH_OK || strstr(err.text, "rehearse-fuzz-"));
    if (log)
        check(log);
    rh_log_destroy(log);
    require(rh_base__alloc_live() == live);
    return 0;
}
