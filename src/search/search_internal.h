// search_internal.h - what the files of the room share.

#ifndef REHEARSE_SEARCH_INTERNAL_H
#define REHEARSE_SEARCH_INTERNAL_H

#include "rehearse/search.h"

// ---------------------------------------------------------------------------- spaces

// A number of the dimension's own scale (a logarithm, where that is the scale) as one of its
// values: cut off at the ends, and the nearest multiple or, for a list, the value with the
// nearest number (0 .. nvalue - 1).
double rh_dim__round(const rh_dim *dim, double h);

// A plain number as one of the values of a range, whatever its scale.
double rh_dim__nearest(const rh_dim *dim, double x);

// Value number i of a finite dimension, 0 .. rh_dim_count() - 1.
double rh_dim__at(const rh_dim *dim, double i);

// A number as people write it, for messages.
typedef struct rh_search__text {
    char text[32];
} rh_search__text;
rh_search__text rh_search__write(double number);

// ---------------------------------------------------------------------------- handles

#define RH_SEARCH__MANY 1000000 // settings that a search can have
#define RH_SEARCH__CHUNK 256    // asked for at a time by those that need no answers

// All that is known of one setting.
typedef struct rh_search__setting {
    double *x; // owned, stays where it is                 (ndim)
    rh_setting_state state;
    int nrun;      // runs it was told with; 0: not told yet
    double value;  //
    double noise;  //
    double *score; // owned                                (nrun)
} rh_search__setting;

struct rh_search {
    const rh_search_type *type;
    rh_space space;              // its names and values are the ones below
    char *name[RH_MAX_DIM];      // owned
    double *value[RH_MAX_DIM];   // owned
    rh_search_options opt;       // param of it is the one below
    double *param;               // owned                           (nparam)
    rh_search__setting *setting; // owned                           (nsetting, for `room`)
    int nsetting, room;          //
    int *slot;                   // owned: settings by what they are; -1: free  (nslot)
    int nslot;                   // a power of two, 0 or at least twice nsetting
    rh_asked *asked;             // owned: the batch under way      (nasked, for `asked_room`)
    int nasked, asked_room;      //
    int ntold;                   // those of the batch that were told
    bool over;                   //
    void *self;                  // owned: the kind's own           (self_size bytes)
    bool alive;                  // whether self has seen init, and clear has something to do
};

// What a kind of search does.
struct rh_search_calls {
    size_t self_size;
    bool reopens; // a setting told with fewer than opt.nrun runs may be asked for again; the
                  // kind then says what becomes of it

    // Fill self, which arrives zeroed. Options and parameters have been checked.
    // NULL: nothing. Nullable: err.
    rh_status (*init)(rh_search *search, rh_error *err);

    // Ask for the next batch, with rh_search__ask_new() and rh_search__ask_again(); asking
    // for nothing ends the search. All of the last batch has been told.
    rh_status (*ask)(rh_search *search, rh_error *err);

    // Settings and runs in all; see rh_search_foresee(). NULL: the budget, or all there are,
    // with opt.nrun runs each.
    void (*foresee)(const rh_search *search, int *nsetting, int64_t *nrun);

    // As rh_search_lead(); NULL: by value, those with the most runs alone.
    int (*lead)(const rh_search *search, int most, rh_leader *leader);

    // Release what init took; also called when it failed half-way. NULL: nothing.
    void (*clear)(rh_search *search);
};

// Ask for a new setting x (ndim), with so many runs; or for more runs of an old one.
rh_status rh_search__ask_new(rh_search *search, const double *x, int nrun, rh_error *err);
rh_status rh_search__ask_again(rh_search *search, int setting, int nrun, rh_error *err);

// The number of a setting equal to x (ndim), or -1.
int rh_search__find(const rh_search *search, const double *x);

// Those with the most runs, by value: better first, equal ones in order of their numbers.
int rh_search__lead_by_value(const rh_search *search, int most, rh_leader *leader);

// A setting that was told, as a leader: by its own value, and what its noise says.
rh_leader rh_search__leader(const rh_search *search, int setting);

// The budget, or all settings of the space where these are fewer.
int rh_search__most(const rh_search *search);

rh_status rh_search__no_memory(const rh_search *search, rh_error *err);

extern const rh_search_type rh_search_grid, rh_search_random, rh_search_cem, rh_search_bayes,
    rh_search_race;

#endif
