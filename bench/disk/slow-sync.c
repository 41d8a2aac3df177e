/*
 * slow-sync DELAY_US COUNT PROGRAM [ARGUMENT]…: runs a program on a slow disk. Each of its fsync and fdatasync calls waits
 * so long before it begins; no other call is touched, whatever the program is linked to. COUNT is a file of eight bytes
 * that holds how many there were.
 *
 * The kernel asks here before it runs one of these two calls (seccomp user notification); many threads wait for that, so
 * that calls of different threads wait beside each other, as on a real disk.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

enum { waiters = 128, waiter_stack_bytes = 64 * 1024 };

static struct timespec delay;
static _Atomic unsigned long long *count;
static int notices;
static pid_t program;

static void fail(const char *what) {
  perror(what);
  exit(125);
}

static int listen_for_syncs(void) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fdatasync, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {.len = sizeof rules / sizeof *rules, .filter = rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no_new_privs");
  const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  /* A call that waits here should not begin anew for every signal; older kernels do not know how. */
  long file = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &filter);
  if (file < 0 && errno == EINVAL) file = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
  if (file < 0) fail("seccomp");
  return (int)file;
}

static void *wait_and_allow(void *unused) {
  (void)unused;
  for (;;) {
    struct seccomp_notif asked = {0};
    if (ioctl(notices, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) {
      /* ENOENT: the caller was killed while it waited. */
      if (errno == EINTR || errno == ENOENT) continue;
      return NULL;
    }
    atomic_fetch_add(count, 1);
    struct timespec left = delay;
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
    struct seccomp_notif_resp go_on = {.id = asked.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    ioctl(notices, SECCOMP_IOCTL_NOTIF_SEND, &go_on);
  }
}

static void pass_on(int signal) {
  if (program > 0) kill(program, signal);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "slow-sync DELAY_US COUNT PROGRAM [ARGUMENT]...\n");
    return 125;
  }
  const long delay_us = atol(argv[1]);
  delay = (struct timespec){.tv_sec = delay_us / 1000000, .tv_nsec = delay_us % 1000000 * 1000};
  const int file = open(argv[2], O_RDWR | O_CLOEXEC);
  if (file < 0) fail(argv[2]);
  count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (count == MAP_FAILED) fail("mmap");
  notices = listen_for_syncs();

  program = fork();
  if (program < 0) fail("fork");
  if (program == 0) {
    /* Nothing may outlive the one who lets its syncs go on. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(argv[3], argv + 3);
    fail(argv[3]);
  }
  signal(SIGTERM, pass_on);
  signal(SIGINT, pass_on);
  signal(SIGQUIT, pass_on);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, waiter_stack_bytes);
  for (int nth = 0; nth < waiters; nth++) {
    pthread_t thread;
    if (pthread_create(&thread, &small, wait_and_allow, NULL) != 0) fail("pthread_create");
  }
  int status;
  while (waitpid(program, &status, 0) < 0)
    if (errno != EINTR) fail("waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
