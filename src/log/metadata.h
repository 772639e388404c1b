// metadata.h - what a Minari dataset says of itself, in JSON.

#ifndef REHEARSE_LOG_METADATA_H
#define REHEARSE_LOG_METADATA_H

#include "log_internal.h"

#define RH_LEAF__NAME 200

typedef enum rh_minari__space_kind {
    RH_SPACE_UNKNOWN, // known by its dataset only
    RH_SPACE_BOX,
    RH_SPACE_DISCRETE,
    RH_SPACE_MULTI_DISCRETE,
    RH_SPACE_MULTI_BINARY,
    RH_SPACE_TEXT
} rh_minari__space_kind;

// One dataset of a space: a Dict or Tuple is flattened into several.
typedef struct rh_log__leaf {
    char path[RH_LEAF__NAME]; // below observations, "a/_index_0"; "" for the space itself
    char name[RH_LEAF__NAME]; // for people, "a.0"
    rh_minari__space_kind kind;
    int64_t width;    // numbers in a row; -1 when not known
    int64_t n, start; // of a Discrete space
    bool image;       // such as is stored as JPEG
} rh_log__leaf;

typedef struct rh_minari__space {
    rh_log__leaf *leaf; // owned  (nleaf)
    int nleaf;          // 0: not said
} rh_minari__space;

// What we keep beside, so that nothing is lost between formats. Lists are NULL when not said.
typedef struct rh_metadata__own {
    bool continuous; // one number per action, and yet not discrete
    char **label, **obs_name, **obs_unit, **act_name; // owned, one block each
    int nlabel, nobs_name, nobs_unit, nact_name;
    char *reward_name; // owned
} rh_metadata__own;

typedef struct rh_metadata {
    rh_minari__space observation, action;
    char format[16];  // data_format; "" when not said
    int64_t nepisode; // total_episodes; 0 when not said
    bool jpeg;        // images are stored as JPEG
} rh_metadata;

// Read metadata.json, text (n). `path` names it in messages.
rh_status rh_metadata__parse(rh_metadata *out, const char *text, size_t n, const char *path,
                             rh_error *err);

// Read a space alone, as it stands in an attribute: text (n).
rh_status rh_metadata__parse_space(rh_minari__space *out, const char *text, size_t n,
                                   const char *path, rh_error *err);

// Read what rh_metadata__print_own() wrote.
rh_status rh_metadata__parse_own(rh_metadata__own *out, const char *text, size_t n,
                                 const char *path, rh_error *err);

void rh_metadata__clear(rh_metadata *metadata);
void rh_metadata__clear_own(rh_metadata__own *own);

// What we keep of a log, and metadata.json for it. Owned: the answer, free with free(). NULL
// when memory ran out.
char *rh_metadata__print_own(const rh_log *log);
char *rh_metadata__print_space(const rh_log *log, bool action);
char *rh_metadata__print(const rh_log *log, const char *id, int64_t nepisode, double size);

// Whether n labels are whole numbers in a row, and the first of them.
bool rh_metadata__in_a_row(const char *const *label, int n, int64_t *start);

#endif
