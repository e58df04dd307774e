#pragma once

#include <lcms2.h>

#include "include/ic_color.h"

/// A context whose errors go nowhere; what fails is known by its result.
cmsContext ic_color_context(void);

/// NULL when the bytes are no profile.
cmsHPROFILE ic_color_open_profile(cmsContext context, const ic_color_space *space);
