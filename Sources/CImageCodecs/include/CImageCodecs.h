#pragma once

#include "ic_color.h"
#include "ic_error.h"
#include "ic_jpeg.h"
#include "ic_large.h"
#include "ic_library.h"
#include "ic_picture.h"
#include "ic_png.h"
#include "ic_pulse.h"
#include "ic_tiff.h"
#include "ic_webp.h"
