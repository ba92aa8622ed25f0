/* Sessions resumed. When a client's connection ends, its session is kept at the connection's recipe: the context's, and
 * what was set on the connection, the server's name among it. The next connection of the same recipe offers it. Only a
 * session whose server was verified as that recipe demands is kept, so nothing is trusted that was not verified so. */
#pragma once
#include "tls-tracks.h"
#include <sys/socket.h>

static int sessions_are_kept;

/* A connection without a server's name is known by its peer's address; 0 where it has none. */
static int session_note_peer(struct track *track)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);
	int saved = errno, fd = library_SSL_get_fd(track->object);
	int found = fd >= 0 && getpeername(fd, (struct sockaddr *)&address, &length) == 0;
	errno = saved;
	if (!found || length > sizeof(address))
		return 0;
	struct call call = { .name = "peer", .arguments = { BYTES(&address, length) } };
	struct node *node = recipe_after(track->node, &call, 0);
	if (node)
		track->node = node;
	return node != 0;
}

/* A server's name tells servers apart, whatever their addresses. */
static void connection_is_named(void *connection, int named)
{
	if (tls_inside || !sessions_are_kept)
		return;
	tls_lock();
	struct track *track = track_find(connection, CONNECTION);
	if (track)
		track->named = named;
	tls_unlock();
}

static void session_give(struct track *track)
{
	/* A copy: a connection that ends badly spoils its session for everyone who has the same. */
	void *session = library_SSL_SESSION_dup(track->node->session);
	if (session && library_SSL_set_session(track->object, session) == 1) {
		track->given = track->node->session_context;
		CHANGED();
	}
	library_SSL_SESSION_free(session);
}

/* Before a handshake: offers the session of the last connection like this one. */
static void session_offer(void *connection)
{
	if (tls_inside || !sessions_are_kept || library_SSL_is_server(connection) || !library_SSL_in_before(connection))
		return;
	tls_lock();
	tls_inside++;
	struct track *track = track_find(connection, CONNECTION);
	if (!track || !track->started)
		SEEN();
	if (track && !track->started) {
		track->started = 1;
		if ((!track->named && !session_note_peer(track)) || track->owner->ended)
			track_end(track);
		else if (track->node->session && !track->node->keeps_no_session &&
			 library_SSL_SESSION_is_resumable(track->node->session))
			session_give(track);
	}
	tls_inside--;
	tls_unlock();
}

/* After a handshake: a context's trust may have been set up while the server answered (as libcurl does). Where that
 * is not what the session was verified with, the handshake fails, since the server was not verified as it should be now;
 * and connections like this one are given no session any more. */
static int session_check(void *connection, int result)
{
	if (tls_inside || !sessions_are_kept || result != 1)
		return result;
	tls_lock();
	struct track *track = track_find(connection, CONNECTION);
	if (track && track->given && library_SSL_session_reused(connection) &&
	    (track->owner->ended || track->owner->node != track->given)) {
		track->node->session_context = 0;
		track->node->keeps_no_session = 1;
		track_end(track);
		result = -1;
	}
	tls_unlock();
	return result;
}

static int session_was_verified(void *connection)
{
	return !library_SSL_get_verify_mode(connection) || library_SSL_get_verify_result(connection) == 0;
}

/* After a read, for the tickets of TLS 1.3 come after the handshake, and before the end: keeps the session. An end
 * without farewell spoils the session that the connection itself holds. */
static void session_keep(void *connection)
{
	if (tls_inside || !sessions_are_kept || !connection)
		return;
	tls_lock();
	tls_inside++;
	struct track *track = track_find(connection, CONNECTION);
	if (track && track->started && !track->owner->ended && library_SSL_is_init_finished(connection) &&
	    session_was_verified(connection)) {
		void *session = library_SSL_get_session(connection);
		if (session && session != track->kept_session && library_SSL_SESSION_is_resumable(session)) {
			track->kept_session = session;
			library_SSL_SESSION_free(track->node->session);
			track->node->session = library_SSL_SESSION_dup(session);
			track->node->session_context = track->owner->node;
		}
	}
	tls_inside--;
	tls_unlock();
}

static void session_keep_after(void *connection, int result)
{
	int saved = errno;
	if (result > 0)
		session_keep(connection);
	errno = saved;
}
