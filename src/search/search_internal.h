// search_internal.h - shared by the files of the search module.

#ifndef REHEARSE_SEARCH_INTERNAL_H
#define REHEARSE_SEARCH_INTERNAL_H

#include "rehearse/search.h"
#include "search.h"

// ---------------------------------------------------------------------------- spaces

// Round h, a number on the dimension's scale (a logarithm on a log scale), to one of its
// values: clipped to the ends, then the nearest multiple. For a list, h is an index.
double rh_dim__round(const rh_dim *dim, double h);

// Round x to a value of a range, whatever its scale.
double rh_dim__nearest(const rh_dim *dim, double x);

// Value number i of a finite dimension, 0 .. rh_dim__count() - 1.
double rh_dim__at(const rh_dim *dim, double i);

// Write the setting at position u (ndim) of the unit cube to x (ndim); see rh_space__unit().
void rh_space__place(const rh_space *space, const double *u, double *x);

// A number for messages, with the fewest digits.
typedef struct rh_search__text {
    char text[32];
} rh_search__text;
rh_search__text rh_search__write(double number);

// ---------------------------------------------------------------------------- handles

#define RH_SEARCH__MANY 1000000 // largest number of settings of a search
#define RH_SEARCH__CHUNK 256    // settings per ask of methods that do not depend on scores

// One setting and its result.
typedef struct rh_search__setting {
    double *x; // owned, never moves                       (ndim)
    rh_setting_state state;
    int nrun;      // runs told; 0: not told yet
    double value;  //
    double noise;  //
    double *score; // owned                                (nrun)
    bool broken;   // some of its runs broke down, or its value is -INFINITY
} rh_search__setting;

// Whether a ranks above b: a setting without broken runs first, then by value.
bool rh_search__above(const rh_search__setting *a, const rh_search__setting *b);

struct rh_search {
    const rh_search_type *type;   // the method, or rh_search_arms
    const rh_search_type *method; // that the caller chose
    rh_space space;               // with the names and values below
    char *name[RH_MAX_DIM];       // owned
    double *value[RH_MAX_DIM];    // owned
    rh_search__options opt;       // with the param below
    double *param;                // owned                           (nparam)
    double *first, *cost;         // owned: those of the options
    rh_search__setting *setting;  // owned                           (nsetting, for `room`)
    int nsetting, room;           //
    int *slot;                    // owned: hash table of settings; -1: free     (nslot)
    int nslot;                    // a power of two, 0 or at least twice nsetting
    rh_search__asked *asked;      // owned: the current batch        (nasked, for `asked_room`)
    int nasked, asked_room;       //
    int ntold;                    // results told of the batch
    double *known;                // owned: see rh_search__recall()   (nknown x ndim)
    int nknown;                   //
    bool over;                    //
    void *self;                   // owned: the method's own         (self_size bytes)
    bool alive;                   // whether init was called
};

// The functions of a method.
struct rh_search_calls {
    size_t self_size;
    bool reopens; // settings with fewer than opt.nrun runs may get more; the method then sets
                  // their state

    // Fill the zeroed self; options and parameters have been checked. Nullable: the call, err.
    rh_status (*init)(rh_search *search, rh_error *err);

    // Propose the next batch with rh_search__ask_new() and rh_search__ask_again(); an empty
    // batch ends the search. All results of the last batch have been told.
    rh_status (*ask)(rh_search *search, rh_error *err);

    // Setting number i was told. NULL: nothing to do. Nullable: err.
    rh_status (*told)(rh_search *search, int setting, rh_error *err);

    // See rh_search__foresee(). NULL: the budget or the whole space, with opt.nrun runs each.
    void (*foresee)(const rh_search *search, int *nsetting, int64_t *nrun);

    // See rh_search__lead(). NULL: by value, among the settings with the most runs.
    int (*lead)(const rh_search *search, int most, rh_search__lead_entry *leader);

    // Release what init took, also after a failed init. NULL: nothing.
    void (*clear)(rh_search *search);
};

// Propose a new setting x (ndim) with nrun runs, or more runs of an earlier one.
rh_status rh_search__ask_new(rh_search *search, const double *x, int nrun, rh_error *err);
rh_status rh_search__ask_again(rh_search *search, int setting, int nrun, rh_error *err);

// Propose the settings of opt.first that the space has.
rh_status rh_search__ask_first(rh_search *search, rh_error *err);

// The index of the setting equal to x (ndim), or -1.
int rh_search__find(const rh_search *search, const double *x);

// Setting number i of an earlier search; NULL: not known.
const double *rh_search__known(const rh_search *search, int i);

// The settings with the most runs, best first; ties by index.
int rh_search__lead_by_value(const rh_search *search, int most, rh_search__lead_entry *leader);

// Insert a leader into the first *n of leader (most), below all that rank above it: without
// broken runs first, then by value, then in their order.
void rh_search__add_leader(const rh_search *search, const rh_search__lead_entry *new, int most,
                           rh_search__lead_entry *leader, int *n);

// A told setting as a leader, with its own value and noise.
rh_search__lead_entry rh_search__leader(const rh_search *search, int setting);

// The smaller of the budget and the number of settings of the space.
int rh_search__most(const rh_search *search);

extern const rh_search_type rh_search_grid, rh_search_random, rh_search_cem, rh_search_bayes,
    rh_search_bayes_opt, rh_search_race;
extern const rh_search_type rh_search_arms; // of spaces with branches; arms.c

#endif
