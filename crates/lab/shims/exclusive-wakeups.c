/* Has a listening socket that several processes or threads watch with epoll wake one of them for a connection, not all that are idle
 * (EPOLLEXCLUSIVE). Changed counts the times that a listening socket began to be watched so. */
#include "sockets.h"
#include "wrap.h"
#include <sys/epoll.h>

/* What else may be asked for beside EPOLLEXCLUSIVE; a listening socket tells of nothing else (epoll_ctl(2)). */
#define ALLOWED (EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE)

__attribute__((constructor)) static void begin(void)
{
	shim_begin("exclusive-wakeups");
}

WRAP(int, epoll_ctl, (int epoll, int what, int fd, struct epoll_event *event))
{
	NEXT(epoll_ctl);
	/* What is told of once, and then armed again, cannot be exclusive. */
	if (!event || what == EPOLL_CTL_DEL || (event->events & EPOLLONESHOT) || option_of(fd, SO_ACCEPTCONN) != 1)
		return real(epoll, what, fd, event);
	SEEN();
	if (shim_is_inert || (what == EPOLL_CTL_ADD && (event->events & EPOLLEXCLUSIVE)))
		return real(epoll, what, fd, event);
	struct epoll_event alone = *event;
	alone.events = (event->events & ALLOWED) | EPOLLEXCLUSIVE;
	/* What is watched so cannot be modified, only watched anew: also where the program wants to hear of nothing for a while. */
	if (what == EPOLL_CTL_MOD && real(epoll, EPOLL_CTL_DEL, fd, &alone))
		return -1;
	if (!(event->events & EPOLLIN) || real(epoll, EPOLL_CTL_ADD, fd, &alone))
		return real(epoll, EPOLL_CTL_ADD, fd, event);
	CHANGED();
	return 0;
}
