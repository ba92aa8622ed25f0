/* SSL_CTX_ctrl and SSL_ctrl: one function each for many settings, most of which programs know as macros. Included once,
 * by tls-context.c. */

/* The commands' numbers (openssl/ssl.h; the same in 1.1.1 and 3). */
enum {
	CTRL_OPTIONS = 32,
	CTRL_MODE = 33,
	CTRL_GET_READ_AHEAD = 40,
	CTRL_SET_READ_AHEAD = 41,
	CTRL_SET_SESSION_CACHE_SIZE = 42,
	CTRL_SET_SESSION_CACHE_MODE = 44,
	CTRL_GET_SESSION_CACHE_MODE = 45,
	CTRL_SET_SERVER_NAME = 55,
	CTRL_SET_STATUS_REQUEST = 65,
	CTRL_CLEAR_OPTIONS = 77,
	CTRL_CLEAR_MODE = 78,
	CTRL_SET_GROUPS_LIST = 92,
	CTRL_SET_ECDH_AUTO = 94,
	CTRL_SET_SIGNATURES_LIST = 98,
	CTRL_SET_LEAST_VERSION = 123,
	CTRL_SET_MOST_VERSION = 124,
	CTRL_GET_LEAST_VERSION = 130,
	CTRL_GET_MOST_VERSION = 131,
};

static word run_SSL_CTX_ctrl(void *object, word command, word number, word pointer)
{
	REAL(function_of_four *, "SSL_CTX_ctrl");
	return real ? real(object, command, number, pointer) : 0;
}

static word run_SSL_ctrl(void *object, word command, word number, word pointer)
{
	REAL(function_of_four *, "SSL_ctrl");
	return real ? real(object, command, number, pointer) : 0;
}

EXPORT word SSL_CTX_ctrl(void *object, int command, word number, word pointer)
{
	struct call call = { "SSL_CTX_ctrl", run_SSL_CTX_ctrl, CONTEXT, ALWAYS, 0,
			     { NUMBER(command), NUMBER(number), NUMBER(pointer) } };
	switch (command) {
	case CTRL_GET_READ_AHEAD:
	case CTRL_GET_SESSION_CACHE_MODE:
	case CTRL_GET_LEAST_VERSION:
	case CTRL_GET_MOST_VERSION:
		call.only_reads = 1;
		break;
	case CTRL_OPTIONS:
	case CTRL_MODE:
	case CTRL_SET_READ_AHEAD:
	case CTRL_SET_SESSION_CACHE_SIZE:
	case CTRL_SET_SESSION_CACHE_MODE:
	case CTRL_CLEAR_OPTIONS:
	case CTRL_CLEAR_MODE:
	case CTRL_SET_ECDH_AUTO:
		break;
	case CTRL_SET_LEAST_VERSION:
	case CTRL_SET_MOST_VERSION:
		call.taken = IF_ONE;
		break;
	case CTRL_SET_GROUPS_LIST:
	case CTRL_SET_SIGNATURES_LIST:
		call.taken = IF_ONE;
		call.arguments[2] = (struct argument)TEXT(pointer);
		break;
	default:
		leave_alone(object, CONTEXT);
	}
	return step(&call, object);
}

/* Of a connection only what decides which sessions fit is noted. */
EXPORT word SSL_ctrl(void *object, int command, word number, word pointer)
{
	struct call call = { "SSL_ctrl", run_SSL_ctrl, CONNECTION, IF_ONE, 0,
			     { NUMBER(command), NUMBER(number), NUMBER(pointer) } };
	switch (command) {
	case CTRL_SET_SERVER_NAME:
		connection_is_named(object, pointer != 0);
		call.arguments[2] = (struct argument)TEXT(pointer);
		return step(&call, object);
	case CTRL_SET_GROUPS_LIST:
	case CTRL_SET_SIGNATURES_LIST:
		call.arguments[2] = (struct argument)TEXT(pointer);
		return step(&call, object);
	case CTRL_SET_LEAST_VERSION:
	case CTRL_SET_MOST_VERSION:
		return step(&call, object);
	case CTRL_SET_STATUS_REQUEST: /* a resumed handshake brings no status */
		leave_alone(object, CONNECTION);
	}
	return run_SSL_ctrl(object, command, number, pointer);
}
