// The part of libzip's C interface that this package calls, opened at run time: it brings a TLS library with it, which only
// a process that reads or writes archives should pay for.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct bg_archive bg_archive;

// What a member is, from the archive's directory.
typedef struct {
    // Owned by the archive.
    const char *name;
    uint64_t byte_count;
} bg_archive_member;

// NULL with a reason where libzip is missing, or the bytes from 0 to `byte_count` are no sound archive. Reads by position
// from `descriptor`, which stays the caller's and open until the archive is closed.
bg_archive *bg_archive_open(int descriptor, uint64_t byte_count, char *reason, size_t reason_size);

// NULL with a reason where libzip is missing. Nothing is written before `bg_archive_finish`.
bg_archive *bg_archive_create(int descriptor, char *reason, size_t reason_size);

int64_t bg_archive_member_count(const bg_archive *archive);

// 0, or -1 with a reason.
int bg_archive_stat(bg_archive *archive, int64_t index, bg_archive_member *member, char *reason, size_t reason_size);

// A member that is read from its beginning; NULL with a reason.
void *bg_archive_open_member(bg_archive *archive, int64_t index, char *reason, size_t reason_size);

// Bytes read, 0 at the end, -1 with a reason, e.g. where a checksum is wrong.
int64_t bg_archive_read(bg_archive *archive, void *member, void *bytes, uint64_t count, char *reason, size_t reason_size);

void bg_archive_close_member(bg_archive *archive, void *member);

// Adds a member that is stored as it is; `bytes` must stay until the archive is finished or closed. 0, or -1 with a reason.
int bg_archive_add(bg_archive *archive, const char *name, const void *bytes, uint64_t count, char *reason,
                   size_t reason_size);

// Writes the archive from position 0 of the descriptor on; 0, or -1 with a reason. To be closed afterwards either way.
int bg_archive_finish(bg_archive *archive, char *reason, size_t reason_size);

// Gives everything back; nothing is written.
void bg_archive_close(bg_archive *archive);
