// test_file.c - files that are whole or absent. Full disks, unwritable folders and odd names
// are tried through rh_state_write() in test_state_file.c.

#include "base/base_internal.h"
#include "base/file.h"
#include "base/in_memory.h"
#include "rehearse/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/without_sync.h"

static char folder[64];

static int enter(void **unused)
{
    (void)unused;
    return folder_in_memory(folder, "file") && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **unused)
{
    (void)unused;
    return chdir("/") == 0 ? rmdir(folder) : -1; // fails when a test left something behind
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void holds(const char *path, const char *text)
{
    char found[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    found[fread(found, 1, sizeof found - 1, file)] = 0;
    fclose(file);
    assert_string_equal(found, text);
}

static mode_t rights(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void gets_its_name_at_the_end(void **unused)
{
    (void)unused;
    rh_file *file = NULL;
    put("a", "old");
    assert_int_equal(rh_file__create(&file, "a", NULL), RH_OK);
    fputs("new", rh_file__stream(file));
    holds("a", "old");
    assert_int_equal(rh_file__commit(file, NULL), RH_OK);
    holds("a", "new");
    unlink("a");
}

static void discarded_it_never_was(void **unused)
{
    (void)unused;
    rh_file *file = NULL;
    put("a", "old");
    assert_int_equal(rh_file__create(&file, "a", NULL), RH_OK);
    fputs("new", rh_file__stream(file));
    rh_file__discard(file);
    holds("a", "old");
    unlink("a");
    assert_int_equal(rh_file__create(&file, "b", NULL), RH_OK);
    rh_file__discard(file);
    rh_file__discard(NULL);
    assert_int_equal(access("b", F_OK), -1);
}

// What a program does before a signal ends it.
static void temporaries_are_removed(void **unused)
{
    (void)unused;
    rh_file *one = NULL, *two = NULL, *three = NULL;
    assert_int_equal(rh_file__create(&one, "a", NULL), RH_OK);
    assert_int_equal(rh_file__create(&two, "b", NULL), RH_OK);
    assert_int_equal(rh_file__create(&three, "c", NULL), RH_OK);
    fputs("new", rh_file__stream(two));
    assert_int_equal(rh_file__commit(two, NULL), RH_OK);
    char other[300];
    snprintf(other, sizeof other, "%s.a1B2c3", rh_file__temporary(one)); // as libzip makes one
    put(other, "");
    rh_file__remove_temporaries();
    assert_int_equal(access(rh_file__temporary(one), F_OK), -1);
    assert_int_equal(access(rh_file__temporary(three), F_OK), -1);
    assert_int_equal(access(other, F_OK), -1);
    holds("b", "new");
    rh_file__discard(one);
    rh_file__discard(three);
    rh_file__remove_temporaries(); // none is left
    unlink("b");
}

// A library writes to the name it is given, and may put a new file there.
static void written_by_name(void **unused)
{
    (void)unused;
    rh_file *file = NULL;
    put("a", "old");
    assert_int_equal(chmod("a", 0640), 0);
    assert_int_equal(rh_file__create(&file, "a", NULL), RH_OK);
    assert_int_equal(rights(rh_file__temporary(file)), 0640);
    unlink(rh_file__temporary(file));
    put(rh_file__temporary(file), "new");
    assert_int_equal(rh_file__commit(file, NULL), RH_OK);
    holds("a", "new");
    assert_int_equal(rights("a"), 0640);
    unlink("a");

    // or fail to, which is found at the end
    rh_error err;
    assert_int_equal(rh_file__create(&file, "a", NULL), RH_OK);
    unlink(rh_file__temporary(file));
    assert_int_equal(rh_file__commit(file, &err), RH_EIO);
    assert_string_equal(err.text, "a: cannot write: No such file or directory");
}

static void rights_and_links_stay(void **unused)
{
    (void)unused;
    rh_file *file = NULL;
    put("real", "old");
    assert_int_equal(chmod("real", 0400),
                     0); // may be replaced, since the folder may be written
    assert_int_equal(symlink("real", "link"), 0);
    assert_int_equal(rh_file__create(&file, "link", NULL), RH_OK);
    fputs("new", rh_file__stream(file));
    assert_int_equal(rh_file__commit(file, NULL), RH_OK);
    holds("real", "new");
    assert_int_equal(rights("real"), 0400);
    struct stat st;
    assert_int_equal(lstat("link", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    unlink("link");
    unlink("real");
}

// Temporaries of the same file that killed processes left are removed by who writes it next;
// those of processes that are there, and of other files, are not.
static void left_behind(void **unused)
{
    (void)unused;
    char name[6][64];
    static const bool gone[6] = {true, true, false, false, true, false};
    rh_file *file = NULL, *other = NULL;
    pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    assert_true(dead > 0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    snprintf(name[0], sizeof name[0], "a.%d-0.tmp", (int)dead);
    snprintf(name[1], sizeof name[1], "a.%d-12.tmp.x1Y2z3", (int)dead); // as libzip makes one
    snprintf(name[2], sizeof name[2], "a.%d-0.tmp", (int)getppid());
    snprintf(name[3], sizeof name[3], "b.%d-0.tmp", (int)dead);
    snprintf(name[4], sizeof name[4], "a.%d-4000000000.tmp", (int)getpid()); // a reused number
    snprintf(name[5], sizeof name[5], "a.%d-0.tmp0", (int)dead);
    for (int i = 0; i < 6; i++)
        put(name[i], "");
    assert_int_equal(rh_file__create(&other, "a", NULL), RH_OK); // as another thread
    assert_int_equal(rh_file__create(&file, "a", NULL), RH_OK);
    for (int i = 0; i < 6; i++)
        assert_int_equal(unlink(name[i]), gone[i] ? -1 : 0);
    assert_int_equal(rh_file__commit(other, NULL), RH_OK);
    assert_int_equal(rh_file__commit(file, NULL), RH_OK);
    // with a lock all of them
    put(name[2], "");
    rh_file__clean("a");
    assert_int_equal(unlink(name[2]), -1);
    unlink("a");
}

static bool cannot_sync(void)
{
    return rh_file__sync_folder(".") == EIO;
}

static void folders_are_synced(void **unused)
{
    (void)unused;
    assert_int_equal(rh_file__sync_folder("."), 0);
    without_sync(cannot_sync);
}

static void private_files(void **unused)
{
    (void)unused;
    rh_file *file = NULL;
    mode_t before = umask(022);
    assert_int_equal(rh_file__create_private(&file, "a", NULL), RH_OK);
    assert_int_equal(rights(rh_file__temporary(file)), 0600);
    assert_int_equal(rh_file__commit(file, NULL), RH_OK);
    assert_int_equal(rights("a"), 0600);
    umask(before);
    unlink("a");
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    rh_status rc = RH_ENOMEM;
    for (int64_t nth = 1; rc == RH_ENOMEM; nth++) {
        rh_file *file = NULL;
        rh_error err;
        rh_base__alloc_fail_at(nth);
        rc = rh_file__create(&file, "a", &err);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || strcmp(err.text, "a: cannot write: out of memory") == 0);
        rh_file__discard(file);
        assert_int_equal(rh_base__alloc_live(), live);
        assert_true(nth < 10);
    }
    assert_int_equal(rc, RH_OK);
}

static void the_end_of_a_long_path(void **unused)
{
    (void)unused;
    char path[400];
    memset(path, 'x', sizeof path);
    memcpy(path + 390, "/end.csv", 9);
    assert_int_equal(strlen(rh_base__path_tail(path)), 300);
    assert_non_null(strstr(rh_base__path_tail(path), "/end.csv"));
    assert_string_equal(rh_base__path_tail("a.csv"), "a.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gets_its_name_at_the_end), cmocka_unit_test(discarded_it_never_was),
        cmocka_unit_test(temporaries_are_removed),  cmocka_unit_test(written_by_name),
        cmocka_unit_test(rights_and_links_stay),    cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(the_end_of_a_long_path),   cmocka_unit_test(left_behind),
        cmocka_unit_test(folders_are_synced),       cmocka_unit_test(private_files),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
