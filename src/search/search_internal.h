// search_internal.h - what the files of the room share.

#ifndef REHEARSE_SEARCH_INTERNAL_H
#define REHEARSE_SEARCH_INTERNAL_H

#include "rehearse/search.h"

// All that is known of one setting.
typedef struct rh_search__setting {
    double x[RH_MAX_DIM]; // (ndim)
    rh_setting_state state;
    int nrun;      // runs it was told with; 0: not told yet
    double value;  //
    double noise;  //
    double *score; // owned  (nrun)
} rh_search__setting;

struct rh_search {
    const rh_search_type *type;
    rh_space space;              // owns its names and values
    rh_search_options opt;       //
    double *param;               // owned  (nparam)
    rh_search__setting *setting; // owned  (nsetting, room for `room`)
    int nsetting, room;          //
    rh_asked *asked;             // owned: the batch under way  (nasked, room for `asked_room`)
    int nasked, asked_room, ntold; // ntold: those of them that were told
    bool over;                     //
    void *self;                    // owned: the kind's own       (self_size bytes)
};

// What a kind of search does.
struct rh_search_calls {
    size_t self_size;

    // Fill self, which arrives zeroed. Options and parameters have been checked. Nullable: err.
    rh_status (*init)(rh_search *search, rh_error *err);

    // Ask for the next batch, with rh_search__ask_new() and rh_search__ask_again(); asking for
    // nothing ends the search. All of the last batch has been told.
    rh_status (*ask)(rh_search *search, rh_error *err);

    // Settings and runs in all; see rh_search_foresee().
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

// Better first; equal ones in order of their numbers. By value alone.
int rh_search__lead_by_value(const rh_search *search, int most, rh_leader *leader);

extern const rh_search_type rh_search_grid, rh_search_random, rh_search_cem, rh_search_bayes,
    rh_search_race;

#endif
