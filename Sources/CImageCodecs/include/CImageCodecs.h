#pragma once

#include "ic_error.h"
#include "ic_jpeg.h"
