// test_cmd_export.c - `rehearse export`: what it prints, writes and refuses.

#include "cli/program.h"
#include "study/best_sample.h"

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void writes_one_file(void **unused)
{
    (void)unused;
    write_file("best.yaml", BEST_ALL);
    outcome o = rehearse("export best.yaml");
    assert_int_equal(o.code, 0);
    assert_has(o.out, "file            agent.c\n");
    assert_has(o.out, "agent           learns on the device, 560 weights\n");
    assert_has(o.out, "memory          15,840 bytes, and 2,120 bytes of constants\n");
    drop(&o);
    o = rehearse("export best.yaml --freeze -o frozen.c");
    assert_int_equal(o.code, 0);
    assert_has(o.out, "agent           acts, and does not learn\n");
    drop(&o);
    assert_int_equal(system("cmp -s agent.c frozen.c"), 256);
    o = rehearse("export best.yaml -o again.c");
    assert_int_equal(system("cmp agent.c again.c"), 0); // no dates
    drop(&o);
}

static void refuses(void **unused)
{
    (void)unused;
    static const struct {
        const char *line, *why;
    } fault[] = {
        {"export", "export: 0 names, expected one: best.yaml of a study"},
        {"export nowhere.yaml", "nowhere.yaml: cannot read: No such file"},
        {"export best.yaml --load best.yaml", "best.yaml: not a state file"},
        {"export best.yaml --guard nothing.yaml", "nothing.yaml: cannot read"},
        {"export best.yaml --memory 0", "--memory = 0, expected a whole number, 1 to"},
        {"export best.yaml --memory 5", "needs 15.5 KB of memory for 560 weights, expected at "
                                        "most 5.0 (--memory); with tilings=2 it needs 4.0 KB"},
        {"export best.yaml -o /nowhere/at/all.c", "cannot write: No such file"},
        {"export program.yaml", "program.yaml: the agent is a program or a plug-in, which "
                                "cannot be exported; expected an agent of rehearse"},
    };
    write_file("best.yaml", BEST_ALL);
    write_file("program.yaml", "agent: {name: \"exec:false\"}\n" BEST_TASK);
    for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) {
        outcome o = rehearse(fault[i].line);
        assert_int_equal(o.code, 2);
        assert_has(o.err, fault[i].why);
        drop(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_one_file),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
