// test_hdf5.c - the helper program that reads and writes HDF5 files: its limits, and what
// becomes of one that is missing, ends early or lies.

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "log/hdf5.h"
#include "log/hdf5_spawn.h"
#include "log/sample.h"

// ---------------------------------------------------------------------------- the real one

// The first child of this process, 0 if there is none.
static int child(void)
{
    int pid = 0;
    FILE *f = fopen("/proc/thread-self/children", "r");
    if (f && fscanf(f, "%d", &pid) != 1)
        pid = 0;
    if (f)
        fclose(f);
    return pid;
}

static bool says(int pid, const char *file, const char *line)
{
    char path[64], text[200];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(text, sizeof text, f))
        found = strncmp(text, line, strlen(line)) == 0;
    if (f)
        fclose(f);
    return found;
}

static int count_descriptors(void)
{
    int n = 0;
    DIR *all = opendir("/proc/self/fd");
    while (all && readdir(all))
        n++;
    if (all)
        closedir(all);
    return n;
}

static void it_is_confined(void **unused)
{
    (void)unused;
    rh_hdf5 *file = NULL;
    rh_error err = {""};
    int before = count_descriptors();
    assert_int_equal(rh_hdf5__open(&file, sample_path("d4rl.hdf5"), &err), RH_OK);
    int pid = child();
    if (pid > 0) { // a system with /proc
        assert_true(says(pid, "status", "Seccomp:\t2") || !says(pid, "status", "Seccomp:"));
        assert_true(says(pid, "status", "NoNewPrivs:\t1"));
        assert_true(says(pid, "limits", "Max open files            4 "));
        assert_true(says(pid, "limits", "Max file size             0 "));
        assert_true(says(pid, "limits", "Max cpu time              8 "));
    }
    rh_hdf5__close(file);

    // no process and no descriptor is left
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(count_descriptors(), before);
}

static void *read_in_thread(void *path)
{
    rh_log *log = NULL;
    for (int i = 0; i < 5; i++) {
        rh_log_destroy(log);
        log = NULL;
        if (rh_log_read(&log, path, NULL, NULL) != RH_OK)
            return NULL;
    }
    return log;
}

static void threads_read_at_once(void **unused)
{
    (void)unused;
    char path[2][300];
    pthread_t thread[4];
    snprintf(path[0], sizeof path[0], "%s", sample_path("d4rl.hdf5"));
    snprintf(path[1], sizeof path[1], "%s", sample_path("minari_04.hdf5"));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, read_in_thread, path[i % 2]), 0);
    for (int i = 0; i < 4; i++) {
        void *log = NULL;
        pthread_join(thread[i], &log);
        assert_non_null(log);
        compare_with_expected(log, i % 2 ? "minari_04.hdf5" : "d4rl.hdf5");
        rh_log_destroy(log);
    }
}

// ---------------------------------------------------------------------------- other ones

// What the program says where its helper is this shell script; NULL: there is no helper. It
// reads an HDF5 log, or writes one.
static void with_helper(bool writes, const char *script, const char *words)
{
    char program[300], helper[300], command[2000], said[2000], written[300];
    snprintf(written, sizeof written, "%s", in_folder("written.h5"));
    snprintf(program, sizeof program, "%s", in_folder("rehearse"));
    snprintf(helper, sizeof helper, "%s", in_folder("rehearse-hdf5"));
    if (script) {
        spill(helper, script, strlen(script));
        assert_int_equal(chmod(helper, 0700), 0);
    }
    snprintf(command, sizeof command, "cp '%s' '%s' && timeout 20 '%s' %s '%s' '%s' 2>&1",
             RH_PROGRAM, program, program, writes ? "convert" : "inspect",
             sample_path(writes ? "plain.npz" : "d4rl.hdf5"), writes ? written : "-q");
    FILE *run = popen(command, "r");
    assert_non_null(run);
    size_t n = fread(said, 1, sizeof said - 1, run);
    said[n] = 0;
    int status = pclose(run);
    if (!strstr(said, words) || !WIFEXITED(status) || WEXITSTATUS(status) == 0)
        fail_msg("status %d, '%s' not in: %s", status, words, said);
    assert_int_equal(access(written, F_OK), -1);
    remove(program);
    remove(helper);
}

static void bad_helpers(void **unused)
{
    (void)unused;
    with_helper(false, NULL,
                "d4rl.hdf5: cannot start the program rehearse-hdf5 that reads HDF5: "
                "No such file or directory; expected it in /tmp/rehearse-log-");
    with_helper(false, "#!/bin/sh\nexit 7\n", "damaged: rehearse-hdf5 ended with status 7");
    with_helper(false, "#!/bin/sh\nkill -SEGV $$\n", "damaged: libhdf5 crashed (signal 11)");
    with_helper(false, "#!/bin/sh\nkill -XCPU $$\n", "damaged: libhdf5 takes too long");
    with_helper(false, "#!/bin/sh\nhead -c 100 /dev/zero >&0\nsleep 5\n",
                "damaged: its reader sent an answer that makes no sense");
    // a sound greeting, then an answer with a kind that there is not
    with_helper(false,
                "#!/bin/sh\n"
                "printf '\\001\\000HR\\000\\000\\000\\000' >&0\nhead -c 32 /dev/zero >&0\n"
                "printf '\\001\\000HR\\000\\000\\000\\000\\377\\377' >&0\n"
                "head -c 30 /dev/zero >&0\nsleep 5\n",
                "damaged: its reader sent an answer that makes no sense");
    // more bytes than there can be
    with_helper(false,
                "#!/bin/sh\n"
                "printf '\\001\\000HR\\000\\000\\000\\000' >&0\nhead -c 24 /dev/zero >&0\n"
                "printf '\\377\\377\\377\\377\\377\\377\\377\\377' >&0\nsleep 5\n",
                "damaged: its reader sent an answer that makes no sense");
}

// Wait until a process is gone, or only its entry is left.
static bool is_gone(pid_t pid)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    for (int i = 0; i < 500; i++) {
        FILE *file = fopen(path, "r");
        bool there = file && fgets(line, sizeof line, file) && !strstr(line, ") Z ");
        if (file)
            fclose(file);
        if (!there)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return false;
}

// A helper that does not end by itself is ended, with what it started.
static void stubborn_helpers(void **unused)
{
    (void)unused;
    for (int now = 0; now < 2; now++) {
        int pipe_of[2];
        pid_t child = 0, helper;
        char how[100];
        assert_int_equal(pipe(pipe_of), 0);
        helper = fork();
        if (helper == 0) {
            setpgid(0, 0);
            child = fork();
            if (child > 0 && write(pipe_of[1], &child, sizeof child) < 0)
                _exit(1);
            for (;;)
                pause();
        }
        assert_true(helper > 0);
        assert_int_equal(read(pipe_of[0], &child, sizeof child), sizeof child);
        close(pipe_of[0]);
        close(pipe_of[1]);
        rh_spawn spawn = {.pid = helper, .socket = -1};
        rh_spawn__end(&spawn, now, how, sizeof how);
        assert_string_equal(how, "libhdf5 takes too long");
        assert_true(is_gone(helper));
        assert_true(is_gone(child));
    }
    // how long its answers are waited for
    rh_spawn spawn;
    struct timeval patience;
    socklen_t size = sizeof patience;
    char how[100];
    assert_int_equal(rh_spawn__read(&spawn, sample_path("d4rl.hdf5"), NULL), RH_OK);
    assert_int_equal(getsockopt(spawn.socket, SOL_SOCKET, SO_RCVTIMEO, &patience, &size), 0);
    assert_int_equal(patience.tv_sec, 30);
    rh_spawn__end(&spawn, true, how, sizeof how);
}

// The first child of this process.
static pid_t first_child(void)
{
    char path[64];
    int pid = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%d", &pid) != 1)
        pid = 0;
    if (file)
        fclose(file);
    return pid;
}

// A helper that falls silent while a file is read is ended after its time, here 50 ms.
static void silent_helper(void **unused)
{
    (void)unused;
    rh_hdf5 *file = NULL;
    rh_error err = {""};
    const struct timeval patience = {.tv_usec = 50000};
    char **name = NULL;
    int64_t n = 0;
    int nshort = 0;
    assert_int_equal(rh_hdf5__open(&file, sample_path("d4rl.hdf5"), &err), RH_OK);
    pid_t helper = first_child();
    if (!helper) { // a kernel that does not list children
        rh_hdf5__close(file);
        skip();
    }
    for (int fd = 3; fd < 1000; fd++)
        nshort += setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0;
    assert_true(nshort > 0);
    assert_int_equal(kill(helper, SIGSTOP), 0);
    assert_int_equal(rh_hdf5__names(file, "/", 100, &name, &n, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "damaged: its reader did not answer for 30 s"));
    assert_true(is_gone(helper));
    assert_int_equal(rh_hdf5__names(file, "/", 100, &name, &n, &err), RH_EFORMAT); // at once
    rh_hdf5__close(file);
}

static void bad_writers(void **unused)
{
    (void)unused;
    with_helper(true, NULL,
                "written.h5: cannot start the program rehearse-hdf5 that writes HDF5: "
                "No such file or directory; expected it in /tmp/rehearse-log-");
    with_helper(true, "#!/bin/sh\nexit 7\n",
                "written.h5: cannot write: rehearse-hdf5 ended with status 7");
    with_helper(true, "#!/bin/sh\nexit 3\n", "written.h5: cannot write: the disk may be full");
    with_helper(true, "#!/bin/sh\nkill -SEGV $$\n",
                "written.h5: cannot write: libhdf5 crashed (signal 11)");
    with_helper(true, "#!/bin/sh\nhead -c 100 /dev/zero >&0\nsleep 5\n",
                "written.h5: cannot write: ");
    // the file is begun, and then nobody reads what is sent
    with_helper(true,
                "#!/bin/sh\n"
                "printf '\\001\\000HR\\000\\000\\000\\000' >&0\n"
                "head -c 32 /dev/zero >&0\nexit 1\n",
                "written.h5: cannot write: rehearse-hdf5 ended with status 1");
}

// ---------------------------------------------------------------------------- large arrays

enum { WIDTH = 3, LARGE = 300000 };

static void number_row(const void *self, int64_t i, double *x)
{
    int n = *(const int *)self;
    for (int k = 0; k < n; k++)
        x[k] = (double)((i * n + k) % 1001);
}

static void flag_row(const void *self, int64_t i, double *x)
{
    (void)self;
    *x = i % 3 == 0;
}

// Arrays that are sent and written in many pieces.
static void large_arrays_come_back(void **unused)
{
    (void)unused;
    static const int width[] = {WIDTH, 1, 1};
    const rh_hdf5__rows rows[] = {
        {"a/numbers", RH_HDF5_DOUBLE, LARGE, WIDTH, number_row, &width[0]},
        {"a/whole", RH_HDF5_INT64, LARGE, 0, number_row, &width[1]},
        {"flags", RH_HDF5_BOOL, LARGE * 2, 0, flag_row, &width[2]},
    };
    rh_hdf5__out *out = NULL;
    rh_hdf5 *file = NULL;
    rh_error err = {""};
    char path[300];
    snprintf(path, sizeof path, "%s", in_folder("large.h5"));
    assert_int_equal(rh_hdf5__create(&out, path, path, &err), RH_OK);
    for (int i = 0; i < 3; i++)
        rh_hdf5__put_rows(out, &rows[i]);
    assert_int_equal(rh_hdf5__end(out, &err), RH_OK);
    assert_int_equal(rh_hdf5__open(&file, path, &err), RH_OK);
    for (int i = 0; i < 3; i++) {
        rh_array array = {.nrow = 0};
        assert_int_equal(rh_hdf5__numbers(&array, file, rows[i].name, &err), RH_OK);
        assert_int_equal(array.nrow, rows[i].nrow);
        assert_int_equal(array.width, width[i]);
        for (int64_t r = 0; r < array.nrow; r++) {
            const double *x = NULL;
            double want[WIDTH];
            assert_int_equal(rh_array__row(&array, r, &x, &err), RH_OK);
            rows[i].row(rows[i].self, r, want);
            assert_memory_equal(x, want, (size_t)width[i] * sizeof *x);
        }
        rh_array__clear(&array);
    }
    rh_hdf5__close(file);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_confined),
        cmocka_unit_test(threads_read_at_once),
        cmocka_unit_test(bad_helpers),
        cmocka_unit_test(stubborn_helpers),
        cmocka_unit_test(silent_helper),
        cmocka_unit_test(bad_writers),
        cmocka_unit_test(large_arrays_come_back),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
