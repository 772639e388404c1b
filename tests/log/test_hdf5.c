// test_hdf5.c - the helper program that reads HDF5 logs: its limits, and what becomes of one
// that is missing, ends early or lies.

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

#include "log/hdf5.h"
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
    assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
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

// What the program says where its helper is this shell script; NULL: there is no helper.
static void with_helper(const char *script, const char *words)
{
    char program[300], helper[300], command[1500], said[2000];
    snprintf(program, sizeof program, "%s", in_folder("rehearse"));
    snprintf(helper, sizeof helper, "%s", in_folder("rehearse-hdf5"));
    if (script) {
        spill(helper, script, strlen(script));
        assert_int_equal(chmod(helper, 0700), 0);
    }
    snprintf(command, sizeof command, "cp '%s' '%s' && timeout 20 '%s' inspect '%s' 2>&1",
             RH_PROGRAM, program, program, sample_path("d4rl.hdf5"));
    FILE *run = popen(command, "r");
    assert_non_null(run);
    size_t n = fread(said, 1, sizeof said - 1, run);
    said[n] = 0;
    int status = pclose(run);
    if (!strstr(said, words) || !WIFEXITED(status) || WEXITSTATUS(status) == 0)
        fail_msg("status %d, '%s' not in: %s", status, words, said);
    remove(program);
    remove(helper);
}

static void bad_helpers(void **unused)
{
    (void)unused;
    with_helper(NULL, "d4rl.hdf5: cannot start the program rehearse-hdf5 that reads HDF5: "
                      "No such file or directory; expected it in /tmp/rehearse-log-");
    with_helper("#!/bin/sh\nexit 7\n", "damaged: its reader ended with status 7");
    with_helper("#!/bin/sh\nkill -SEGV $$\n", "damaged: libhdf5 crashed (signal 11)");
    with_helper("#!/bin/sh\nkill -XCPU $$\n", "damaged: libhdf5 takes too long to read it");
    with_helper("#!/bin/sh\nhead -c 100 /dev/zero >&0\nsleep 5\n",
                "damaged: its reader sent an answer that makes no sense");
    // a sound greeting, then an answer with a kind that there is not
    with_helper("#!/bin/sh\n"
                "printf '\\001\\000HR\\000\\000\\000\\000' >&0\nhead -c 32 /dev/zero >&0\n"
                "printf '\\001\\000HR\\000\\000\\000\\000\\377\\377' >&0\n"
                "head -c 30 /dev/zero >&0\nsleep 5\n",
                "damaged: its reader sent an answer that makes no sense");
    // more bytes than there can be
    with_helper("#!/bin/sh\n"
                "printf '\\001\\000HR\\000\\000\\000\\000' >&0\nhead -c 24 /dev/zero >&0\n"
                "printf '\\377\\377\\377\\377\\377\\377\\377\\377' >&0\nsleep 5\n",
                "damaged: its reader sent an answer that makes no sense");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_confined),
        cmocka_unit_test(threads_read_at_once),
        cmocka_unit_test(bad_helpers),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
