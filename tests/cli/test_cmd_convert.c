// test_cmd_convert.c - rehearse convert: the same log in every format, and what is refused.

#include "cli/program.h"

#include <sys/stat.h>

static const char *const plant = "# a pump, two shifts\n"
                                 "time,temp [degC],level,pump,energy,shift,trip\n"
                                 "2024-05-01T06:00:00Z,20.5,1.25,off,0,early,0\n"
                                 "2024-05-01T06:15:00Z,21,1.5,low,1.5,early,0\n"
                                 "2024-05-01T06:30:00Z,-9999,1.75,high,3,early,1\n"
                                 "2024-05-01T14:00:00Z,19,1,low,1.5,late,0\n"
                                 "2024-05-01T14:15:00Z,19.5,1.1,\"off\",0,late,0\n"
                                 "2024-05-01T14:30:00Z,20,1.2,,,late,\n";

#define PLANT                                                                                  \
    "plant.csv --action pump --reward -energy --episode shift --terminal trip "                \
    "--missing -9999"

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void says_what_it_wrote(void **unused)
{
    (void)unused;
    write_file("plant.csv", plant);
    char *out = output_of("convert " PLANT " plant.npz");
    assert_string_equal(out, "plant.npz: 5 steps in 2 episodes, from plant.csv (csv)\n");
    free(out);
    out = output_of("convert -q " PLANT " quiet.csv");
    assert_string_equal(out, "");
    free(out);
    out = output_of("convert --json " PLANT " plant.npz");
    assert_has(out, "\"file\": \"plant.npz\"");
    assert_has(out, "\"path\": \"plant.csv\"");
    assert_has(out, "\"format\": \"csv\"");
    assert_has(out, "\"steps\": 5,");
    assert_has(out, "\"episodes\": 2,");
    struct stat st;
    char bytes[40];
    assert_int_equal(stat("plant.npz", &st), 0);
    snprintf(bytes, sizeof bytes, "\"bytes\": %lld,", (long long)st.st_size);
    assert_has(out, bytes);
    free(out);
    outcome o = rehearse("convert --json -q " PLANT " plant.npz");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "--json and --quiet cannot be used together");
    drop(&o);
    char *csv = contents("quiet.csv");
    assert_has(csv, "temp [degC]");
    assert_has(csv, "episode,step,time,temp [degC],level,pump,-energy");
    free(csv);
}

// Round and round, nothing is lost: the CSV at the end is the CSV at the beginning.
static void nothing_is_lost(void **unused)
{
    (void)unused;
    write_file("plant.csv", plant);
    free(output_of("convert " PLANT " a.csv"));
    free(output_of("convert a.csv b.npz"));
    free(output_of("convert b.npz c.hdf5"));
    free(output_of("convert c.hdf5 d.csv.gz"));
    free(output_of("convert d.csv.gz e.tsv"));
    free(output_of("convert e.tsv f.csv"));
    char *first = contents("a.csv"), *last = contents("f.csv");
    assert_string_equal(first, last);
    free(first);
    free(last);

    // and the same file is written every time
    free(output_of("convert a.csv b2.npz"));
    assert_int_equal(system("cmp -s b.npz b2.npz"), 0);
}

static void roles_in_a_file(void **unused)
{
    (void)unused;
    assert_int_equal(mkdir("sub", 0755), 0);
    write_file("sub/plant.csv", plant);
    write_file("sub/plant.yaml", "data:\n"
                                 "  path: plant.csv\n"
                                 "  roles:\n"
                                 "    obs: [temp, level]\n"
                                 "    action: pump\n"
                                 "    reward: -energy\n"
                                 "    episode: shift\n"
                                 "    terminal: trip\n"
                                 "    missing: -9999\n");
    write_file("plant.csv", plant);
    free(output_of("convert " PLANT " --obs temp,level by_hand.csv"));
    free(output_of("convert sub/plant.yaml by_file.csv"));
    assert_int_equal(system("cmp -s by_hand.csv by_file.csv"), 0);
    free(output_of("convert plant.csv --roles sub/plant.yaml by_roles.csv"));
    assert_int_equal(system("cmp -s by_hand.csv by_roles.csv"), 0);

    // the command line goes first
    free(output_of("convert sub/plant.yaml --obs level one.csv"));
    char *one = contents("one.csv");
    assert_null(strstr(one, "temp"));
    free(one);
}

static void one_step(void **unused)
{
    (void)unused;
    write_file("one.csv", "x,action,reward\n1,0,1\n2,1,1\n");
    char *out = output_of("convert one.csv two.csv");
    assert_string_equal(
        out,
        "two.csv: 1 step in 1 episode, from one.csv (csv); 1 dropped, see rehearse inspect\n");
    free(out);
}

static void is_refused(const char *line, const char *words)
{
    outcome o = rehearse(line);
    if (o.code != 2 || !strstr(o.err, words))
        print_error("rehearse %s\n%s", line, o.err);
    assert_int_equal(o.code, 2);
    assert_has(o.err, words);
    assert_string_equal(o.out, "");
    drop(&o);
}

static void refuses(void **unused)
{
    (void)unused;
    write_file("plant.csv", plant);
    is_refused("convert", "convert: 0 file names, expected two");
    is_refused("convert plant.csv", "convert: 1 file name, expected two");
    is_refused("convert none.csv z.npz", "none.csv: cannot read: No such file or directory");
    is_refused("convert . z.npz", ".: it is a directory without a Minari dataset");
    is_refused("convert plant.csv plant.csv",
               "plant.csv: the log itself, expected another file");
    is_refused("convert plant.csv ./plant.csv", "./plant.csv: the log itself");
    is_refused("convert " PLANT " b.xls", "b.xls: cannot tell the format from the name");
    is_refused("convert " PLANT " z.npz --to exel", "--to cannot be 'exel'");
    is_refused("convert " PLANT " z.npz --max-gap soon", "--max-gap = soon, expected a time");
    is_refused("convert " PLANT " z.npz --missing ,",
               "--missing = ,, expected numbers or words");
    is_refused("convert " PLANT " z.npz --episode-steps 0", "--episode-steps = 0, expected");
    is_refused("convert " PLANT " z.npz --obs temp,lvel", "'level'");
    is_refused("convert a.yaml z.npz --roles b.yaml",
               "convert: a.yaml and --roles b.yaml: two files of roles, expected one");
    outcome o = rehearse("convert " PLANT " no/such/z.npz");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "no/such/z.npz: cannot write: No such file or directory");
    drop(&o);
    assert_int_equal(system("test ! -e z.npz && ! ls | grep -q tmp"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_it_wrote),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(roles_in_a_file),
        cmocka_unit_test(one_step),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
