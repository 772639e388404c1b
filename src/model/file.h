// file.h - the parts of a model file with source files of their own.

#ifndef MODEL_FILE_H
#define MODEL_FILE_H

#include "model_internal.h"

// The log, below "log/". Owned: *out.
rh_status rh_model_file__write_log(rh_store *store, const rh_log *log, rh_error *err);
// A whole model. Owned: *out. Nullable: err.
rh_status rh_model_file__read(rh_model **out, rh_store *store, rh_error *err);

rh_status rh_model_file__read_log(rh_store *store, rh_log **out, rh_error *err);

// The fidelity, below "fidelity/". Owned: *out.
rh_status rh_model_file__write_fidelity(rh_store *store, const rh_fidelity *f,
                                        const rh_log *log, rh_error *err);
rh_status rh_model_file__read_fidelity(rh_store *store, rh_fidelity **out, const rh_log *log,
                                       rh_error *err);

// The comparison that chose the model, below "compared/". Owned: *out.
rh_status rh_model_file__write_compared(rh_store *store, const rh_model_comparison *c,
                                        rh_error *err);
rh_status rh_model_file__read_compared(rh_store *store, rh_model_comparison **out,
                                       rh_error *err);

// Numbers with names, so that a later version may add some.
rh_status rh_model_file__put_named(rh_store *store, const char *name, const char *const *names,
                                   const double *x, int n, rh_error *err);
// Owned: *names, *x (*n).
rh_status rh_model_file__get_named(rh_store *store, const char *name, char ***names, double **x,
                                   int *n, rh_error *err);

// Pass on the error of another module, with the file and `name` before it.
rh_status rh_model_file__pass(const rh_store *store, const char *name, rh_status status,
                              const rh_error *why, rh_error *err);

#endif
