/* Lets sscanf look at no more of a string than its conversions need: libc's first measures the whole rest of it.
 *
 * Strings below a few KiB are passed on. A longer one is read through a stream of our own that hands out a piece at a
 * time, by the scanf of streams, which is the same inside: the conversions, %n and the result are what they were.
 * Changed counts strings read so. strlen itself is not reached, nor what libc parses within itself. */
#include "raw.h"
#include <stdarg.h>
#include <stdio.h>

/* Below this a string is measured faster than a stream is made. */
#define SHORT 2048
/* What is handed out at a time: more than most tokens. */
#define PIECE 512

typedef int (*scan_string)(const char *, const char *, va_list);
typedef int (*scan_stream)(FILE *, const char *, va_list);
typedef FILE *(*open_cookie)(void *, const char *, cookie_io_functions_t);

__attribute__((constructor)) static void begin(void)
{
	shim_begin("bound-sscanf");
}

static ssize_t hand_out(void *cookie, char *bytes, size_t size)
{
	const char **rest = cookie;
	char *end = memccpy(bytes, *rest, 0, size);
	size_t length = end ? (size_t)(end - bytes) - 1 : size;
	*rest += length;
	return length;
}

static int scan(const char *text, const char *format, va_list into, scan_string whole, const char *stream_name)
{
	static open_cookie open_stream;
	static scan_stream scanners[3]; /* by the family: C89, C99, C23 */
	int family = stream_name[0] != '_' ? 0 : stream_name[6] == '9' ? 1 : 2;
	SEEN();
	if (shim_is_inert || !text || memchr(text, 0, SHORT))
		return whole(text, format, into);
	if (!open_stream)
		open_stream = (open_cookie)shim_next("fopencookie");
	if (!scanners[family])
		scanners[family] = (scan_stream)shim_next(stream_name);
	if (!open_stream || !scanners[family])
		return whole(text, format, into);
	const char *rest = text;
	char buffer[PIECE];
	int kept = errno;
	FILE *stream = open_stream(&rest, "r", (cookie_io_functions_t){ .read = hand_out });
	if (!stream)
		return whole(text, format, into);
	setvbuf(stream, buffer, _IOFBF, sizeof(buffer));
	errno = kept;
	int result = scanners[family](stream, format, into);
	kept = errno;
	fclose(stream);
	errno = kept;
	CHANGED();
	return result;
}

#define SCANS(name, with_list, stream_name)                                                              \
	EXPORT int wrapped_##with_list(const char *, const char *, va_list) __asm__(#with_list);         \
	EXPORT int wrapped_##with_list(const char *text, const char *format, va_list into)               \
	{                                                                                                \
		static scan_string whole;                                                                \
		if (!whole && !(whole = (scan_string)shim_next(#with_list)))                             \
			return EOF;                                                                      \
		return scan(text, format, into, whole, stream_name);                                     \
	}                                                                                                \
	EXPORT int wrapped_##name(const char *, const char *, ...) __asm__(#name);                       \
	EXPORT int wrapped_##name(const char *text, const char *format, ...)                             \
	{                                                                                                \
		va_list into;                                                                            \
		va_start(into, format);                                                                  \
		int result = wrapped_##with_list(text, format, into);                                    \
		va_end(into);                                                                            \
		return result;                                                                           \
	}

SCANS(sscanf, vsscanf, "vfscanf")
SCANS(__isoc99_sscanf, __isoc99_vsscanf, "__isoc99_vfscanf")
SCANS(__isoc23_sscanf, __isoc23_vsscanf, "__isoc23_vfscanf")
