/* Fails one I/O call on a database file: cc -shared -fPIC -o fault.so fault.c -ldl, then LD_PRELOAD it.
   FAULT_RUN starts a new count when it changes; FAULT_KIND is "write" or "sync"; FAULT_AT says which call of the kind fails, from 1.
   The call that failed leaves FAULT_FIRED set to FAULT_RUN. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int is_database(int fd) {
  char link[64], path[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, "evidence.db") != NULL;
}

static int fails(int fd, const char *kind) {
  static int count;
  static char last[64];
  const char *run = getenv("FAULT_RUN"), *wanted = getenv("FAULT_KIND"), *at = getenv("FAULT_AT");
  if (!run || !*run || !wanted || !at || strcmp(kind, wanted) != 0 || !is_database(fd)) return 0;
  if (strcmp(run, last) != 0) {
    count = 0;
    snprintf(last, sizeof last, "%s", run);
  }
  if (++count != atoi(at)) return 0;
  setenv("FAULT_FIRED", run, 1);
  return 1;
}

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, name);

int fsync(int fd) {
  REAL(int, "fsync", int)
  if (fails(fd, "sync")) return errno = EIO, -1;
  return real(fd);
}
int fdatasync(int fd) {
  REAL(int, "fdatasync", int)
  if (fails(fd, "sync")) return errno = EIO, -1;
  return real(fd);
}
ssize_t write(int fd, const void *bytes, size_t size) {
  REAL(ssize_t, "write", int, const void *, size_t)
  if (fails(fd, "write")) return errno = ENOSPC, -1;
  return real(fd, bytes, size);
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
  REAL(ssize_t, "pwrite", int, const void *, size_t, off_t)
  if (fails(fd, "write")) return errno = ENOSPC, -1;
  return real(fd, bytes, size, offset);
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset) {
  REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t)
  if (fails(fd, "write")) return errno = ENOSPC, -1;
  return real(fd, bytes, size, offset);
}
