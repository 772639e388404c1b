// file.h - the parts of a model file with source files of their own. After a failure, which the
// store keeps, they return NULL.

#ifndef MODEL_FILE_H
#define MODEL_FILE_H

#include "describe/field.h"
#include "model_internal.h"

// A model from the arrays of its file, some of which are taken out of state. path: for
// messages. Owned: *out. Nullable: err.
rh_status rh_model__load(rh_model **out, rh_state *state, const char *path, rh_error *err);

// The log, below "log/". Owned: the result.
void rh_model_file__write_log(rh_store *store, const rh_log *log);
rh_log *rh_model_file__read_log(rh_store *store);

// The fidelity, below "fidelity/". Owned: the result.
void rh_model_file__write_fidelity(rh_store *store, const rh_fidelity *f, const rh_log *log);
rh_fidelity *rh_model_file__read_fidelity(rh_store *store, const rh_log *log);

// The comparison that chose the model, below "compared/". Owned: the result.
void rh_model_file__write_compared(rh_store *store, const rh_model_comparison *c);
rh_model_comparison *rh_model_file__read_compared(rh_store *store);

// Parameters by name, at most RH_MODEL_NPARAM. One that a file lacks has its initial value;
// one that this program lacks is refused.
void rh_model_file__put_params(rh_store *store, const char *what, const rh_param *param, int n,
                               const double *x);
void rh_model_file__get_params(rh_store *store, const char *what, const char *owner,
                               const rh_param *param, int n, double *to);

// The numbers of a result by the names of its fields. One that a file lacks is NAN, or as
// before if it is a whole number.
void rh_model_file__put_fields(rh_store *store, const char *what, const rh_fields *fields,
                               const void *data);
void rh_model_file__get_fields(rh_store *store, const char *what, const rh_fields *fields,
                               void *data);

#endif
