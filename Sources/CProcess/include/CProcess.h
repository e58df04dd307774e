#pragma once

#include "confine.h"
#include "descriptors.h"
#include "files.h"
#include "landlock.h"
#include "pidfd.h"
#include "spawn_in.h"
