// csv_time.c - dates and times: 2024-05-01T12:00:00.25Z, 2024-05-01 12:00+02:00 (ISO 8601),
// 01.05.2024 12:00, 5/1/2024 1:05 PM, 01-May-24 12:00:00.
//
// 1. With points the day comes first. With / or - it may be the day or the month, and one date
//    does not tell which: the column does (csv_order.c). A year of four digits may come first.
// 2. A month may be the first three characters of its English name, as PI writes it.
// 3. A year of two digits is in 1969 to 2068, as in POSIX.
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

static bool is_date(int year, int month, int day)
{
    static const int length[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month >= 1 && month <= 12 && day >= 1 &&
           day <= length[month - 1] + (leap && month == 2);
}

// 2024-05-01, 2024/05/01
static bool take_year_first(const char **p, const char *end, int64_t *days)
{
    int year, month, day;
    if (!take_number(p, end, 4, &year) || *p >= end || (**p != '-' && **p != '/'))
        return false;
    char separator = **p;
    if (!take_letter(p, end, separator) || !take_number(p, end, 2, &month) ||
        !take_letter(p, end, separator) || !take_number(p, end, 2, &day) ||
        !is_date(year, month, day))
        return false;
    *days = days_from_1970(year, month, day);
    return true;
}

// One or two digits.
static bool take_short(const char **p, const char *end, int *value)
{
    const char *from = *p;
    if (take_number(p, end, 2, value))
        return true;
    *p = from;
    return take_number(p, end, 1, value);
}

bool rh_csv__short_date(const char *text, size_t n, rh_csv__date *date)
{
    const char *p = text, *end = text + n;
    if (!take_short(&p, end, &date->first) || p >= end ||
        !(*p == '/' || *p == '-' || *p == '.'))
        return false;
    date->separator = *p;
    if (!take_letter(&p, end, date->separator) || !take_short(&p, end, &date->second) ||
        !take_letter(&p, end, date->separator))
        return false;
    const char *from = p;
    if (!take_number(&p, end, 4, &date->year)) {
        p = from;
        if (date->separator == '-' || !take_number(&p, end, 2, &date->year))
            return false; // 01-02-03 may begin with the year
        date->year += date->year < 69 ? 2000 : 1900;
    }
    date->length = (size_t)(p - text);
    bool points = date->separator == '.';
    date->day_first = is_date(date->year, date->second, date->first);
    date->month_first = !points && is_date(date->year, date->first, date->second);
    return (p >= end || *p == ' ' || *p == 'T' || *p == ',') &&
           (date->day_first || date->month_first);
}

// 01.05.2024, 5/1/2024. Without an order, the day comes first where it can.
static bool take_year_last(const char **p, const char *end, rh_dates order, int64_t *days)
{
    rh_csv__date date;
    if (!rh_csv__short_date(*p, (size_t)(end - *p), &date))
        return false;
    bool day_first = date.day_first && (order != RH_DATES_MONTH_FIRST || date.separator == '.');
    if (!day_first && (!date.month_first || order == RH_DATES_DAY_FIRST))
        return false;
    *days = day_first ? days_from_1970(date.year, date.second, date.first)
                      : days_from_1970(date.year, date.first, date.second);
    *p += date.length;
    return true;
}

// 01-May-24, 1-May-2024
static bool take_named_month(const char **p, const char *end, int64_t *days)
{
    static const char name[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    int day, month = 0, year;
    if (!take_short(p, end, &day) || !take_letter(p, end, '-') || end - *p < 3)
        return false;
    for (; month < 12; month++)
        if (((*p)[0] | 32) == name[3 * month] && ((*p)[1] | 32) == name[3 * month + 1] &&
            ((*p)[2] | 32) == name[3 * month + 2])
            break;
    *p += 3;
    if (month == 12 || !take_letter(p, end, '-'))
        return false;
    const char *from = *p;
    if (!take_number(p, end, 4, &year)) {
        *p = from;
        if (!take_number(p, end, 2, &year))
            return false;
        year += year < 69 ? 2000 : 1900;
    }
    *days = days_from_1970(year, month + 1, day);
    return is_date(year, month + 1, day);
}

// " PM" after a clock of twelve hours. False: it is none of twelve hours.
static bool take_half(const char **p, const char *end, int *hour)
{
    const char *q = *p + (*p < end && **p == ' ');
    if (end - q < 2 || ((*q | 32) != 'a' && (*q | 32) != 'p') || (q[1] | 32) != 'm')
        return true;
    if (*hour < 1 || *hour > 12)
        return false;
    *hour = *hour % 12 + ((*q | 32) == 'p' ? 12 : 0);
    *p = q + 2;
    return true;
}

// hh:mm, hh:mm:ss, hh:mm:ss.fff; brief: h:mm and AM or PM are allowed
static bool take_clock(const char **p, const char *end, bool brief, double *seconds)
{
    int hour, minute, second = 0;
    double fraction = 0.0, unit = 1.0;
    if (!(brief ? take_short(p, end, &hour) : take_number(p, end, 2, &hour)) ||
        !take_letter(p, end, ':') || !take_number(p, end, 2, &minute))
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
    if (brief && !take_half(p, end, &hour))
        return false;
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

bool rh_csv__time(const char *text, size_t n, rh_dates order, double *seconds)
{
    const char *p = text, *end = text + n;
    int64_t days;
    double clock = 0.0, offset = 0.0;
    bool iso = take_year_first(&p, end, &days);
    if (!iso) {
        p = text;
        bool named = take_named_month(&p, end, &days);
        p = named ? p : text;
        if (!named && !take_year_last(&p, end, order, &days))
            return false;
        take_letter(&p, end, ',');
    }
    if (p < end) {
        if (!take_letter(&p, end, 'T') && !take_letter(&p, end, 't') &&
            !take_letter(&p, end, ' '))
            return false;
        if (!take_clock(&p, end, !iso || text[4] == '/', &clock))
            return false;
        while (p < end && *p == ' ')
            p++;
        if (!take_offset(&p, end, &offset))
            return false;
    }
    *seconds = (double)days * 86400.0 + clock - offset;
    return p == end;
}
