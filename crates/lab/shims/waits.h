/* Before whatever a thread of the program may wait in, before it starts another program, and before it ends: for shims that
 * hold something back until then. Such a shim says before it includes this file what is done:
 *
 *   before_wait()      the calling thread is about to wait for something
 *   before_lock()      it is about to wait for another thread
 *   before_leaving()   the process forks, becomes another program, or ends
 *   holds_something()  whether the calling thread has anything held back */
#pragma once
#include "wrap.h"
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>

#define WAITS(type, name, parameters, arguments) \
	WRAP(type, name, parameters)             \
	{                                        \
		NEXT(name);                      \
		before_wait();                     \
		return real arguments;           \
	}

/* Some programs ask before every write whether they may write. That is no wait for an answer. */
static int asks_only_to_write(const struct pollfd *polled, nfds_t count)
{
	for (nfds_t i = 0; i < count; i++)
		if (polled[i].events & ~(POLLOUT | POLLWRNORM | POLLERR | POLLHUP))
			return 0;
	return holds_something() && count;
}

#define POLLS(name, parameters, arguments, at_once)                     \
	WRAP(int, name, parameters)                                     \
	{                                                               \
		NEXT(name);                                             \
		if (asks_only_to_write(polled, count)) {                \
			int ready = real at_once;                       \
			if (ready)                                      \
				return ready;                           \
		}                                                       \
		before_wait();                                            \
		return real arguments;                                  \
	}

static const struct timespec no_time;

POLLS(poll, (struct pollfd *polled, nfds_t count, int limit), (polled, count, limit), (polled, count, 0))
POLLS(__poll_chk, (struct pollfd *polled, nfds_t count, int limit, size_t room), (polled, count, limit, room),
      (polled, count, 0, room))
POLLS(ppoll, (struct pollfd *polled, nfds_t count, const struct timespec *limit, const sigset_t *mask),
      (polled, count, limit, mask), (polled, count, &no_time, mask))
POLLS(__ppoll_chk,
      (struct pollfd *polled, nfds_t count, const struct timespec *limit, const sigset_t *mask, size_t room),
      (polled, count, limit, mask, room), (polled, count, &no_time, mask, room))

WRAP(int, select, (int count, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *limit))
{
	NEXT(select);
	if (holds_something() && writes && !reads && !exceptions && count <= FD_SETSIZE) {
		fd_set asked = *writes;
		struct timeval none = { 0, 0 };
		int ready = real(count, 0, writes, 0, &none);
		if (ready)
			return ready;
		*writes = asked;
	}
	before_wait();
	return real(count, reads, writes, exceptions, limit);
}

WAITS(int, pselect,
      (int count, fd_set *reads, fd_set *writes, fd_set *exceptions, const struct timespec *limit, const sigset_t *mask),
      (count, reads, writes, exceptions, limit, mask))
WAITS(int, epoll_wait, (int epoll, struct epoll_event *events, int count, int limit), (epoll, events, count, limit))
WAITS(int, epoll_pwait, (int epoll, struct epoll_event *events, int count, int limit, const sigset_t *mask),
      (epoll, events, count, limit, mask))
WAITS(int, epoll_pwait2,
      (int epoll, struct epoll_event *events, int count, const struct timespec *limit, const sigset_t *mask),
      (epoll, events, count, limit, mask))
WAITS(int, nanosleep, (const struct timespec *length, struct timespec *rest), (length, rest))
WAITS(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *length, struct timespec *rest),
      (clock, flags, length, rest))
WAITS(int, usleep, (useconds_t length), (length))
WAITS(unsigned, sleep, (unsigned length), (length))
WAITS(int, connect, (int fd, const struct sockaddr *to, socklen_t length), (fd, to, length))
WAITS(pid_t, wait, (int *status), (status))
WAITS(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options))
WAITS(pid_t, wait3, (int *status, int options, void *usage), (status, options, usage))
WAITS(pid_t, wait4, (pid_t pid, int *status, int options, void *usage), (pid, status, options, usage))
WAITS(int, waitid, (int kind, int id, siginfo_t *about, int options), (kind, id, about, options))
WAITS(int, pause, (void), ())
WAITS(int, sigsuspend, (const sigset_t *mask), (mask))
WAITS(int, sigwait, (const sigset_t *set, int *signal), (set, signal))
WAITS(int, sigwaitinfo, (const sigset_t *set, siginfo_t *about), (set, about))
WAITS(int, sigtimedwait, (const sigset_t *set, siginfo_t *about, const struct timespec *limit), (set, about, limit))
WAITS(int, getaddrinfo, (const char *node, const char *service, const void *hints, void *found),
      (node, service, hints, found))

/* Waits for other threads. */

#define LOCKS(name, parameters, arguments)       \
	WRAP(int, name, parameters)              \
	{                                        \
		NEXT(name);                      \
		before_lock();         \
		return real arguments;           \
	}

LOCKS(pthread_cond_wait, (void *condition, void *lock), (condition, lock))
LOCKS(pthread_cond_timedwait, (void *condition, void *lock, const struct timespec *end), (condition, lock, end))
LOCKS(pthread_cond_clockwait, (void *condition, void *lock, clockid_t clock, const struct timespec *end),
      (condition, lock, clock, end))
LOCKS(pthread_join, (unsigned long thread, void **result), (thread, result))
LOCKS(sem_wait, (void *semaphore), (semaphore))
LOCKS(sem_timedwait, (void *semaphore, const struct timespec *end), (semaphore, end))
LOCKS(sem_clockwait, (void *semaphore, clockid_t clock, const struct timespec *end), (semaphore, clock, end))

/* What starts another program, or ends this one. */

#define LEAVES(type, name, parameters, arguments) \
	WRAP(type, name, parameters)              \
	{                                         \
		NEXT(name);                       \
		before_leaving();                     \
		return real arguments;            \
	}

LEAVES(pid_t, fork, (void), ())
LEAVES(pid_t, _Fork, (void), ())
LEAVES(int, daemon, (int keep_folder, int keep_output), (keep_folder, keep_output))
LEAVES(int, system, (const char *command), (command))
LEAVES(int, posix_spawn, (pid_t *pid, const char *path, const void *actions, const void *attributes, char *const *arguments, char *const *environment),
       (pid, path, actions, attributes, arguments, environment))
LEAVES(int, posix_spawnp, (pid_t *pid, const char *path, const void *actions, const void *attributes, char *const *arguments, char *const *environment),
       (pid, path, actions, attributes, arguments, environment))
LEAVES(int, execve, (const char *path, char *const *arguments, char *const *environment), (path, arguments, environment))
LEAVES(int, execv, (const char *path, char *const *arguments), (path, arguments))
LEAVES(int, execvp, (const char *file, char *const *arguments), (file, arguments))
LEAVES(int, execvpe, (const char *file, char *const *arguments, char *const *environment), (file, arguments, environment))
LEAVES(int, fexecve, (int fd, char *const *arguments, char *const *environment), (fd, arguments, environment))
LEAVES(int, execveat, (int folder, const char *path, char *const *arguments, char *const *environment, int flags),
       (folder, path, arguments, environment, flags))

/* The arguments of execl and its kin, as an array; with `environment` also what follows their end. */
#define GATHER(arguments, environment)                                           \
	char *arguments[1024] = { (char *)first };                               \
	va_list rest;                                                            \
	va_start(rest, first);                                                   \
	for (int i = 1; arguments[i - 1] && i < 1023; i++)                       \
		arguments[i] = va_arg(rest, char *);                             \
	char *const *environment = 0;                                            \
	(void)environment

WRAP(int, execl, (const char *path, const char *first, ...))
{
	GATHER(arguments, environment);
	va_end(rest);
	return wrapped_execv(path, arguments);
}

WRAP(int, execlp, (const char *file, const char *first, ...))
{
	GATHER(arguments, environment);
	va_end(rest);
	return wrapped_execvp(file, arguments);
}

WRAP(int, execle, (const char *path, const char *first, ...))
{
	GATHER(arguments, environment);
	environment = va_arg(rest, char *const *);
	va_end(rest);
	return wrapped_execve(path, arguments, environment);
}

ENDS(_exit, before_leaving())
ENDS(_Exit, before_leaving())
