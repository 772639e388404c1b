// metadata.h - the JSON metadata of a Minari dataset.

#ifndef REHEARSE_LOG_METADATA_H
#define REHEARSE_LOG_METADATA_H

#include "log_internal.h"

#define RH_LEAF__NAME 200

typedef enum rh_minari__space_kind {
    RH_SPACE_UNKNOWN, // not declared, known from its dataset only
    RH_SPACE_BOX,
    RH_SPACE_DISCRETE,
    RH_SPACE_MULTI_DISCRETE,
    RH_SPACE_MULTI_BINARY,
    RH_SPACE_TEXT
} rh_minari__space_kind;

// One dataset of a space; a Dict or Tuple has several.
typedef struct rh_log__leaf {
    char path[RH_LEAF__NAME]; // below observations, "a/_index_0"; "" for the space itself
    char name[RH_LEAF__NAME]; // for messages, "a.0"
    rh_minari__space_kind kind;
    int64_t width;    // numbers in a row; -1 if unknown
    int64_t n, start; // of a Discrete space; n: values, or combinations of a product
    bool image;       // stored as JPEG
} rh_log__leaf;

typedef struct rh_minari__space {
    rh_log__leaf *leaf; // owned  (nleaf)
    int nleaf;          // 0: not declared
} rh_minari__space;

// What rehearse stores in addition, so that no format loses anything. NULL: not given.
typedef struct rh_metadata__own {
    bool continuous;                                  // one number per action, but not discrete
    char **label, **obs_name, **obs_unit, **act_name; // owned, one block each
    int nlabel, nobs_name, nobs_unit, nact_name;
    char *reward_name; // owned
} rh_metadata__own;

typedef struct rh_metadata {
    rh_minari__space observation, action;
    char format[16];  // data_format; "" if not given
    int64_t nepisode; // total_episodes; 0 if not given
    bool jpeg;        // images are stored as JPEG
} rh_metadata;

// Parse metadata.json, text (n). path: for messages.
rh_status rh_metadata__parse(rh_metadata *out, const char *text, size_t n, const char *path,
                             rh_error *err);

// Parse a single space from an attribute, text (n).
rh_status rh_metadata__parse_space(rh_minari__space *out, const char *text, size_t n,
                                   const char *path, rh_error *err);

// Parse what rh_metadata__print_own() wrote.
rh_status rh_metadata__parse_own(rh_metadata__own *out, const char *text, size_t n,
                                 const char *path, rh_error *err);

void rh_metadata__clear(rh_metadata *metadata);
void rh_metadata__clear_own(rh_metadata__own *own);

// What rehearse adds, and metadata.json. Owned: free with free(). NULL if memory runs out.
char *rh_metadata__print_own(const rh_log *log);
char *rh_metadata__print_space(const rh_log *log, bool action);
char *rh_metadata__print(const rh_log *log, const char *id, int64_t nepisode, double size);

// Whether n labels are consecutive integers, and the first of them.
bool rh_metadata__in_a_row(const char *const *label, int n, int64_t *start);

#endif
