// test_column.c - columns grow, shrink and flatten, with good and bad guesses of their length.

#include "base/base_internal.h"
#include "log/log_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct triple {
    int64_t x[3];
} triple;

static void fill(rh_column *column, int64_t n)
{
    while (column->n < n) {
        triple *row = rh_column__push(column);
        assert_non_null(row);
        *row = (triple){{column->n - 1, 2 * column->n, -column->n}};
    }
}

static void check(const triple *row, int64_t i)
{
    assert_int_equal(row->x[0], i);
    assert_int_equal(row->x[1], 2 * (i + 1));
    assert_int_equal(row->x[2], -(i + 1));
}

static void keeps_rows(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    static const int64_t first[] = {0, 1, 1000, RH_COLUMN__BLOCK, 100000, 1000000};
    static const int64_t length[] = {
        0, 1, RH_COLUMN__BLOCK, RH_COLUMN__BLOCK + 1, 100000, 100001, 300000};
    for (size_t f = 0; f < sizeof first / sizeof *first; f++)
        for (size_t k = 0; k < sizeof length / sizeof *length; k++) {
            rh_column column = {.width = sizeof(triple), .first = first[f]};
            int64_t n = length[k];
            fill(&column, n);
            for (int64_t i = 0; i < n; i += 997)
                check(rh_column__at(&column, i), i);
            column.n -= n / 2; // removed, and pushed again
            fill(&column, n);
            triple *piece = rh_column__flatten(&column);
            assert_non_null(piece);
            for (int64_t i = 0; i < n; i++)
                check(piece + i, i);
            assert_int_equal(column.n, 0);
            rh_free(piece);
            assert_int_equal(rh_base__alloc_live(), live);
        }
}

// A good guess costs one block and no copy.
static void a_good_guess(void **unused)
{
    (void)unused;
    rh_column column = {.width = sizeof(triple), .first = 100000};
    int64_t before = rh_base__alloc_count();
    fill(&column, 99000);
    const void *block = rh_column__at(&column, 0);
    void *piece = rh_column__flatten(&column);
    assert_ptr_equal(piece, block);
    assert_int_equal(rh_base__alloc_count() - before, 2); // the block, and the list of blocks
    rh_free(piece);
}

// A guess that does not fit into memory is dropped; the log is still read.
static void a_guess_too_large(void **unused)
{
    (void)unused;
    rh_column column = {.width = sizeof(triple), .first = INT64_MAX / 8};
    fill(&column, 2 * RH_COLUMN__BLOCK + 5);
    check(rh_column__at(&column, 2 * RH_COLUMN__BLOCK), 2 * RH_COLUMN__BLOCK);
    rh_column__clear(&column);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    for (int64_t nth = 1; nth <= 4; nth++) { // the list, two blocks, the piece
        rh_column column = {.width = sizeof(triple)};
        rh_base__alloc_fail_at(nth);
        while (column.n < RH_COLUMN__BLOCK + 1 && rh_column__push(&column))
            continue;
        if (nth == 4)
            assert_null(rh_column__flatten(&column));
        rh_base__alloc_fail_at(0);
        assert_true(column.n == (nth < 3 ? 0 : RH_COLUMN__BLOCK + (nth == 4)));
        rh_column__clear(&column);
        assert_int_equal(rh_base__alloc_live(), live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_rows),
        cmocka_unit_test(a_good_guess),
        cmocka_unit_test(a_guess_too_large),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
