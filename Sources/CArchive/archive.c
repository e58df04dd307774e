#include "CArchive.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#define BG_ZIP_FUNCTIONS(X)                                                                                            \
    X(zip_source_function_create)                                                                                      \
    X(zip_source_make_command_bitmap)                                                                                  \
    X(zip_source_buffer_create)                                                                                        \
    X(zip_source_free)                                                                                                 \
    X(zip_open_from_source)                                                                                            \
    X(zip_get_num_entries)                                                                                             \
    X(zip_stat_index)                                                                                                  \
    X(zip_fopen_index)                                                                                                 \
    X(zip_fread)                                                                                                       \
    X(zip_fclose)                                                                                                      \
    X(zip_file_add)                                                                                                    \
    X(zip_file_set_dostime)                                                                                            \
    X(zip_set_file_compression)                                                                                        \
    X(zip_close)                                                                                                       \
    X(zip_discard)                                                                                                     \
    X(zip_strerror)                                                                                                    \
    X(zip_file_strerror)                                                                                               \
    X(zip_error_init)                                                                                                  \
    X(zip_error_set)                                                                                                   \
    X(zip_error_strerror)                                                                                              \
    X(zip_error_to_data)                                                                                               \
    X(zip_error_fini)

static struct {
#define BG_ZIP_FIELD(name) __typeof__(&name) name;
    BG_ZIP_FUNCTIONS(BG_ZIP_FIELD)
#undef BG_ZIP_FIELD
    char failure[256];
} lib;

static void load(void) {
    // Debian 12 has version 4 of the library's interface, newer systems 5; what is called here is the same in both.
    void *handle = dlopen("libzip.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!handle) handle = dlopen("libzip.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *words = dlerror();
        snprintf(lib.failure, sizeof lib.failure, "libzip is not installed: %s", words ? words : "libzip.so.4");
        return;
    }
#define BG_ZIP_LOOK_UP(name)                                                                                           \
    lib.name = (__typeof__(lib.name))dlsym(handle, #name);                                                             \
    if (!lib.name) {                                                                                                   \
        snprintf(lib.failure, sizeof lib.failure, "libzip lacks %s", #name);                                           \
        return;                                                                                                        \
    }
    BG_ZIP_FUNCTIONS(BG_ZIP_LOOK_UP)
#undef BG_ZIP_LOOK_UP
}

static int is_loaded(char *reason, size_t reason_size) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (lib.failure[0]) snprintf(reason, reason_size, "%s", lib.failure);
    return !lib.failure[0];
}

struct bg_archive {
    zip_t *zip;
    int descriptor;
    zip_uint64_t byte_count;
    zip_uint64_t read_position;
    zip_uint64_t write_position;
    zip_error_t error;
};

static zip_int64_t failed(bg_archive *archive, int code) {
    lib.zip_error_set(&archive->error, code, errno);
    return -1;
}

// Where a seek leads; -1 where that is no place.
static zip_int64_t sought(bg_archive *archive, void *data, zip_uint64_t length, zip_uint64_t position) {
    if (length < sizeof(zip_source_args_seek_t)) return failed(archive, ZIP_ER_INVAL);
    const zip_source_args_seek_t *seek = data;
    zip_int64_t base = seek->whence == SEEK_SET   ? 0
                       : seek->whence == SEEK_CUR ? (zip_int64_t)position
                                                  : (zip_int64_t)archive->byte_count;
    zip_int64_t target;
    if (__builtin_add_overflow(base, seek->offset, &target) || target < 0) return failed(archive, ZIP_ER_SEEK);
    return target;
}

static zip_int64_t told(bg_archive *archive, void *data, zip_uint64_t length) {
    if (length < sizeof(zip_stat_t)) return failed(archive, ZIP_ER_INVAL);
    zip_stat_t *status = data;
    memset(status, 0, sizeof *status);
    status->valid = ZIP_STAT_SIZE;
    status->size = archive->byte_count;
    return sizeof *status;
}

// The file behind an archive, by position: the descriptor's own offset stays where it is.
static zip_int64_t serve(void *context, void *data, zip_uint64_t length, zip_source_cmd_t command) {
    bg_archive *archive = context;
    zip_int64_t count;
    switch (command) {
    case ZIP_SOURCE_OPEN:
        archive->read_position = 0;
        return 0;
    case ZIP_SOURCE_READ:
        if (archive->read_position >= archive->byte_count) return 0;
        if (length > archive->byte_count - archive->read_position) length = archive->byte_count - archive->read_position;
        do count = pread(archive->descriptor, data, length, (off_t)archive->read_position);
        while (count < 0 && errno == EINTR);
        if (count < 0) return failed(archive, ZIP_ER_READ);
        archive->read_position += (zip_uint64_t)count;
        return count;
    case ZIP_SOURCE_CLOSE: return 0;
    case ZIP_SOURCE_STAT: return told(archive, data, length);
    case ZIP_SOURCE_ERROR: return lib.zip_error_to_data(&archive->error, data, length);
    case ZIP_SOURCE_FREE: return 0;
    case ZIP_SOURCE_SEEK:
        count = sought(archive, data, length, archive->read_position);
        if (count < 0) return -1;
        archive->read_position = (zip_uint64_t)count;
        return 0;
    case ZIP_SOURCE_TELL: return (zip_int64_t)archive->read_position;
    case ZIP_SOURCE_BEGIN_WRITE:
        archive->write_position = 0;
        return 0;
    case ZIP_SOURCE_WRITE:
        for (zip_uint64_t done = 0; done < length;) {
            count = pwrite(archive->descriptor, (char *)data + done, length - done,
                           (off_t)(archive->write_position + done));
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return failed(archive, ZIP_ER_WRITE);
            done += (zip_uint64_t)count;
        }
        archive->write_position += length;
        if (archive->byte_count < archive->write_position) archive->byte_count = archive->write_position;
        return (zip_int64_t)length;
    case ZIP_SOURCE_SEEK_WRITE:
        count = sought(archive, data, length, archive->write_position);
        if (count < 0) return -1;
        archive->write_position = (zip_uint64_t)count;
        return 0;
    case ZIP_SOURCE_TELL_WRITE: return (zip_int64_t)archive->write_position;
    case ZIP_SOURCE_COMMIT_WRITE: return 0;
    case ZIP_SOURCE_ROLLBACK_WRITE: return 0;
    case ZIP_SOURCE_SUPPORTS:
        return lib.zip_source_make_command_bitmap(
            ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
            ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_SUPPORTS, ZIP_SOURCE_BEGIN_WRITE, ZIP_SOURCE_WRITE,
            ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE,
            ZIP_SOURCE_REMOVE, -1);
    case ZIP_SOURCE_REMOVE: return 0;
    default: return failed(archive, ZIP_ER_OPNOTSUPP);
    }
}

static bg_archive *opened(int descriptor, uint64_t byte_count, int flags, char *reason, size_t reason_size) {
    if (!is_loaded(reason, reason_size)) return NULL;
    bg_archive *archive = calloc(1, sizeof *archive);
    if (!archive) {
        snprintf(reason, reason_size, "no memory");
        return NULL;
    }
    archive->descriptor = descriptor;
    archive->byte_count = byte_count;
    lib.zip_error_init(&archive->error);
    zip_error_t error;
    lib.zip_error_init(&error);
    zip_source_t *source = lib.zip_source_function_create(serve, archive, &error);
    if (source) archive->zip = lib.zip_open_from_source(source, flags, &error);
    if (!archive->zip) {
        snprintf(reason, reason_size, "%s", lib.zip_error_strerror(&error));
        if (source) lib.zip_source_free(source);
        lib.zip_error_fini(&archive->error);
        free(archive);
        archive = NULL;
    }
    lib.zip_error_fini(&error);
    return archive;
}

bg_archive *bg_archive_open(int descriptor, uint64_t byte_count, char *reason, size_t reason_size) {
    return opened(descriptor, byte_count, ZIP_RDONLY | ZIP_CHECKCONS, reason, reason_size);
}

bg_archive *bg_archive_create(int descriptor, char *reason, size_t reason_size) {
    return opened(descriptor, 0, ZIP_CREATE | ZIP_TRUNCATE, reason, reason_size);
}

int64_t bg_archive_member_count(const bg_archive *archive) {
    return lib.zip_get_num_entries(archive->zip, 0);
}

static int refused(bg_archive *archive, char *reason, size_t reason_size) {
    snprintf(reason, reason_size, "%s", lib.zip_strerror(archive->zip));
    return -1;
}

int bg_archive_stat(bg_archive *archive, int64_t index, bg_archive_member *member, char *reason, size_t reason_size) {
    zip_stat_t status;
    if (lib.zip_stat_index(archive->zip, (zip_uint64_t)index, 0, &status) != 0)
        return refused(archive, reason, reason_size);
    if (!(status.valid & ZIP_STAT_NAME) || !(status.valid & ZIP_STAT_SIZE)) {
        snprintf(reason, reason_size, "a member has no name or size");
        return -1;
    }
    member->name = status.name;
    member->byte_count = status.size;
    return 0;
}

void *bg_archive_open_member(bg_archive *archive, int64_t index, char *reason, size_t reason_size) {
    zip_file_t *member = lib.zip_fopen_index(archive->zip, (zip_uint64_t)index, 0);
    if (!member) refused(archive, reason, reason_size);
    return member;
}

int64_t bg_archive_read(bg_archive *archive, void *member, void *bytes, uint64_t count, char *reason,
                        size_t reason_size) {
    (void)archive;
    zip_int64_t read = lib.zip_fread(member, bytes, count);
    if (read < 0) snprintf(reason, reason_size, "%s", lib.zip_file_strerror(member));
    return read;
}

void bg_archive_close_member(bg_archive *archive, void *member) {
    (void)archive;
    lib.zip_fclose(member);
}

int bg_archive_add(bg_archive *archive, const char *name, const void *bytes, uint64_t count, char *reason,
                   size_t reason_size) {
    zip_error_t error;
    lib.zip_error_init(&error);
    zip_source_t *source = lib.zip_source_buffer_create(bytes, count, 0, &error);
    lib.zip_error_fini(&error);
    if (!source) {
        snprintf(reason, reason_size, "no memory");
        return -1;
    }
    zip_int64_t index = lib.zip_file_add(archive->zip, name, source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        lib.zip_source_free(source);
        return refused(archive, reason, reason_size);
    }
    // The first day that the format knows, so that the same tensors give the same bytes.
    if (lib.zip_set_file_compression(archive->zip, (zip_uint64_t)index, ZIP_CM_STORE, 0) != 0 ||
        lib.zip_file_set_dostime(archive->zip, (zip_uint64_t)index, 0, 1 << 5 | 1, 0) != 0)
        return refused(archive, reason, reason_size);
    return 0;
}

int bg_archive_finish(bg_archive *archive, char *reason, size_t reason_size) {
    if (lib.zip_close(archive->zip) != 0) return refused(archive, reason, reason_size);
    archive->zip = NULL;
    return 0;
}

void bg_archive_close(bg_archive *archive) {
    if (!archive) return;
    if (archive->zip) lib.zip_discard(archive->zip);
    lib.zip_error_fini(&archive->error);
    free(archive);
}
