// rehearse.h - includes all public headers.

#ifndef REHEARSE_REHEARSE_H
#define REHEARSE_REHEARSE_H

#include "rehearse/agent.h"
#include "rehearse/base.h"
#include "rehearse/contract.h"
#include "rehearse/deploy.h"
#include "rehearse/describe.h"
#include "rehearse/env.h"
#include "rehearse/eval.h"
#include "rehearse/key.h"
#include "rehearse/log.h"
#include "rehearse/model.h"
#include "rehearse/plugin.h"
#include "rehearse/report.h"
#include "rehearse/repr.h"
#include "rehearse/search.h"
#include "rehearse/study.h"

#endif
