// expression.c - compiles formulas over named columns to a short program for a stack.
//
//     formula = or { , or } [,]                       the sum of its parts
//     or      = and { (or | ||) and }
//     and     = not { (and | &&) not }
//     not     = not not | compare
//     compare = sum [ (> | >= | < | <= | == | !=) sum ]
//     sum     = product { (+ | -) product }
//     product = sign { (* | /) sign }
//     sign    = (- | + | !) sign | power
//     power   = value [ (^ | **) sign ]               2^-1, and -x^2 is -(x^2)
//     value   = number | name | ( or ) | function ( or { , or } )
//
// 1. Names of columns may contain anything ("net-gain", "T in [C]"): the longest name that
//    matches wins. Quotes make it explicit. A name before ( is a function.
// 2. Columns may be called 0, 1, 2: such a name is a column where it is a term of the whole sum
//    ("1 - 2"), and a number everywhere else ("2*x", "max(0, x)").
// 3. A missing number (NAN) makes the result missing, of comparisons, min and max too. But
//    `0 and NAN` is 0, `1 or NAN` is 1, and if(a, b, c) ignores the value it does not choose.
// 4. Powers with a whole exponent are products, so x^2 is x*x to the last bit. All functions
//    are those of base/maths: the same bits on every machine.
// 5. Both values of `if` are computed: nothing jumps, and the program is as long as the text.

#include "expression.h"
#include "base.h"
#include "base_internal.h"
#include "number.h"
#include "text.h"

#include <math.h>
#include <string.h>

typedef enum opcode {
    NUMBER,
    COLUMN,
    NEGATE,
    NOT,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    POWER,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    EQUAL,
    UNEQUAL,
    AND,
    OR,
    ABS,
    MIN,
    MAX,
    SQRT,
    EXP,
    LOG,
    SIN,
    COS,
    IF,
    CLIP
} opcode;

typedef struct function {
    const char *name;
    opcode code;
    int least, most; // values it takes; most 0: any number
} function;

static const function known[] = {{"abs", ABS, 1, 1},   {"min", MIN, 2, 0}, {"max", MAX, 2, 0},
                                 {"sqrt", SQRT, 1, 1}, {"exp", EXP, 1, 1}, {"log", LOG, 1, 1},
                                 {"sin", SIN, 1, 1},   {"cos", COS, 1, 1}, {"if", IF, 3, 3},
                                 {"clip", CLIP, 3, 3}};
#define NKNOWN ((int)(sizeof known / sizeof *known))

typedef struct parser {
    rh_expression *out;
    const rh_expression__scope *scope;
    const char *text, *p;
    const char *last; // the operator or name before p, NULL: none
    size_t nlast;
    int nroom, nspace; // how many op and span hold
    int nested, signs; // parentheses around p, and signs and powers before it
    int depth;         // numbers on the stack
    bool term;         // a term of the whole sum begins at p
    rh_error *err;
} parser;

static rh_status parse_or(parser *s);
static rh_status parse_sign(parser *s);

// ---------------------------------------------------------------------------- messages

// Characters from the beginning to `at`, counted from 1.
static int character(const parser *s, const char *at)
{
    int n = 1;
    for (const char *c = s->text; c < at; c++)
        n += ((unsigned char)*c & 0xc0) != 0x80;
    return n;
}

// "<label>: '<formula>': expected <what>[ after '<last>'] at character N".
static rh_status expected(const parser *s, const char *what, bool after)
{
    char shown[100], last[40], found[40] = "its end";
    size_t n = 0;
    if (*s->p) {
        n = strcspn(s->p, " \t");
        rh_text__printable_n(s->p, n < 24 ? n : 24, last, sizeof last);
        snprintf(found, sizeof found, "'%.36s'", last);
    }
    after = after && s->last;
    if (after)
        rh_text__printable_n(s->last, s->nlast, last, sizeof last);
    return rh_fail(s->err, RH_EINVAL, "%s: '%s': found %s, expected %s%s%s%s at character %d",
                   s->scope->label, rh_text__printable(s->text, shown, sizeof shown), found,
                   what, after ? " after '" : "", after ? last : "", after ? "'" : "",
                   character(s, s->p));
}

static rh_status too_deep(const parser *s)
{
    char shown[60];
    return rh_fail(s->err, RH_EINVAL,
                   "%s: '%s': more than %d parentheses and values within each other",
                   s->scope->label, rh_text__printable(s->text, shown, sizeof shown),
                   RH_EXPRESSION__DEPTH);
}

// ---------------------------------------------------------------------------- text

static void skip_blanks(parser *s)
{
    s->p += strspn(s->p, " \t\r\n");
}

static bool ends_name(char c)
{
    return c == 0 || strchr(" \t\r\n+-*/^,()<>=!&|", c);
}

// Move past an operator if it is here.
static bool take(parser *s, const char *operator)
{
    size_t n = strlen(operator);
    bool word = operator[0] >= 'a' && operator[0] <= 'z';
    skip_blanks(s);
    if (strncmp(s->p, operator, n) != 0 || (word && !ends_name(s->p[n])))
        return false;
    s->last = s->p;
    s->nlast = n;
    s->p += n;
    return true;
}

// The column with the longest name at p, and its length; -1 if there is none.
static int longest_name(const parser *s, size_t *length)
{
    int best = -1;
    *length = 0;
    for (int i = 0; i < s->scope->n; i++)
        for (int k = 0; k < 1 + (s->scope->alias != NULL); k++) {
            const char *name = k ? s->scope->alias[i] : s->scope->name[i];
            size_t n = strlen(name);
            if (n > *length && strncmp(s->p, name, n) == 0 && s->p[n] != '(' &&
                ends_name(s->p[n])) {
                best = i;
                *length = n;
            }
        }
    return best;
}

// The column with this name, or -1.
static int named(const parser *s, const char *name, size_t n)
{
    for (int k = 0; k < 1 + (s->scope->alias != NULL); k++)
        for (int i = 0; i < s->scope->n; i++) {
            const char *other = k ? s->scope->alias[i] : s->scope->name[i];
            if (strlen(other) == n && memcmp(other, name, n) == 0)
                return i;
        }
    return -1;
}

static rh_status unknown(const parser *s, const char *name, size_t n, bool call)
{
    char what[420], word[80];
    const char *all[NKNOWN];
    for (int i = 0; i < NKNOWN; i++)
        all[i] = known[i].name;
    snprintf(what, sizeof what, "%.380s: no %s", s->scope->label,
             call ? "function" : s->scope->what);
    rh_text__printable_n(name, n, word, sizeof word);
    return call ? rh_base__unknown(s->err, what, word, all, NKNOWN)
                : rh_base__unknown(s->err, what, word, s->scope->name, s->scope->n);
}

// ---------------------------------------------------------------------------- the program

// Add an instruction that takes `takes` numbers from the stack and leaves one.
static rh_status emit(parser *s, opcode code, int takes, int column, double number)
{
    rh_expression *e = s->out;
    if (e->nop == s->nroom) {
        rh_expression__op *more = rh_base__alloc_more(e->op, &s->nroom, e->nop, sizeof *e->op);
        if (!more)
            return rh_base__no_memory(s->err, s->scope->label);
        e->op = more;
    }
    e->op[e->nop++] = (rh_expression__op){(int)code, column, number};
    s->depth += 1 - takes;
    return s->depth > RH_EXPRESSION__DEPTH ? too_deep(s) : RH_OK;
}

static rh_status emit_column(parser *s, int column, const char *begin, const char *end)
{
    rh_expression *e = s->out;
    if (e->nspan == s->nspace) {
        rh_expression__span *more =
            rh_base__alloc_more(e->span, &s->nspace, e->nspan, sizeof *e->span);
        if (!more)
            return rh_base__no_memory(s->err, s->scope->label);
        e->span = more;
    }
    e->span[e->nspan++] =
        (rh_expression__span){(int)(begin - s->text), (int)(end - s->text), column};
    s->last = begin;
    s->nlast = (size_t)(end - begin);
    s->p = end;
    return emit(s, COLUMN, 0, column, 0.0);
}

// ---------------------------------------------------------------------------- values

static rh_status parse_call(parser *s, const function *f)
{
    int n = 0;
    const char *begin = s->p;
    rh_status rc = RH_OK;
    take(s, f->name);
    take(s, "(");
    do {
        rc = parse_or(s);
        if (!rc && ++n > 1 && f->most == 0)
            rc = emit(s, f->code, 2, 0, 0.0); // min(a, b, c) is min(min(a, b), c)
    } while (!rc && take(s, ","));
    if (!rc && !take(s, ")"))
        rc = expected(s, "')' or ','", true);
    if (!rc && (n < f->least || (f->most && n > f->most))) {
        char shown[100];
        rc = rh_fail(s->err, RH_EINVAL,
                     "%s: '%s': %d value%s for %s at character %d, expected %d%s",
                     s->scope->label, rh_text__printable(s->text, shown, sizeof shown), n,
                     n == 1 ? "" : "s", f->name, character(s, begin), f->least,
                     f->most ? "" : " or more");
    }
    return !rc && f->most ? emit(s, f->code, n, 0, 0.0) : rc;
}

static rh_status parse_inside(parser *s, const function *f)
{
    if (++s->nested > RH_EXPRESSION__DEPTH)
        return too_deep(s);
    rh_status rc = RH_OK;
    if (f) {
        rc = parse_call(s, f);
    } else {
        take(s, "(");
        rc = parse_or(s);
        if (!rc && !take(s, ")"))
            rc = expected(s, "')'", true);
    }
    s->nested--;
    return rc;
}

static rh_status parse_quoted(parser *s, const char *close)
{
    const char *begin = s->p;
    size_t n = (size_t)(close - begin - 1);
    int column = named(s, begin + 1, n);
    return column < 0 ? unknown(s, begin + 1, n, false)
                      : emit_column(s, column, begin, close + 1);
}

// Whether a number that is also a column's name stands for the column: decision 2.
static bool is_term(const parser *s, const char *after)
{
    const char *next = after + strspn(after, " \t\r\n");
    return s->term && s->nested == 0 && (*next == 0 || strchr("+-,", *next));
}

static rh_status parse_word(parser *s)
{
    const char *begin = s->p;
    size_t n = 0;
    while (!ends_name(begin[n]))
        n++;
    if (n == 0)
        return expected(s, "a value", true);
    if (begin[n + strspn(begin + n, " \t")] != '(')
        return unknown(s, begin, n, false);
    for (int i = 0; i < NKNOWN; i++)
        if (strlen(known[i].name) == n && memcmp(known[i].name, begin, n) == 0)
            return parse_inside(s, &known[i]);
    return unknown(s, begin, n, true);
}

static rh_status parse_value(parser *s)
{
    skip_blanks(s);
    const char *begin = s->p;
    const char *close = *begin == '"' || *begin == '\'' ? strchr(begin + 1, *begin) : NULL;
    if (close)
        return parse_quoted(s, close);

    // a number, unless it is the beginning of a name
    double x = 0.0;
    size_t n;
    int column = longest_name(s, &n);
    const char *after = *begin == '+' || *begin == '-'
                            ? NULL
                            : rh_number__parse(begin, begin + strlen(begin), &x);
    if (after) {
        bool factor = after[strspn(after, " \t")] == '*';
        bool longer = column >= 0 && begin + n > after && !factor;
        bool same = column >= 0 && begin + n == after && is_term(s, after);
        if (!ends_name(*after) && !longer)
            return parse_word(s);
        if (!longer && !same) {
            if (!isfinite(x))
                return expected(s, "a number below 1.8e308", false);
            s->last = begin;
            s->nlast = (size_t)(after - begin);
            s->p = after;
            return emit(s, NUMBER, 0, 0, x);
        }
    }
    if (column >= 0)
        return emit_column(s, column, begin, begin + n);
    if (*begin == '"' || *begin == '\'')
        return expected(s, "a closing quote", false);
    return *begin == '(' ? parse_inside(s, NULL) : parse_word(s);
}

// ---------------------------------------------------------------------------- operators

static rh_status parse_power(parser *s)
{
    rh_status rc = parse_value(s);
    s->term = false;
    if (!rc && (take(s, "^") || take(s, "**"))) {
        s->signs++;
        rc = parse_sign(s);
        s->signs--;
        if (!rc)
            rc = emit(s, POWER, 2, 0, 0.0);
    }
    return rc;
}

static rh_status parse_sign(parser *s)
{
    if (s->signs >= RH_EXPRESSION__DEPTH)
        return too_deep(s);
    skip_blanks(s);
    opcode code = NUMBER;
    if (strncmp(s->p, "!=", 2) != 0 && take(s, "!"))
        code = NOT;
    else if (take(s, "-"))
        code = NEGATE;
    else if (!take(s, "+"))
        return parse_power(s);
    s->signs++;
    rh_status rc = parse_sign(s);
    s->signs--;
    rh_expression__op *last = rc ? NULL : &s->out->op[s->out->nop - 1];
    if (!rc && code == NEGATE && last->code == NUMBER) {
        last->number = -last->number;
        return RH_OK;
    }
    return rc || code == NUMBER ? rc : emit(s, code, 1, 0, 0.0);
}

static rh_status parse_product(parser *s)
{
    rh_status rc = parse_sign(s);
    while (!rc) {
        bool times = strncmp(s->p + strspn(s->p, " \t\r\n"), "**", 2) != 0 && take(s, "*");
        if (!times && !take(s, "/"))
            break;
        rc = parse_sign(s);
        if (!rc)
            rc = emit(s, times ? MULTIPLY : DIVIDE, 2, 0, 0.0);
    }
    return rc;
}

static rh_status parse_sum(parser *s)
{
    rh_status rc = parse_product(s);
    while (!rc) {
        bool plus = take(s, "+");
        if (!plus && !take(s, "-"))
            break;
        s->term = s->nested == 0;
        rc = parse_product(s);
        if (!rc)
            rc = emit(s, plus ? ADD : SUBTRACT, 2, 0, 0.0);
    }
    return rc;
}

static bool take_comparison(parser *s, opcode *code)
{
    static const struct {
        const char *text;
        enum opcode code;
    } all[] = {{">=", GREATER_EQUAL}, {"<=", LESS_EQUAL}, {"==", EQUAL},
               {"!=", UNEQUAL},       {">", GREATER},     {"<", LESS}};
    for (int i = 0; i < 6; i++)
        if (take(s, all[i].text)) {
            *code = all[i].code;
            return true;
        }
    return false;
}

static rh_status parse_comparison(parser *s)
{
    opcode code, again;
    rh_status rc = parse_sum(s);
    if (rc || !take_comparison(s, &code))
        return rc;
    rc = parse_sum(s);
    if (rc)
        return rc;
    const char *here = s->p;
    if (take_comparison(s, &again)) {
        s->p = here;
        skip_blanks(s);
        return expected(s, "'and' between two comparisons", false);
    }
    return emit(s, code, 2, 0, 0.0);
}

static rh_status parse_not(parser *s)
{
    size_t n;
    skip_blanks(s);
    if (longest_name(s, &n) >= 0 || !take(s, "not"))
        return parse_comparison(s);
    if (++s->nested > RH_EXPRESSION__DEPTH)
        return too_deep(s);
    rh_status rc = parse_not(s);
    s->nested--;
    return rc ? rc : emit(s, NOT, 1, 0, 0.0);
}

static rh_status parse_and(parser *s)
{
    rh_status rc = parse_not(s);
    while (!rc && (take(s, "and") || take(s, "&&"))) {
        rc = parse_not(s);
        if (!rc)
            rc = emit(s, AND, 2, 0, 0.0);
    }
    return rc;
}

static rh_status parse_or(parser *s)
{
    rh_status rc = parse_and(s);
    while (!rc && (take(s, "or") || take(s, "||"))) {
        rc = parse_and(s);
        if (!rc)
            rc = emit(s, OR, 2, 0, 0.0);
    }
    return rc;
}

static rh_status parse_all(parser *s)
{
    rh_status rc = parse_or(s);
    while (!rc && take(s, ",")) {
        skip_blanks(s);
        if (!*s->p)
            break;
        s->term = true;
        rc = parse_or(s);
        if (!rc)
            rc = emit(s, ADD, 2, 0, 0.0);
    }
    skip_blanks(s);
    if (rc || !*s->p)
        return rc;
    const char *hint = *s->p == '='   ? "'=='"
                       : *s->p == '&' ? "'&&'"
                       : *s->p == '|' ? "'||'"
                                      : "an operator or the end";
    return expected(s, hint, true);
}

rh_status rh_expression__compile(rh_expression *out, const char *text,
                                 const rh_expression__scope *scope, rh_error *err)
{
    parser s = {.out = out, .scope = scope, .text = text, .p = text, .term = true, .err = err};
    *out = (rh_expression){0};
    size_t n = strlen(text);
    if (n > RH_EXPRESSION__LENGTH)
        return rh_fail(err, RH_EINVAL, "%s: a formula of %zu characters, expected at most %d",
                       scope->label, n, RH_EXPRESSION__LENGTH);
    rh_status rc = parse_all(&s);
    if (!rc && out->nspan == 0) {
        char shown[60];
        rc = rh_fail(err, RH_EINVAL, "%s: '%s': no %s in it, expected at least one",
                     scope->label, rh_text__printable(text, shown, sizeof shown), scope->what);
    }
    return rc;
}

rh_status rh_expression__compile_step(rh_expression *out, const char *text, int nobs, int nact,
                                      rh_error *err)
{
    enum { SIZE = 20 };
    int n = 2 * nobs + nact;
    *out = (rh_expression){0};
    const char **name = rh_alloc((size_t)n, sizeof *name + SIZE);
    if (!name)
        return rh_base__no_memory(err, "reward");
    for (int i = 0; i < n; i++) {
        char *to = (char *)(name + n) + i * SIZE;
        if (i < nobs)
            snprintf(to, SIZE, "obs[%d]", i);
        else if (i < nobs + nact)
            snprintf(to, SIZE, "act[%d]", i - nobs);
        else
            snprintf(to, SIZE, "next[%d]", i - nobs - nact);
        name[i] = to;
    }
    rh_expression__scope scope = {"reward", "number", name, NULL, n};
    rh_status rc = rh_expression__compile(out, text, &scope, err);
    rh_free((void *)name);
    return rc;
}

void rh_expression__clear(rh_expression *e)
{
    rh_free(e->op);
    rh_free(e->span);
    *e = (rh_expression){0};
}

// ---------------------------------------------------------------------------- values of it

static double power(double x, double y)
{
    if (y == floor(y) && fabs(y) <= 64.0) {
        double product = 1.0;
        for (int n = (int)fabs(y); n > 0; n >>= 1, x *= x)
            product *= n & 1 ? x : 1.0;
        return y < 0.0 ? 1.0 / product : product;
    }
    if (isnan(x) || isnan(y) || x < 0.0)
        return NAN;
    if (y == 0.5)
        return sqrt(x);
    if (x == 0.0)
        return y > 0.0 ? 0.0 : (double)INFINITY;
    return rh_exp(y * rh_ln(x));
}

// a and b: 1 or 0, NAN where that is unknown.
static double both(double a, double b)
{
    if (a == 0.0 || b == 0.0)
        return 0.0;
    return isnan(a) || isnan(b) ? (double)NAN : 1.0;
}

static double either(double a, double b)
{
    if ((a != 0.0 && !isnan(a)) || (b != 0.0 && !isnan(b)))
        return 1.0;
    return isnan(a) || isnan(b) ? (double)NAN : 0.0;
}

static double of_one(opcode code, double a)
{
    if (isnan(a))
        return NAN;
    switch ((int)code) {
    case NEGATE:
        return -a;
    case NOT:
        return a == 0.0;
    case ABS:
        return fabs(a);
    case SQRT:
        return a < 0.0 ? (double)NAN : sqrt(a);
    case EXP:
        return rh_exp(a);
    case LOG:
        return a < 0.0 ? (double)NAN : a == 0.0 ? -(double)INFINITY : rh_ln(a);
    case SIN:
        return isfinite(a) ? rh_sin(a) : (double)NAN;
    default:
        return isfinite(a) ? rh_cos(a) : (double)NAN;
    }
}

static double of_two(opcode code, double a, double b)
{
    if (code == AND)
        return both(a, b);
    if (code == OR)
        return either(a, b);
    if (isnan(a) || isnan(b))
        return NAN;
    switch ((int)code) {
    case ADD:
        return a + b;
    case SUBTRACT:
        return a - b;
    case MULTIPLY:
        return a * b;
    case DIVIDE:
        return a / b;
    case POWER:
        return power(a, b);
    case LESS:
        return a < b;
    case LESS_EQUAL:
        return a <= b;
    case GREATER:
        return a > b;
    case GREATER_EQUAL:
        return a >= b;
    case EQUAL:
        return a == b;
    case UNEQUAL:
        return a != b;
    case MIN:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}

static double of_three(opcode code, double a, double b, double c)
{
    if (code == IF)
        return isnan(a) ? (double)NAN : a != 0.0 ? b : c;
    if (isnan(a) || isnan(b) || isnan(c))
        return NAN;
    return a < b ? b : a > c ? c : a;
}

double rh_expression__value(const rh_expression *e, const double *x)
{
    double stack[RH_EXPRESSION__DEPTH + 1] = {0.0};
    int n = 0;
    for (int i = 0; i < e->nop; i++) {
        const rh_expression__op *op = &e->op[i];
        opcode code = (enum opcode)op->code;
        if (code == NUMBER || code == COLUMN) {
            stack[n++] = code == NUMBER ? op->number : x[op->column];
        } else if (code == IF || code == CLIP) {
            n -= 2;
            stack[n - 1] = of_three(code, stack[n - 1], stack[n], stack[n + 1]);
        } else if ((code >= ADD && code <= OR) || code == MIN || code == MAX) {
            n--;
            stack[n - 1] = of_two(code, stack[n - 1], stack[n]);
        } else {
            stack[n - 1] = of_one(code, stack[n - 1]);
        }
    }
    return n == 1 ? stack[0] : (double)NAN;
}

bool rh_expression__is_sum(const rh_expression *e)
{
    for (int i = 0; i < e->nop; i++) {
        int code = e->op[i].code;
        bool factor =
            code == MULTIPLY && (e->op[i - 1].code == NUMBER ||
                                 (e->op[i - 1].code == COLUMN && e->op[i - 2].code == NUMBER));
        if (code != NUMBER && code != COLUMN && code != NEGATE && code != ADD &&
            code != SUBTRACT && !factor)
            return false;
    }
    return true;
}

char *rh_expression__rename(const rh_expression *e, const char *text, const char *const *name)
{
    rh_text out = {0};
    int at = 0;
    for (int i = 0; i < e->nspan; i++) {
        rh_text__add_n(&out, text + at, (size_t)(e->span[i].begin - at));
        rh_text__add(&out, name[e->span[i].column]);
        at = e->span[i].end;
    }
    rh_text__add(&out, text + at);
    if (out.bad)
        rh_text__clear(&out);
    return out.data;
}
