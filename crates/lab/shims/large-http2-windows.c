/* Opens HTTP/2's windows: a receiver that uses nghttp2 tells its peer that LARGE bytes may be under way, on each stream and on the
 * connection. Windows that are larger stay. Seen counts settings that a program submits and windows that it sets, Changed those
 * that were enlarged. Not reached: nghttp2 linked into a program (Node.js), and other implementations. */
#include "shim.h"

/* Sixteen megabytes: a gigabit each second over 130 ms. */
#define LARGE (16 << 20)
/* What nghttp2 passes (nghttp2.h, stable since 1.0): SETTINGS_INITIAL_WINDOW_SIZE, and NGHTTP2_ERR_INVALID_ARGUMENT. */
#define INITIAL_WINDOW_SIZE 4
#define INVALID_ARGUMENT (-501)
/* Settings have six identifiers in RFC 9113; who sends many more is passed through. */
#define MOST_SETTINGS 32

struct setting {
	int32_t id;
	uint32_t value;
};

typedef int submit_settings(void *session, uint8_t flags, const struct setting *settings, size_t count);
typedef int set_window(void *session, uint8_t flags, int32_t stream, int32_t size);

__attribute__((constructor)) static void begin(void)
{
	shim_begin("large-http2-windows");
}

EXPORT int nghttp2_session_set_local_window_size(void *session, uint8_t flags, int32_t stream, int32_t size)
{
	REAL(set_window *, "nghttp2_session_set_local_window_size");
	if (!real)
		return INVALID_ARGUMENT;
	SEEN();
	if (shim_is_inert || size >= LARGE)
		return real(session, flags, stream, size);
	CHANGED();
	return real(session, flags, stream, LARGE);
}

/* A receiver that says nothing of its streams' windows has small ones. */
static size_t enlarge(struct setting *to, const struct setting *from, size_t count)
{
	int has_window = 0, is_larger = 0;
	for (size_t i = 0; i < count; i++) {
		to[i] = from[i];
		if (from[i].id != INITIAL_WINDOW_SIZE)
			continue;
		has_window = 1;
		if (from[i].value < LARGE) {
			to[i].value = LARGE;
			is_larger = 1;
		}
	}
	if (!has_window) {
		to[count].id = INITIAL_WINDOW_SIZE;
		to[count++].value = LARGE;
		is_larger = 1;
	}
	if (is_larger)
		CHANGED();
	return count;
}

/* The connection's own window is no setting: whoever is to have a larger one on it says so. */
static void open_connection(void *session)
{
	REAL(set_window *, "nghttp2_session_set_local_window_size");
	if (real)
		real(session, 0, 0, LARGE);
}

EXPORT int nghttp2_submit_settings(void *session, uint8_t flags, const struct setting *settings, size_t count)
{
	REAL(submit_settings *, "nghttp2_submit_settings");
	if (!real)
		return INVALID_ARGUMENT;
	SEEN();
	if (shim_is_inert || count >= MOST_SETTINGS)
		return real(session, flags, settings, count);
	struct setting larger[MOST_SETTINGS];
	count = enlarge(larger, settings, count);
	int result = real(session, flags, larger, count);
	if (!result)
		open_connection(session);
	return result;
}
