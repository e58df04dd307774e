#include "landlock.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

// The structures and numbers of linux/landlock.h as of version 6. A kernel that knows less takes them as long as what it
// does not know is 0.
struct ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

struct beneath {
    uint64_t rights;
    int32_t target;
} __attribute__((packed));

enum { query_version = 1, rule_beneath = 1 };
enum { bind_tcp = 1 << 0, connect_tcp = 1 << 1 };
enum { scope_abstract_sockets = 1 << 0, scope_signals = 1 << 1 };

int bg_landlock_version(void) {
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, query_version);
}

uint64_t bg_landlock_file_rights(int version) {
    if (version < 1)
        return 0;
    unsigned last = version >= 5 ? 15 : version >= 3 ? 14 : version == 2 ? 13 : 12;
    return ((uint64_t)2 << last) - 1;
}

int bg_landlock_create(int version) {
    struct ruleset rules = {
        .files = bg_landlock_file_rights(version),
        .network = version >= 4 ? bind_tcp | connect_tcp : 0,
        .scopes = version >= 6 ? scope_abstract_sockets | scope_signals : 0,
    };
    return (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
}

int bg_landlock_allow(int ruleset, int target, uint64_t rights) {
    struct beneath rule = {.rights = rights, .target = target};
    return (int)syscall(SYS_landlock_add_rule, ruleset, rule_beneath, &rule, 0);
}

int bg_landlock_enforce(int ruleset) {
    return (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
}
