// column.c - one array of a growing log.
//
// Blocks never move, so reading a log takes no more memory than the log. Flattening copies one
// column at a time; if the number of rows was guessed well, its one block becomes the array.

#include "log_internal.h"

#include <string.h>

void *rh_column__at(const rh_column *column, int64_t row)
{
    if (row < column->first)
        return column->block[0] + (size_t)row * column->width;
    row -= column->first;
    return column->block[1 + row / RH_COLUMN__BLOCK] +
           (size_t)(row % RH_COLUMN__BLOCK) * column->width;
}

// Rows that the blocks can hold.
static int64_t room_of(const rh_column *column)
{
    return column->nblock == 0 ? 0 : column->first + (column->nblock - 1LL) * RH_COLUMN__BLOCK;
}

static bool grow(rh_column *column)
{
    if (column->nblock == column->nroom) {
        int nroom = 2 * column->nroom + 16;
        char **block = rh_alloc((size_t)nroom, sizeof *block);
        if (!block)
            return false;
        if (column->nblock)
            memcpy(block, column->block, (size_t)column->nblock * sizeof *block);
        rh_free(column->block);
        column->block = block;
        column->nroom = nroom;
    }
    if (column->nblock == 0 && column->first == 0)
        column->first = RH_COLUMN__BLOCK;
    int64_t nrow = column->nblock == 0 ? column->first : RH_COLUMN__BLOCK;
    char *fresh = rh_alloc((size_t)nrow, column->width);
    if (!fresh && nrow > RH_COLUMN__BLOCK) { // the size was a guess: use less
        column->first = RH_COLUMN__BLOCK;
        fresh = rh_alloc(RH_COLUMN__BLOCK, column->width);
    }
    if (!fresh)
        return false;
    column->block[column->nblock++] = fresh;
    return true;
}

void *rh_column__push(rh_column *column)
{
    if (column->n == room_of(column) && !grow(column))
        return NULL;
    return rh_column__at(column, column->n++);
}

void *rh_column__flatten(rh_column *column)
{
    char *piece = NULL;
    if (column->nblock == 1) {
        piece = column->block[0];
        column->block[0] = NULL;
        rh_column__clear(column);
        return piece;
    }
    piece = rh_alloc((size_t)column->n + !column->n, column->width);
    if (!piece)
        return NULL;
    int64_t done = 0;
    for (int i = 0; i < column->nblock; i++) {
        int64_t n = column->n - done, most = i == 0 ? column->first : RH_COLUMN__BLOCK;
        n = n < most ? n : most;
        memcpy(piece + (size_t)done * column->width, column->block[i],
               (size_t)n * column->width);
        done += n;
        rh_free(column->block[i]);
        column->block[i] = NULL;
    }
    rh_column__clear(column);
    return piece;
}

void rh_column__clear(rh_column *column)
{
    for (int i = 0; i < column->nblock; i++)
        rh_free(column->block[i]);
    rh_free(column->block);
    *column = (rh_column){.width = column->width};
}
