// test_lock.c - one process at a time works on a study; the lock ends with the process.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "base/in_memory.h"
#include "study/journal_sample.h"

static char folder[64];

static int enter(void **unused)
{
    (void)unused;
    return folder_in_memory(folder, "lock") ? 0 : -1;
}

static int leave(void **unused)
{
    (void)unused;
    char path[128];
    snprintf(path, sizeof path, "%s/study.log", folder);
    unlink(path);
    return rmdir(folder); // fails when a note is left
}

static rh_status try_to_open(rh_journal **journal, rh_error *err)
{
    rh_plan plan = sample_plan();
    rh_journal__head head = sample_head(&plan);
    return rh_journal__open(journal, folder, &head, err);
}

// A process that has the study, until it is killed.
static pid_t start_holder(void)
{
    int ready[2];
    char said = 0;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        rh_journal *journal = NULL;
        said = try_to_open(&journal, NULL) == RH_OK ? 'y' : 'n';
        if (write(ready[1], &said, 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &said, 1), 1);
    close(ready[0]);
    assert_int_equal(said, 'y');
    return child;
}

static void the_second_is_refused(void **unused)
{
    (void)unused;
    rh_journal *journal = NULL;
    rh_error err = {""};
    char words[256], host[80] = "", note[128];
    int64_t live = rh_base__alloc_live();
    pid_t child = start_holder();
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    snprintf(words, sizeof words, "%s: process %ld on host %s is running this study", folder,
             (long)child, host);
    assert_int_equal(try_to_open(&journal, &err), RH_EIO);
    assert_string_equal(err.text, words);

    // without its note, and with nonsense in it, it is still there
    snprintf(note, sizeof note, "%s/study.lock", folder);
    snprintf(words, sizeof words, "%s: another process is running this study", folder);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(unlink(note), 0);
        FILE *file = i == 1 ? fopen(note, "w") : NULL;
        if (file) {
            fputs("nobody\nat all", file);
            fclose(file);
        }
        assert_int_equal(try_to_open(&journal, &err), RH_EIO);
        assert_string_equal(err.text, words);
        if (i == 0) {
            file = fopen(note, "w");
            assert_non_null(file);
            fclose(file);
        }
    }

    // killed, it has it no more
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(try_to_open(&journal, &err), RH_OK);
    rh_journal *other = NULL;
    assert_int_equal(try_to_open(&other, &err), RH_EIO); // not even we ourselves
    snprintf(words, sizeof words, "process %ld on host", (long)getpid());
    assert_non_null(strstr(err.text, words));
    rh_journal__close(journal);
    assert_int_equal(access(note, F_OK), -1);
    assert_int_equal(try_to_open(&journal, &err), RH_OK);
    rh_journal__close(journal);
    assert_int_equal(rh_base__alloc_live(), live);
}

// A link in a study's folder is not followed: what it leads to stays as it is.
static void links_are_not_followed(void **unused)
{
    (void)unused;
    char note[300], log[300], other[300], text[16] = "";
    rh_journal *journal = NULL;
    rh_error err = {""};
    snprintf(note, sizeof note, "%s/study.lock", folder);
    snprintf(log, sizeof log, "%s/study.log", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    FILE *file = fopen(other, "w");
    assert_non_null(file);
    fputs("precious", file);
    fclose(file);
    unlink(note);
    unlink(log);
    assert_int_equal(symlink("other", note), 0);
    assert_int_equal(try_to_open(&journal, &err), RH_OK);
    rh_journal__close(journal);
    unlink(log);
    unlink(note);
    assert_int_equal(symlink("other", log), 0);
    assert_int_equal(try_to_open(&journal, &err), RH_EIO);
    assert_non_null(strstr(err.text, "study.log: is a link, expected a file"));
    file = fopen(other, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "precious");
    unlink(log);
    unlink(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_second_is_refused, enter, leave),
        cmocka_unit_test_setup_teardown(links_are_not_followed, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
