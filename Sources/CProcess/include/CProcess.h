#pragma once

#include "pidfd.h"
#include "spawn_in.h"
