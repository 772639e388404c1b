// fuzz_journal.c - any bytes as a journal: read up to the last complete line, or refused with a
// message of one line. Lines that end with ,"crc":"12345678"} get the correct checksum first,
// or nothing would pass.

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "study/journal.h"
#include "study/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void seal(char *line, size_t n, uint32_t *crc)
{
    char right[RH_JOURNAL__SEAL + 1];
    if (n < RH_JOURNAL__SEAL || memcmp(line + n - RH_JOURNAL__SEAL, ",\"crc\":\"", 8) != 0)
        return;
    *crc = rh_base__crc32(*crc, line, n - RH_JOURNAL__SEAL);
    snprintf(right, sizeof right, ",\"crc\":\"%08x\"}", (unsigned)*crc);
    memcpy(line + n - RH_JOURNAL__SEAL, right, RH_JOURNAL__SEAL);
}

// A study of two parameters, with learning curves of two points.
static rh_plan one_number(rh_plan__book *book)
{
    static char key[] = "runs", value[] = "10";
    static rh_plan__line line[] = {{.key = key, .value = value}};
    static const double lists[] = {1, 2, 3};
    *book = (rh_plan__book){.line = line, .nline = 1};
    rh_plan plan = {.ncurve = 2, .book = book};
    plan.space.ndim = 2;
    plan.space.dim[0] = (rh_dim){.name = "a", .kind = RH_DIM_RANGE, .hi = 1.0};
    plan.space.dim[1] = (rh_dim){.name = "b", .kind = RH_DIM_LIST, .value = lists, .nvalue = 3};
    return plan;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t live = rh_base__alloc_live(), whole = -1, torn = -1;
    rh_error err = {""};
    rh_plan__book book;
    rh_plan plan = one_number(&book);
    rh_journal__head head = {.name = "s", .log = "l", .plan = &plan, .ncurve = 2, .nstep = 10};
    char *bytes = malloc(size + 1);
    require(bytes != NULL);
    memcpy(bytes, data, size);
    uint32_t crc = 0;
    for (size_t i = 0, first = 0; i < size; i++)
        if (bytes[i] == '\n') {
            seal(bytes + first, i - first, &crc);
            first = i + 1;
        }
    int fd = memfd_create("journal", 0);
    require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);

    rh_replay replay;
    rh_replay__init(&replay, &head, "a/file");
    rh_status rc = rh_replay__read(&replay, fd, 0, -1, &whole, &torn, &err);
    require(rc == RH_OK || strncmp(err.text, "a/file:", 7) == 0);
    require(!strchr(err.text, '\n'));
    require(whole >= 0 && whole <= (int64_t)size);
    require(rc || whole == 0 || bytes[whole - 1] == '\n');
    require(rc || whole + torn == (int64_t)size);
    for (int i = 0; i < replay.ntrial; i++) {
        require(replay.owner[replay.trial[i].id] == i);
        require(replay.trial[i].x || rc); // NULL: out of memory
        require(!replay.trial[i].x ||
                (replay.trial[i].x[1] >= 1.0 && replay.trial[i].x[1] <= 3.0));
        for (int k = 0; k < replay.trial[i].nrun; k++)
            require(replay.trial[i].run[k].member < RH_MAX_MEMBER);
    }
    rh_replay__clear(&replay);
    close(fd);
    free(bytes);
    require(rh_base__alloc_live() == live);
    return 0;
}
