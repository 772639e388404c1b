// export.h - the code of agents on devices, which cmake/texts.cmake puts into the library.

#ifndef REHEARSE_DEPLOY_EXPORT_H
#define REHEARSE_DEPLOY_EXPORT_H

// A file of deploy/device/; the last one has no name.
typedef struct rh_export__text {
    const char *name, *text;
} rh_export__text;
extern const rh_export__text rh_export__code[];

#endif
