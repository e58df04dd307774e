#define BG_TABLE bg_kernels_baseline
#include "kernels_cpu.h"
