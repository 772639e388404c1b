// test_progress.c - what standard error shows on a terminal: one line, never too wide, and gone
// at the end.

#include "cli/program.h"

#include <signal.h>
#include <sys/ioctl.h>

#define SCREEN (1 << 20)

// Run "rehearse <line>" with standard error on a terminal of `columns` x 24 until `sign` has
// been drawn (NULL: for half a second), then interrupt it. Everything drawn goes to screen
// (SCREEN).
static int on_terminal(const char *line, int columns, const char *sign, char *screen)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    assert_int_equal(grantpt(terminal), 0);
    assert_int_equal(unlockpt(terminal), 0);
    struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = 24};
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
    char redirected[512];
    snprintf(redirected, sizeof redirected, "%s 2>%s", line, ptsname(terminal));
    int held = open(ptsname(terminal), O_RDWR | O_NOCTTY); // or reading fails too early
    pid_t pid = begin(redirected);

    int used = 0;
    fcntl(terminal, F_SETFL, O_NONBLOCK);
    screen[0] = 0;
    for (double t = 0.0; t < (sign ? 60.0 : 0.5) && !(sign && strstr(screen, sign));
         t += 0.02) {
        ssize_t n = read(terminal, screen + used, (size_t)(SCREEN - 1 - used));
        used += n > 0 ? (int)n : 0;
        screen[used] = 0;
        rest(0.02);
    }
    kill(pid, SIGINT);
    outcome o = await(pid);

    // The kernel hands over what was written when it gets to it: all of it has come only when
    // reading fails, which it does once no one holds the other end.
    close(held);
    fcntl(terminal, F_SETFL, 0);
    for (ssize_t n; (n = read(terminal, screen + used, (size_t)(SCREEN - 1 - used))) > 0;)
        used += (int)n;
    screen[used] = 0;
    close(terminal);
    int code = o.code;
    drop(&o);
    return code;
}

// The widest line, in characters that move the cursor.
static int widest(const char *screen)
{
    int width = 0, most = 0;
    for (const char *c = screen; *c; c++) {
        if (*c == '\033') {
            c += strcspn(c, "mJKA");
        } else if (*c == '\r' || *c == '\n') {
            width = 0;
        } else if (((unsigned char)*c & 0xc0) != 0x80) {
            width++;
            most = width > most ? width : most;
        }
    }
    return most;
}

static char screen[SCREEN];

static void one_line_that_fits(void **unused)
{
    (void)unused;
    const char *line = "sweep puddle_world -a esarsa -g paper -n 90000 -r 30 -j 2";
    static const int columns[] = {100, 60, 30, 16};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(on_terminal(line, columns[i], "% ", screen), 130);
        char *message = strstr(screen, "rehearse: interrupted");
        assert_non_null(message);
        *message = 0;
        assert_has(screen, "% ");
        assert_null(strchr(screen, '\n'));
        assert_true(widest(screen) < columns[i]);

        // wiped before the message
        assert_true(strlen(screen) > 4);
        assert_string_equal(message - 4, "\r\033[J");
    }
}

// A fit redraws its line too.
static void fits_line_that_fits(void **unused)
{
    (void)unused;
    free(output_of("collect puddle_world -p random -n 300 -q -o log.csv"));
    const char *line = "fit log.csv -m knn --repr laplacian -j 1 --repr-set steps=1e7 "
                       "--repr-set patience=1e5";
    static const int columns[] = {100, 24};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(on_terminal(line, columns[i], "%  learning", screen), 130);
        char *message = strstr(screen, "rehearse: interrupted");
        assert_non_null(message);
        *message = 0;
        assert_has(screen, "%  learning");
        assert_null(strchr(screen, '\n'));
        assert_true(widest(screen) < columns[i]);
    }
}

// Two lines of a study: how far it is, and who leads.
static void tunes_lines_that_fit(void **unused)
{
    (void)unused;
    free(output_of("collect puddle_world -p random -n 300 -q -o log.csv"));
    const char *line =
        "tune log.csv -m knn --repr raw -n 20000 -r 1000 -t 1000 -j 2 -s alpha=0.1:1 "
        "--method random -o long";
    static const int columns[] = {100, 60, 24};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(on_terminal(line, columns[i], " runs", screen), 130);
        char *message = strstr(screen, "rehearse: interrupted");
        assert_non_null(message);
        *message = 0;
        assert_has(screen, " runs");
        char *resumed = strstr(screen, "rehearse: resuming long: ");
        assert_true((resumed != NULL) == (i > 0));
        assert_true(widest(resumed ? strchr(resumed, '\n') : screen) < columns[i]);

        // wiped before the message
        assert_true(strlen(screen) > 4);
        assert_string_equal(message - 4, "\r\033[J");
    }
}

static void draws_the_curve(void **unused)
{
    (void)unused;
    static const int columns[] = {100, 40};
    for (int i = 0; i < 2; i++) {
        const char *line = "run puddle_world -a esarsa -n 300000 -r 9000 -j 2 --live";
        assert_int_equal(on_terminal(line, columns[i], "\033[12A", screen), 130);
        char *message = strstr(screen, "rehearse: interrupted");
        assert_non_null(message);
        *message = 0;
        assert_has(screen, "\u2514\u2500");
        assert_has(screen, "\033[12A"); // back over the chart
        assert_true(widest(screen) < columns[i]);
    }
}

static void no_colour_where_it_is_not_wanted(void **unused)
{
    (void)unused;
    const char *line = "run puddle_world -a esarsa -n 300000 -r 9000 -j 2 --live";
    on_terminal(line, 80, "\033[12A", screen);
    assert_non_null(strstr(screen, "\033[36m"));
    setenv("NO_COLOR", "1", 1);
    on_terminal(line, 80, "\033[12A", screen);
    unsetenv("NO_COLOR");
    for (const char *c = strchr(screen, '\033'); c; c = strchr(c + 1, '\033'))
        assert_true(c[strcspn(c, "mJKA")] != 'm');
    setenv("TERM", "dumb", 1);
    on_terminal(line, 80, NULL, screen);
    setenv("TERM", "xterm", 1);
    assert_null(strchr(screen, '\033'));
}

static void quiet_draws_nothing(void **unused)
{
    (void)unused;
    on_terminal("run puddle_world -a esarsa -n 3000000 -r 900 -j 2 -q", 80, NULL, screen);
    assert_true(strncmp(screen, "rehearse: interrupted", 21) == 0);
}

int main(void)
{
    setenv("TERM", "xterm", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_that_fits),
        cmocka_unit_test(fits_line_that_fits),
        cmocka_unit_test(tunes_lines_that_fit),
        cmocka_unit_test(draws_the_curve),
        cmocka_unit_test(no_colour_where_it_is_not_wanted),
        cmocka_unit_test(quiet_draws_nothing),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
