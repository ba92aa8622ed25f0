/* What is known of a connection on which requests and answers take turns. */
#pragma once
#include "kernel.h"

/* Whose exchanges: on connections made by a client's processes, made by a server's, accepted. */
enum { CONNECTED_BY_CLIENT, CONNECTED_BY_SERVER, ACCEPTED, SIDES };
enum { PHASE_IDLE, PHASE_ASKED, PHASE_ANSWERED };

/* What calls do. Those that move bytes of a buffer come first. */
enum { CALL_OTHER, CALL_READ, CALL_READ_VECTOR, CALL_READ_MESSAGE, CALL_WRITE, CALL_WRITE_VECTOR, CALL_WRITE_MESSAGE,
       CALL_SEND_FILE, CALL_SPLICE, CALL_CONNECT, CALL_ACCEPT, CALL_CLOSE };

struct exchanging {
	u64 inode; /* tells it from an earlier socket at this address */
	u64 since; /* when the exchange began, then until when it has been added up */
	u64 set_up; /* when setting it up began: the look-up, else the connect; 0 once it was used */
	u64 ready;  /* when setting it up went on last: from then on it stood ready */
	u64 length; /* of the exchange that was answered last, as far as it has got */
	u16 side;
	u16 phase;
	u16 tls;   /* how far its handshake has got */
	u16 pad;
};
