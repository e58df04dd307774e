#include "CAllocations.h"

#include <stdatomic.h>

// Of the sanitizer's runtime: https://github.com/llvm/llvm-project, compiler-rt/include/sanitizer/allocator_interface.h
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(
    void (*allocated)(const volatile void *, size_t), void (*freed)(const volatile void *));
__attribute__((weak)) size_t __sanitizer_get_allocated_size(const volatile void *place);

static _Atomic int64_t alive, peak;

static void allocated(const volatile void *place, size_t size) {
    (void)place;
    int64_t now = atomic_fetch_add(&alive, (int64_t)size) + (int64_t)size;
    int64_t highest = atomic_load(&peak);
    while (now > highest && !atomic_compare_exchange_weak(&peak, &highest, now)) {
    }
}

static void freed(const volatile void *place) {
    if (place) atomic_fetch_sub(&alive, (int64_t)__sanitizer_get_allocated_size(place));
}

int allocations_watch(void) {
    if (!__sanitizer_install_malloc_and_free_hooks) return 0;
    return __sanitizer_install_malloc_and_free_hooks(allocated, freed) > 0;
}

void allocations_begin(void) {
    atomic_store(&alive, 0);
    atomic_store(&peak, 0);
}

int64_t allocations_peak(void) { return atomic_load(&peak); }
