/* Preloaded into a server under test: makes every fdatasync and fsync take SLOW_COMMIT_US microseconds longer, as a slower disk would. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_longer(void) {
    const char *given = getenv("SLOW_COMMIT_US");
    if (given) usleep((useconds_t)strtoul(given, 0, 10));
}

int fdatasync(int descriptor) {
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    wait_longer();
    return next(descriptor);
}

int fsync(int descriptor) {
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    wait_longer();
    return next(descriptor);
}
