// suggest.c - "did you mean": the known word nearest to what was typed.
//
// The distance is the number of characters inserted, left out, changed or swapped with their
// neighbour (Damerau's, in the form that edits no character twice). A third of the characters
// plus one may be wrong, but not all. A word that starts with the other has distance 1.

#include "base.h"
#include "base_internal.h"
#include "rehearse/base.h"

#include <stdio.h>
#include <string.h>

#define LONGEST 63 // characters compared

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int distance(const char *a, int na, const char *b, int nb)
{
    int row[3][LONGEST + 1]; // the last three rows of the edit table
    for (int j = 0; j <= nb; j++)
        row[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            now[j] =
                smaller(smaller(last[j], now[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], before[j - 2] + 1);
        }
    }
    return row[na % 3][nb];
}

const char *rh_base__suggest(const char *word, const char *const *candidate, int ncandidate)
{
    const char *best = NULL;
    int nword = (int)strnlen(word, LONGEST);
    int least = nword / 3 + 2; // one more than the limit
    for (int i = 0; i < ncandidate; i++) {
        int n = (int)strnlen(candidate[i], LONGEST);
        int d = distance(word, nword, candidate[i], n);
        if (nword >= 2 && strncmp(word, candidate[i], (size_t)smaller(n, nword)) == 0)
            d = smaller(d, 1);
        if (d < least && d < (n > nword ? n : nword)) {
            least = d;
            best = candidate[i];
        }
    }
    return best;
}

rh_status rh_base__unknown(rh_error *err, const char *what, const char *word,
                           const char *const *known, int nknown)
{
    char list[360]; // cut where it is full
    size_t used = 0;
    list[0] = 0;
    for (int i = 0; i < nknown && used < sizeof list; i++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", known[i]);
    const char *near = rh_base__suggest(word, known, nknown);
    if (near)
        return rh_fail(err, RH_EINVAL, "%s '%.64s'; did you mean '%s'? (%s)", what, word, near,
                       list);
    return rh_fail(err, RH_EINVAL, "%s '%.64s'; expected one of %s", what, word, list);
}
