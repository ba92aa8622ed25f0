//! Shims of libraries' functions: compression, and the windows of HTTP/2.

use crate::preload::{Preloaded, python, text_of};

/// Compresses the same at levels 9, 1 and 0; prints the lengths, and whether the first is what it was when decompressed.
const COMPRESSION: &str = "import zlib
text = b''.join(str(number).encode() for number in range(20000))
high, low, none = (zlib.compress(text, level) for level in (9, 1, 0))
print(len(high), len(low), len(none) > len(text), zlib.decompress(high) == text)";

#[test]
fn what_is_compressed_at_a_high_level_is_compressed_at_the_lowest_and_stays_the_same() {
    for (parameter, lowers) in [("on", true), ("inert", false)] {
        let preloaded = Preloaded::new(&[("fast-compression", parameter)]);
        let printed = text_of(preloaded.command(python()).args(["-c", COMPRESSION]));
        let words: Vec<&str> = printed.split_whitespace().collect();
        assert_eq!(words[0] == words[1], lowers, "{printed}");
        assert_eq!(words[2..], ["True", "True"], "{printed}");
        let counts = preloaded.counts("fast-compression");
        assert_eq!((counts.seen, counts.changed), (3, u64::from(lowers)));
    }
}

/// Begins a session of HTTP/2 as a client that says nothing of its windows, and sets the connection's own twice; prints how large that
/// is then, and the frames that leave.
const WINDOWS: &str = "
import ctypes
from ctypes import byref, c_void_p
ctypes.CDLL('libnghttp2.so.14', mode=ctypes.RTLD_GLOBAL)
library = ctypes.CDLL(None)
callbacks, session, frames = c_void_p(), c_void_p(), c_void_p()
library.nghttp2_session_callbacks_new(byref(callbacks))
library.nghttp2_session_client_new(byref(session), callbacks, None)
library.nghttp2_submit_settings(session, 0, None, 0)
for size in (1 << 17, 1 << 25):
    library.nghttp2_session_set_local_window_size(session, 0, 0, size)
    print(library.nghttp2_session_get_local_window_size(session))
library.nghttp2_session_mem_send.restype = ctypes.c_ssize_t
sent = b''
while (count := library.nghttp2_session_mem_send(session, byref(frames))) > 0:
    sent += ctypes.string_at(frames, count)
print(sent[24:].hex())";

#[test]
fn the_windows_of_http2_are_enlarged_and_larger_ones_stay() {
    let windows = |parameter: &str| {
        let preloaded = Preloaded::new(&[("large-http2-windows", parameter)]);
        let printed = text_of(preloaded.command(python()).args(["-c", WINDOWS]));
        (printed, preloaded.counts("large-http2-windows").changed)
    };
    let (printed, changed) = windows("on");
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[..2], ["16777216", "33554432"]);
    // SETTINGS with one of six bytes: INITIAL_WINDOW_SIZE is 16 MB.
    assert!(lines[2].starts_with("000006040000000000000401000000"), "{printed}");
    assert_eq!(changed, 2);
    let (printed, changed) = windows("inert");
    assert!(printed.starts_with("131072\n33554432\n000000040000000000"), "{printed}");
    assert_eq!(changed, 0);
}
