// chart.c - a curve in characters: braille dots, or stars where the locale is not UTF-8.
//
// 1. The axis covers most points, not all: the first episodes can be a hundred times worse than
//    the rest and would flatten the curve. With q the 10 % and 90 % quantiles and d their
//    distance, the axis ends within q -+ d; points outside are marked at the edge.
// 2. Labels are round numbers: the axis has three equal steps of one or two digits and is the
//    smallest such axis that holds the curve.

#include "base/base_internal.h"
#include "base/text.h"
#include "cli_internal.h"
#include "numeric/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define W CLI_CHART_WIDTH
#define H CLI_CHART_HEIGHT
#define NLABEL 4 // on rows 0, 3, 6 and 9

// The picture: dots (or stars) and marks of points outside.
typedef struct canvas {
    int width;                // cells
    int nx, ny;               // dots of a cell
    double lo, hi;            // the axis
    int ndecimal;             // of its labels
    int margin;               // columns of its labels
    unsigned char cell[H][W]; // dots, one bit each
    char mark[H][W];          // '^' for a point above the axis, 'v' for one below
} canvas;

// The smallest axis of round steps that holds lo .. hi.
static void round_axis(double *lo, double *hi)
{
    static const double lead[] = {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0};
    double span = *hi - *lo;
    if (!(span > 1e-9 * fmax(fabs(*lo), fabs(*hi)))) // a flat curve needs some height too
        span = fmax(1e-6, 0.1 * fabs(*hi));
    double power = pow(10.0, floor(log10(span / (NLABEL - 1))));
    for (int i = 0;; i++) {
        int n = (int)(sizeof lead / sizeof *lead), decade = i / n;
        double step = lead[i % n] * power * pow(10.0, decade);
        double bottom = floor(*lo / step) * step;
        if (step * (NLABEL - 1) >= span && bottom + step * (NLABEL - 1) >= *hi) {
            *lo = bottom;
            *hi = bottom + step * (NLABEL - 1);
            return;
        }
    }
}

// The axis for y (n); false when there is nothing to draw. work: (n).
static bool choose_axis(const double *y, int n, double *work, double *lo, double *hi)
{
    int known = 0;
    for (int i = 0; i < n; i++)
        if (isfinite(y[i]))
            work[known++] = y[i];
    if (known == 0)
        return false;
    rh_stats__sort(work, known);
    double low = rh_stats__quantile_sorted(work, known, 0.1);
    double high = rh_stats__quantile_sorted(work, known, 0.9);
    double spread = high - low;
    *lo = fmax(work[0], low - spread);
    *hi = fmin(work[known - 1], high + spread);
    round_axis(lo, hi);
    return true;
}

static void set_dot(canvas *c, int x, int y)
{
    static const unsigned char braille[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    c->cell[y / c->ny][x / c->nx] |= braille[y % c->ny][x % c->nx];
}

static void draw_line(canvas *c, int x0, int y0, int x1, int y1)
{
    int n = abs(x1 - x0) > abs(y1 - y0) ? abs(x1 - x0) : abs(y1 - y0);
    for (int i = 0; i <= n; i++) {
        double t = n ? (double)i / n : 0.0;
        set_dot(c, (int)lround(x0 + t * (x1 - x0)), (int)lround(y0 + t * (y1 - y0)));
    }
}

// The whole curve. Returns the number of points outside the axis.
static int draw_curve(canvas *c, const double *y, int n)
{
    int outside = 0, lastx = -1, lasty = 0;
    for (int i = 0; i < n; i++) {
        if (!isfinite(y[i])) {
            lastx = -1;
            continue;
        }
        double share = (c->hi - y[i]) / (c->hi - c->lo);
        int dot = (int)lround(fmin(fmax(share, 0.0), 1.0) * (H * c->ny - 1));
        int x = (int)((i + 0.5) / n * c->width * c->nx);
        if (lastx >= 0)
            draw_line(c, lastx, lasty, x, dot);
        set_dot(c, x, dot);
        lastx = x;
        lasty = dot;

        if (y[i] > c->hi)
            c->mark[0][x / c->nx] = '^';
        if (y[i] < c->lo)
            c->mark[H - 1][x / c->nx] = 'v';
        outside += y[i] > c->hi || y[i] < c->lo;
    }
    return outside;
}

static void print_cell(FILE *out, const canvas *c, int row, int column, bool utf8)
{
    unsigned dots = c->cell[row][column];
    char mark = c->mark[row][column];
    if (mark && utf8)
        fputs(mark == '^' ? "\u25b2" : "\u25bc", out);
    else if (mark)
        fputc(mark, out);
    else if (!dots)
        fputc(' ', out);
    else if (utf8)
        fprintf(out, "\xe2%c%c", 0xa0 | (int)(dots >> 6), 0x80 | (int)(dots & 0x3f));
    else
        fputc('*', out);
}

static double label_of(const canvas *c, int i)
{
    return c->hi - (c->hi - c->lo) * i / (NLABEL - 1);
}

static void print_rows(FILE *out, const canvas *c, bool utf8, const cli_style *style)
{
    for (int row = 0; row < H; row++) {
        bool labelled = row % 3 == 0;
        fprintf(out, "%s%*s %s%s", style->dim, c->margin,
                labelled ? cli_real(label_of(c, row / 3), c->ndecimal).s : "",
                utf8 ? (labelled ? "\u2524" : "\u2502") : (labelled ? "+" : "|"), style->plain);
        fputs(style->curve, out);
        int last = c->width - 1;
        while (last >= 0 && !c->cell[row][last] && !c->mark[row][last])
            last--;
        for (int column = 0; column <= last; column++)
            print_cell(out, c, row, column, utf8);
        fprintf(out, "%s\n", style->plain);
    }
}

static void print_axis(FILE *out, const canvas *c, int64_t nstep, bool utf8,
                       const cli_style *style)
{
    fprintf(out, "%s%*s %s", style->dim, c->margin, "", utf8 ? "\u2514" : "+");
    for (int column = 0; column < c->width; column++)
        fputs(utf8 ? "\u2500" : "-", out);

    // 0, the middle if there is room, and the end
    cli_text middle = cli_count(nstep / 2), end = cli_count(nstep);
    int half = c->width / 2 - (int)strlen(middle.s) / 2;
    int rest = c->width - half - (int)strlen(middle.s) - (int)strlen(end.s);
    fprintf(out, "\n%*s  0", c->margin, "");
    if (half > 3 && rest > 2)
        fprintf(out, "%*s%s%*s%s", half - 1, "", middle.s, rest, "", end.s);
    else
        fprintf(out, "%*s", c->width - 1, end.s);
    fprintf(out, "%s\n", style->plain);
}

static void measure_labels(canvas *c)
{
    c->ndecimal = cli_decimals((c->hi - c->lo) / (NLABEL - 1), 0.0);
    c->margin = 6;
    for (int i = 0; i < NLABEL; i++) {
        int length = (int)strlen(cli_real(label_of(c, i), c->ndecimal).s);
        c->margin = length > c->margin ? length : c->margin;
    }
}

int cli_chart(FILE *out, const double *y, int n, int64_t nstep, int columns, bool utf8,
              const cli_style *style)
{
    canvas c = {.nx = utf8 ? 2 : 1, .ny = utf8 ? 4 : 1};
    double *work = rh_alloc((size_t)n, sizeof *work);
    bool known = work && choose_axis(y, n, work, &c.lo, &c.hi);
    rh_free(work);
    if (!known)
        return 0;

    measure_labels(&c);
    c.width = columns - c.margin - 3 < W ? columns - c.margin - 3 : W;
    if (c.width < 8)
        return 0;
    int outside = draw_curve(&c, y, n);
    print_rows(out, &c, utf8, style);
    print_axis(out, &c, nstep, utf8, style);
    return outside;
}
