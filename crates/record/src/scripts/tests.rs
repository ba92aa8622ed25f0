//! What all languages share.

use super::*;

#[test]
fn a_walk_has_the_size_that_the_kernel_side_expects() {
    assert_eq!(size_of::<Walk>(), 56);
}
