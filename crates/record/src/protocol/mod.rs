//! Wire formats read from the first bytes of buffers.
