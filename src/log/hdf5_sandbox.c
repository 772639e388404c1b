// hdf5_sandbox.c - rehearse-hdf5 gives up what it does not need before it looks at the log.
//
// 1. Limits that every system has: no more descriptors than the four that are open, so no file
//    can be opened; no file can grow; processor time and memory in proportion to the log. A
//    second for every half megabyte is some forty times what reading takes; 16 times the size
//    and a gigabyte is room for the chunks of well packed data.
// 2. On Linux (x86-64, AArch64) a seccomp filter allows the calls that memory and the open
//    descriptors need. All others fail with EPERM: a call that a newer libc tries first must
//    not end the helper.
// 3. libhdf5 reads the log through a driver of our own that uses an open descriptor. Drivers of
//    libhdf5 open files by name.

#include "hdf5_helper.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined __linux__ && defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __linux__ && defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#define LEAST_SECONDS 8
#define BYTES_A_SECOND (UINT64_C(1) << 19)
#define LEAST_MEMORY (UINT64_C(1) << 30)
#define MEMORY_A_BYTE 16

#ifndef RH_SANITIZED // with sanitizers the shadow memory alone is terabytes
#define RH_SANITIZED 0
#endif

static uint64_t log_size;

// ---------------------------------------------------------------------------- limits

static void limit(int what, uint64_t most)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)what, &now) != 0)
        return;
    if (now.rlim_max == RLIM_INFINITY || now.rlim_max > most)
        now.rlim_max = (rlim_t)most;
    now.rlim_cur = now.rlim_max;
    setrlimit((__rlimit_resource_t)what, &now);
}

#ifdef ARCHITECTURE
static void filter_calls(void)
{
    static const int allowed[] = {
        SYS_read,        SYS_write,   SYS_pread64,        SYS_lseek,        SYS_fstat,
        SYS_brk,         SYS_mmap,    SYS_munmap,         SYS_mremap,       SYS_mprotect,
        SYS_madvise,     SYS_futex,   SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_rt_sigreturn,
        SYS_sigaltstack, SYS_getpid,  SYS_gettid,         SYS_tgkill,       SYS_clock_gettime,
        SYS_getrandom,   SYS_sysinfo, SYS_exit,           SYS_exit_group,
    };
    enum { N = (int)(sizeof allowed / sizeof *allowed) };
    enum { HEAD = 4 }; // the architecture first: other ones number calls differently
    struct sock_filter code[HEAD + N + 2] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        [HEAD + N] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1U),
        [HEAD + N + 1] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    for (int i = 0; i < N; i++)
        code[HEAD + i] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], (uint8_t)(N - i), 0);
    struct sock_fprog program = {HEAD + N + 2, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
static void filter_calls(void)
{
}
#endif

void rh_helper__confine(uint64_t size)
{
    log_size = size;
    size = size < UINT64_C(1) << 50 ? size : UINT64_C(1) << 50;
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NOFILE, RH_WIRE__LOG + 1);
    limit(RLIMIT_CPU, LEAST_SECONDS + size / BYTES_A_SECOND);
    if (!RH_SANITIZED)
        limit(RLIMIT_AS, LEAST_MEMORY + size * MEMORY_A_BYTE);
    filter_calls();
}

// ---------------------------------------------------------------------------- the driver

typedef struct descriptor {
    H5FD_t base; // first: libhdf5 fills it in
    haddr_t eoa, eof;
} descriptor;

static H5FD_t *open_log(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    (void)name, (void)access, (void)most;
    if (flags & H5F_ACC_RDWR)
        return NULL;
    descriptor *d = calloc(1, sizeof *d);
    if (d)
        d->eof = (haddr_t)log_size;
    return (H5FD_t *)d;
}

static herr_t close_log(H5FD_t *file)
{
    free(file);
    return 0;
}

// Metadata and small pieces of data are read ahead, as with libhdf5's own drivers.
static herr_t query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE;
    return 0;
}

static haddr_t get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const descriptor *)file)->eoa;
}

static herr_t set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t at)
{
    (void)type;
    ((descriptor *)file)->eoa = at;
    return 0;
}

static haddr_t get_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const descriptor *)file)->eof;
}

// Bytes after the end of the file are 0, as with libhdf5's own drivers.
static herr_t read_log(H5FD_t *file, H5FD_mem_t type, hid_t how, haddr_t at, size_t n, void *to)
{
    (void)type, (void)how;
    const descriptor *d = (const descriptor *)file;
    unsigned char *byte = to;
    if (at > INT64_MAX || n > INT64_MAX - at || at + n > d->eoa)
        return -1;
    while (n > 0) {
        ssize_t got = pread(RH_WIRE__LOG, byte, n, (off_t)at);
        if (got < 0)
            return -1;
        if (got == 0) {
            memset(byte, 0, n);
            return 0;
        }
        byte += got;
        at += (haddr_t)got;
        n -= (size_t)got;
    }
    return 0;
}

static herr_t write_log(H5FD_t *file, H5FD_mem_t type, hid_t how, haddr_t at, size_t n,
                        const void *from)
{
    (void)file, (void)type, (void)how, (void)at, (void)n, (void)from;
    return -1;
}

hid_t rh_helper__driver(void)
{
    static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
        .version = H5FD_CLASS_VERSION,
        .value = (H5FD_class_value_t)511,
#endif
        .name = "rehearse",
        .maxaddr = INT64_MAX,
        .fc_degree = H5F_CLOSE_STRONG,
        .open = open_log,
        .close = close_log,
        .query = query,
        .get_eoa = get_eoa,
        .set_eoa = set_eoa,
        .get_eof = get_eof,
        .read = read_log,
        .write = write_log,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), id = H5FDregister(&driver);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    if (id < 0 || H5Pset_driver(access, id, NULL) < 0)
        return -1;
    return access;
}
