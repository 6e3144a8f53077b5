/* A file layer that fails: loaded before the C library (LD_PRELOAD), so that whatever writes goes through it, be it
 * Python, Arrow or DuckDB. Below a folder it counts what changes files: opening for writing, writing, fsync, renaming,
 * making folders. The one with the number that was asked for fails with an error, or sends a signal. It can let the
 * clock jump, too. Nothing happens until fault_arm is called.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FILES 65536

static char root[PATH_MAX];
static int wanted, error, lasting, sign;
static atomic_int done;
static _Atomic char ours[FILES];
static long jump;
static atomic_int asked;

/* Count from 1 below a folder; number `which` (0: none) fails with `number`, and all after it if `from_then_on`, or
 * sends the signal `-number`. */
void fault_arm(const char *folder, int which, int number, int from_then_on) {
    strncpy(root, folder, sizeof root - 1);
    wanted = which;
    error = number > 0 ? number : 0;
    sign = number < 0 ? -number : 0;
    lasting = from_then_on;
    atomic_store(&done, 0);
}

int fault_count(void) { return atomic_load(&done); }

/* Let every second look at the clock be so many seconds later. */
void fault_clock(long seconds) { jump = seconds; }

static int fails(void) {
    int number = atomic_fetch_add(&done, 1) + 1;
    if (!wanted || number < wanted || (number > wanted && !(lasting && error))) return 0;
    if (sign) {
        kill(getpid(), sign);
        return 0;
    }
    errno = error;
    return 1;
}

static int below(const char *path) {
    char whole[PATH_MAX];
    if (!root[0] || !path) return 0;
    if (path[0] != '/') {
        if (!getcwd(whole, sizeof whole)) return 0;
        path = whole;
    }
    return strncmp(path, root, strlen(root)) == 0;
}

static int is_ours(int file) { return file >= 0 && file < FILES && atomic_load(&ours[file]); }

static void mark(int file, char is) {
    if (file >= 0 && file < FILES) atomic_store(&ours[file], is);
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define OPENING(name, before, given)                                                     \
        int writes = flags & (O_WRONLY | O_RDWR | O_CREAT);                              \
        mode_t mode = 0;                                                                 \
        if (flags & (O_CREAT | O_TMPFILE)) {                                             \
            va_list rest;                                                                \
            va_start(rest, flags);                                                       \
            mode = va_arg(rest, mode_t);                                                 \
            va_end(rest);                                                                \
        }                                                                                \
        REAL(name);                                                                      \
        int is = below(path);                                                            \
        if (is && writes && fails()) return -1;                                          \
        int file = real given;                                                           \
        mark(file, is && writes);                                                        \
        return file;

int open(const char *path, int flags, ...) { OPENING(open, , (path, flags, mode)) }
int open64(const char *path, int flags, ...) { OPENING(open64, , (path, flags, mode)) }
int openat(int folder, const char *path, int flags, ...) { OPENING(openat, , (folder, path, flags, mode)) }
int openat64(int folder, const char *path, int flags, ...) { OPENING(openat64, , (folder, path, flags, mode)) }

int close(int file) {
    REAL(close);
    mark(file, 0);
    return real(file);
}

ssize_t write(int file, const void *what, size_t many) {
    REAL(write);
    return is_ours(file) && fails() ? -1 : real(file, what, many);
}
ssize_t writev(int file, const struct iovec *what, int many) {
    REAL(writev);
    return is_ours(file) && fails() ? -1 : real(file, what, many);
}
ssize_t pwrite(int file, const void *what, size_t many, off_t where) {
    REAL(pwrite);
    return is_ours(file) && fails() ? -1 : real(file, what, many, where);
}
ssize_t pwrite64(int file, const void *what, size_t many, off64_t where) {
    REAL(pwrite64);
    return is_ours(file) && fails() ? -1 : real(file, what, many, where);
}
int ftruncate(int file, off_t size) {
    REAL(ftruncate);
    return is_ours(file) && fails() ? -1 : real(file, size);
}
/* Files and folders are opened for reading to be brought to the disk. */
int fsync(int file) {
    REAL(fsync);
    return root[0] && fails() ? -1 : real(file);
}
int fdatasync(int file) {
    REAL(fdatasync);
    return root[0] && fails() ? -1 : real(file);
}
int rename(const char *from, const char *to) {
    REAL(rename);
    return below(to) && fails() ? -1 : real(from, to);
}
int renameat(int here, const char *from, int there, const char *to) {
    REAL(renameat);
    return below(to) && fails() ? -1 : real(here, from, there, to);
}
int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    return below(path) && fails() ? -1 : real(path, mode);
}

static long shift(void) { return jump && (atomic_fetch_add(&asked, 1) % 2) ? jump : 0; }

int clock_gettime(clockid_t which, struct timespec *now) {
    REAL(clock_gettime);
    int found = real(which, now);
    if (jump && which == CLOCK_REALTIME) now->tv_sec += shift();
    return found;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int (*real)(struct timeval *restrict, void *restrict) = dlsym(RTLD_NEXT, "gettimeofday");
    int found = real(now, zone);
    if (jump) now->tv_sec += shift();
    return found;
}
