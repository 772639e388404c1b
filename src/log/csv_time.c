// csv_time.c - ISO-8601: 2024-05-01, 2024-05-01T12:00:00.25Z, 2024-05-01 12:00+02:00.
//
// A time without an offset is read as UTC. Only differences matter, and a log cannot tell when
// local time changed in spring and autumn.

#include "csv.h"

// Exactly n digits at *p; *p moves past them.
static bool take_number(const char **p, const char *end, int n, int *value)
{
    *value = 0;
    for (int i = 0; i < n; i++, ++*p) {
        if (*p >= end || **p < '0' || **p > '9')
            return false;
        *value = *value * 10 + (**p - '0');
    }
    return true;
}

static bool take_letter(const char **p, const char *end, char letter)
{
    if (*p >= end || **p != letter)
        return false;
    ++*p;
    return true;
}

// Days since 1970-01-01, Gregorian. Years begin in March, so the leap day comes last.
static int64_t days_from_1970(int year, int month, int day)
{
    int64_t y = year - (month <= 2);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool take_date(const char **p, const char *end, int64_t *days)
{
    static const int length[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;
    if (!take_number(p, end, 4, &year) || !take_letter(p, end, '-') ||
        !take_number(p, end, 2, &month) || !take_letter(p, end, '-') ||
        !take_number(p, end, 2, &day))
        return false;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (month < 1 || month > 12 || day < 1 || day > length[month - 1] + (leap && month == 2))
        return false;
    *days = days_from_1970(year, month, day);
    return true;
}

// hh:mm, hh:mm:ss, hh:mm:ss.fff
static bool take_clock(const char **p, const char *end, double *seconds)
{
    int hour, minute, second = 0;
    double fraction = 0.0, unit = 1.0;
    if (!take_number(p, end, 2, &hour) || !take_letter(p, end, ':') ||
        !take_number(p, end, 2, &minute))
        return false;
    if (take_letter(p, end, ':')) {
        if (!take_number(p, end, 2, &second))
            return false;
        if (take_letter(p, end, '.') || take_letter(p, end, ',')) {
            const char *begin = *p;
            for (; *p < end && **p >= '0' && **p <= '9'; ++*p)
                if (*p - begin < 15) { // a double of seconds holds no more
                    fraction = fraction * 10.0 + (**p - '0');
                    unit *= 10.0;
                }
            if (*p == begin)
                return false;
        }
    }
    *seconds = hour * 3600.0 + minute * 60.0 + second + fraction / unit;
    return hour < 24 && minute < 60 && second <= 60; // 60: a leap second
}

// Z, +02, +0200, +02:00
static bool take_offset(const char **p, const char *end, double *seconds)
{
    *seconds = 0.0;
    if (*p == end || take_letter(p, end, 'Z') || take_letter(p, end, 'z'))
        return true;
    int hour, minute = 0;
    double sign = take_letter(p, end, '+') ? 1.0 : -1.0;
    if (sign < 0.0 && !take_letter(p, end, '-'))
        return false;
    if (!take_number(p, end, 2, &hour))
        return false;
    if (*p < end) {
        take_letter(p, end, ':');
        if (!take_number(p, end, 2, &minute))
            return false;
    }
    *seconds = sign * (hour * 3600.0 + minute * 60.0);
    return hour < 24 && minute < 60;
}

bool rh_csv__time(const char *text, size_t n, double *seconds)
{
    const char *p = text, *end = text + n;
    int64_t days;
    double clock = 0.0, offset = 0.0;
    if (!take_date(&p, end, &days))
        return false;
    if (p < end) {
        if (!take_letter(&p, end, 'T') && !take_letter(&p, end, 't') &&
            !take_letter(&p, end, ' '))
            return false;
        if (!take_clock(&p, end, &clock))
            return false;
        while (p < end && *p == ' ')
            p++;
        if (!take_offset(&p, end, &offset))
            return false;
    }
    *seconds = (double)days * 86400.0 + clock - offset;
    return p == end;
}
