/* The clock of a process, ahead by SDC_CLOCK_AHEAD seconds: for the tests of the embargo (LD_PRELOAD). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long ahead(void) {
    const char *seconds = getenv("SDC_CLOCK_AHEAD");
    return seconds ? atol(seconds) : 0;
}

int clock_gettime(clockid_t which, struct timespec *now) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(which, now);
    if (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)
        now->tv_sec += ahead();
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int (*real)(struct timeval *, void *) = dlsym(RTLD_NEXT, "gettimeofday");
    int failed = real(now, zone);
    now->tv_sec += ahead();
    return failed;
}

time_t time(time_t *where) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (where)
        *where = now.tv_sec;
    return now.tv_sec;
}
