/*
 * Asks the resident daemon for the answer to a hook. Written in C because its start-up time is close to zero.
 *
 *   hook-client SOCKET TOKENFILE ENTRY DEADLINE_MS NODE hook CLIENT
 *   hook-client SOCKET TOKENFILE ENTRY DEADLINE_MS NODE run TICKET
 *   hook-client SOCKET TOKENFILE ENTRY DEADLINE_MS NODE line FOLDER
 *
 * If the daemon cannot be asked, this process is replaced by `NODE ENTRY alone hook CLIENT`, which answers with the
 * same standard input. This program itself exits with 0 only if it has received the daemon's complete answer with that
 * status.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_INPUT (32u << 20)
#define MAX_ANSWER (64u << 20)
#define REFUSED 2
#define NOT_RUN 125

extern char **environ;

struct buffer {
  char *bytes;
  size_t length, room;
};

/* The output and exit status of a process. */
struct frame {
  int status;
  size_t out, err;
  const char *body;
};

static int64_t deadline = INT64_MAX;
static int hook = 1, line = 0;
static struct buffer input;

static void fail(const char *why) {
  dprintf(STDERR_FILENO, "hopgate could not %s: %s\n", hook ? "decide this call, so it is refused" : line ? "print its status line" : "run this command", why);
  _exit(hook ? REFUSED : line ? 1 : NOT_RUN);
}

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void reserve(struct buffer *b, size_t more) {
  if (b->length + more <= b->room) return;
  size_t room = b->room ? b->room : 8192;
  while (room < b->length + more) room *= 2;
  b->bytes = realloc(b->bytes, room);
  if (!b->bytes) fail("there is not enough memory");
  b->room = room;
}

static void add(struct buffer *b, const char *bytes, size_t length) {
  reserve(b, length);
  memcpy(b->bytes + b->length, bytes, length);
  b->length += length;
}

static void add_text(struct buffer *b, const char *text) { add(b, text, strlen(text)); }

static void add_encoded(struct buffer *b, const char *text) {
  static const char hex[] = "0123456789ABCDEF";
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c > ' ' && *c < 127 && *c != '%') add(b, (const char *)c, 1);
    else {
      char code[3] = {'%', hex[*c >> 4], hex[*c & 15]};
      add(b, code, 3);
    }
  }
}

/* Waits until a descriptor is ready. Returns 0 at the deadline or after an error. */
static int ready(int fd, short events) {
  for (;;) {
    int64_t left = deadline == INT64_MAX ? -1 : deadline - now_ms();
    if (deadline != INT64_MAX && left <= 0) return 0;
    struct pollfd p = {fd, events, 0};
    int n = poll(&p, 1, left > INT32_MAX ? -1 : (int)left);
    if (n > 0) return 1;
    if (n < 0 && errno != EINTR) return 0;
  }
}

static void read_all_input(void) {
  for (;;) {
    if (!ready(STDIN_FILENO, POLLIN)) fail("its input did not end in time");
    reserve(&input, 65536);
    ssize_t n = read(STDIN_FILENO, input.bytes + input.length, input.room - input.length);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("its input cannot be read");
    if (n == 0) return;
    input.length += (size_t)n;
    if (input.length > MAX_INPUT) fail("its input is larger than 32 MiB");
  }
}

/* Starts a daemon for later requests, in a session of its own. If another daemon runs, one of the two exits. */
static void start_daemon(char **argv) {
  const char *wish = getenv("HOPGATE_DAEMON");
  if (wish && !strcmp(wish, "off")) return;
  pid_t child = fork();
  if (child > 0) {
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    return;
  }
  if (child < 0) return;
  if (setsid() < 0 || fork() != 0) _exit(0);
  int null = open("/dev/null", O_RDWR);
  if (null < 0 || chdir("/") != 0) _exit(0);
  for (int fd = 0; fd < 256; fd++)
    if (fd != null) close(fd);
  for (int fd = 0; fd < 3; fd++) dup2(null, fd);
  char *daemon[] = {argv[5], "--max-semi-space-size=4", argv[3], "daemon", NULL};
  unsetenv("NODE_OPTIONS");
  execv(argv[5], daemon);
  _exit(0);
}

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0) return -1;
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
    close(fd);
    return -1;
  }
#if defined(SO_PEERCRED) && defined(__linux__)
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid())
    fail("the daemon's socket belongs to another user");
#elif defined(__APPLE__) || defined(__FreeBSD__)
  uid_t uid;
  gid_t gid;
  if (getpeereid(fd, &uid, &gid) != 0 || uid != geteuid()) fail("the daemon's socket belongs to another user");
#endif
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  return fd;
}

/* Returns 0 if the daemon has closed the connection. */
static int send_all(int fd, const struct buffer *b) {
  for (size_t at = 0; at < b->length;) {
    ssize_t n = write(fd, b->bytes + at, b->length - at);
    if (n > 0) at += (size_t)n;
    else if (n < 0 && errno == EINTR) continue;
    else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (!ready(fd, POLLOUT)) fail("the daemon did not accept the request in time");
    } else return 0;
  }
  return 1;
}

/* Reads once, and puts a zero after the bytes. Returns 0 at the end of the answer. */
static int receive(int fd, struct buffer *b) {
  reserve(b, 65536);
  ssize_t n = read(fd, b->bytes + b->length, b->room - b->length - 1);
  if (n > 0) b->length += (size_t)n;
  b->bytes[b->length] = 0;
  if (b->length > MAX_ANSWER) fail("the answer is too large");
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

static int wanted(const char *variable) {
  static const char *prefixes[] = {"HOPGATE_", "CLAUDE_", "CODEX_"};
  const char *end = strchr(variable, '=');
  if (!end) return 0;
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (!strncmp(variable, prefixes[i], strlen(prefixes[i]))) {
      const char *secrets[] = {"TOKEN", "KEY", "SECRET", "PASSWORD"};
      for (size_t j = 0; j < sizeof secrets / sizeof *secrets; j++) {
        const char *found = strstr(variable, secrets[j]);
        if (found && found < end) return 0;
      }
      return 1;
    }
  return 0;
}

/* Adds the header with the daemon's token. Returns 0 if there is no usable token. */
static int add_token(struct buffer *b, const char *file) {
  char token[128];
  struct stat s;
  int fd = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t n = fstat(fd, &s) == 0 && s.st_uid == geteuid() && !(s.st_mode & 077) ? read(fd, token, sizeof token - 1) : -1;
  close(fd);
  if (n < 32) return 0;
  token[n] = 0;
  token[strcspn(token, "\r\n")] = 0;
  add_text(b, "Authorization: Bearer ");
  add_text(b, token);
  add_text(b, "\r\n");
  return 1;
}

static int put_out(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t n = write(fd, bytes, length);
    if (n > 0) {
      bytes += n;
      length -= (size_t)n;
    } else if (n < 0 && errno == EINTR) continue;
    else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) ready(fd, POLLOUT);
    else return 0;
  }
  return 1;
}

/* Parses the daemon's answer frame, which must have `length` bytes. Returns 0 if it is incomplete or invalid. */
static int read_frame(const char *bytes, size_t length, struct frame *f) {
  int used = 0;
  /* White space at the end of the pattern would also skip white space at the beginning of the output. */
  if (sscanf(bytes, "hopgate %d %zu %zu%n", &f->status, &f->out, &f->err, &used) != 3 || used <= 0 || bytes[used] != '\n')
    return 0;
  f->body = bytes + used + 1;
  return f->status >= 0 && f->status <= 255 && f->out <= MAX_ANSWER && f->err <= MAX_ANSWER &&
         length == (size_t)used + 1 + f->out + f->err;
}

/* Prints the parts of a command's output that have arrived, and removes them from the answer. */
static void pass_parts(struct buffer *b) {
  const char *body = strncmp(b->bytes, "HTTP/1.1 200", 12) ? NULL : strstr(b->bytes, "\r\n\r\n");
  if (!body) return;
  size_t head = (size_t)(body - b->bytes) + 4, length;
  for (int used = 0; sscanf(b->bytes + head, "part %zu%n", &length, &used) == 1 && length <= MAX_ANSWER; used = 0) {
    size_t start = head + (size_t)used + 1;
    if (b->length < start + length || b->bytes[start - 1] != '\n') return;
    if (!put_out(STDOUT_FILENO, b->bytes + start, length)) _exit(141);
    b->length -= start + length - head;
    memmove(b->bytes + head, b->bytes + start + length, b->length - head + 1);
  }
}

/* Prints an answer and returns its status. */
static int give(const struct frame *f) {
  if (hook && f->status == 0 && f->err > 0) fail("the answer is invalid");
  if (hook && f->status == REFUSED && f->err == 0) fail("no reason was given");
  if (hook && f->status != 0 && f->status != REFUSED) fail("the answer is invalid");
  if (!put_out(STDOUT_FILENO, f->body, f->out) || !put_out(STDERR_FILENO, f->body + f->out, f->err))
    return hook ? REFUSED : 141;
  return f->status;
}

/* Replaces this process by Node, which answers without the daemon. `replay`: Node reads the input again. */
static void answer_alone(char **argv, int replay) {
  if (access(argv[3], R_OK) != 0) fail("hopgate is no longer installed at its former path; install it again");
  if (replay) {
    char name[] = "/tmp/hopgate-input-XXXXXX";
    int fd = -1;
#ifdef __linux__
    fd = memfd_create("hook-input", 0);
#endif
    if (fd < 0) {
      fd = mkstemp(name);
      if (fd >= 0) unlink(name);
    }
    if (fd < 0) fail("the daemon stopped, and its input cannot be kept");
    for (size_t at = 0; at < input.length;) {
      ssize_t n = write(fd, input.bytes + at, input.length - at);
      if (n < 0 && errno != EINTR) fail("the daemon stopped, and its input cannot be kept");
      if (n > 0) at += (size_t)n;
    }
    if (lseek(fd, 0, SEEK_SET) != 0 || dup2(fd, STDIN_FILENO) < 0) fail("its input cannot be read again");
  }
  if (hook || line) {
    int64_t left = deadline - now_ms();
    if (left <= 0) fail("the daemon did not answer in time; try again");
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)left);
    setenv("HOPGATE_DEADLINE_MS", text, 1);
    /* The alarm outlives execv and ends a Node that hangs; the launcher then refuses. */
    alarm((unsigned)(left / 1000) + 1);
  }
  unsetenv("NODE_OPTIONS");
  if (!line) start_daemon(argv);
  /* A short process needs no garbage collection, and its helper threads would be of no use. */
  char *alone[] = {argv[5], "--min-semi-space-size=8", "--v8-pool-size=1", argv[3], "alone", argv[6], argv[7], NULL};
  execv(argv[5], alone);
  fail("neither the daemon nor Node can be started; run \"hopgate daemon status\"");
}

int main(int argc, char **argv) {
  if (argc != 8) fail("it was called with the wrong arguments");
  signal(SIGPIPE, SIG_IGN);
  hook = !strcmp(argv[6], "hook");
  line = !strcmp(argv[6], "line");
  long limit = atol(argv[4]);
  if (hook || line) deadline = now_ms() + (limit > 0 ? limit : 25000);

  struct buffer request = {0};
  add_text(&request, "POST /");
  add_text(&request, argv[6]);
  add_text(&request, "/");
  add_encoded(&request, argv[7]);
  /* HTTP/1.0 has no chunks, so the parts of a command's output arrive unchanged. */
  add_text(&request, hook || line ? " HTTP/1.1" : " HTTP/1.0");
  add_text(&request, "\r\nHost: hopgate\r\nConnection: close\r\n");
  const char *wish = getenv("HOPGATE_DAEMON");
  const int off = wish && !strcmp(wish, "off");
  int fd = !off && add_token(&request, argv[2]) ? connect_to(argv[1]) : -1;
  if (fd < 0) answer_alone(argv, 0);
  if (hook || (line && !isatty(STDIN_FILENO))) read_all_input();

  char text[256];
  snprintf(text, sizeof text, "X-Hopgate-Pid: %ld\r\nContent-Length: %zu\r\n", (long)getpid(), input.length);
  add_text(&request, text);
  char folder[4096];
  if (getcwd(folder, sizeof folder)) {
    add_text(&request, "X-Hopgate-Cwd: ");
    add_encoded(&request, folder);
    add_text(&request, "\r\n");
  }
  for (char **variable = environ; *variable; variable++)
    if (wanted(*variable) && strlen(*variable) < 4096) {
      add_text(&request, "X-Hopgate-Env: ");
      add_encoded(&request, *variable);
      add_text(&request, "\r\n");
    }
  add_text(&request, "\r\n");
  add(&request, input.bytes ? input.bytes : "", input.length);

  struct buffer answer = {0};
  int sent = send_all(fd, &request);
  if (sent || hook || line)
    do {
      if (!hook && answer.length) pass_parts(&answer);
      if (!ready(fd, POLLIN)) fail("the daemon did not answer in time; try again");
    } while (receive(fd, &answer));
  if (!hook && answer.length) pass_parts(&answer);
  const char *body = answer.length ? strstr(answer.bytes, "\r\n\r\n") : NULL;
  struct frame f;
  int complete = 0;
  if (body && !strncmp(answer.bytes, "HTTP/1.1 200", 12)) {
    body += 4;
    complete = read_frame(body, answer.length - (size_t)(body - answer.bytes), &f);
  }
  if (!complete) {
    if (hook || line) answer_alone(argv, 1);
    /* The daemon is finishing. */
    if (body && !strncmp(answer.bytes, "HTTP/1.1 503", 12)) answer_alone(argv, 0);
    fail("the daemon stopped during the command, and its result is unknown");
  }
  _exit(give(&f));
}
