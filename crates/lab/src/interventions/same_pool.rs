//! `same-pool`: the size that libuv's pool has, said aloud.

use super::{Intervention, Prediction, intervention, larger_pool};

intervention! {
    /// # same-pool
    ///
    /// ## What it does
    /// Sets the variable with the size of libuv's pool (UV_THREADPOOL_SIZE), as `larger-pool` does, to the size that the
    /// pool has. Where requests wait in line for its threads, this must change nothing and is tried as the negative
    /// control: that the variable is set is no cure.
    ///
    /// ## What it reaches
    /// As `larger-pool`: Node.js and whatever else uses libuv's pool.
    ///
    /// ## How we know it took effect
    /// The variable is in the environment of the programs.
    pub const SAME_POOL: Intervention = Intervention {
        name: "same-pool",
        summary: "sets the size that libuv's pool has already",
        predictions: &[Prediction::does_nothing("P18")],
        treat: |request, treatment| larger_pool::set(request, treatment, 1),
        applied: |_| Ok(1),
    };
}

#[cfg(test)]
mod tests {
    use super::larger_pool::tests::size;

    #[test]
    fn the_pool_keeps_its_size() {
        assert_eq!(size("/build/deps/uv/src/threadpool.c", Some("2"), 1).as_deref(), Some("2"));
        assert_eq!(size("/build/deps/uv/src/threadpool.c", None, 1).as_deref(), Some("4"));
    }
}
