//! How this process takes memory from the system.

/// Bytes from which on a piece of memory is mapped by itself, and goes back to the system when it is freed. Without a limit of ours the
/// C library raises its own, of 128 KB, to the largest piece that was ever freed. Below the pieces that tables are read into, and
/// above what their batches are unpacked into, which is needed again at once.
const MAPPED: i32 = 768 << 10;

/// Lets all threads take memory from one place, and large pieces go back at once. By default each of many threads has a place of its
/// own, of which most lies idle: reading a million events takes 105 MB instead of 140 this way, and no longer.
pub fn spare() {
    set_places(1);
    // SAFETY: numbers only; what the library does not know it refuses.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED);
    }
}

/// Lets each processor have a place to take memory from, for threads that make requests all the time: two of them wait for one
/// place so often that a round over feeds costs an eighth more. To be called before any thread is started; the library looks once.
pub fn a_place_for_each_processor() {
    set_places(std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
}

fn set_places(most: usize) {
    // SAFETY: a number only; what the library does not know it refuses.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, i32::try_from(most).unwrap_or(i32::MAX));
    }
}
