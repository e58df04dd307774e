#pragma once

#include "code_pages.h"
#include "confine.h"
#include "descriptors.h"
#include "files.h"
#include "landlock.h"
#include "pidfd.h"
#include "spawn_in.h"
