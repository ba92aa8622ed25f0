use super::{Measured, row};
use record::Reading;

#[test]
fn an_answer_that_went_on_after_it_was_first_seen_is_counted_whole() {
    let seen = |exchanges, answered_bytes| Reading { exchanges, answered_bytes, ..Reading::default() };
    // A look fell between the reads of the last record's header and of the rest.
    let (first, last, end) = (seen(5, 2_386), seen(100, 47_208), seen(100, 47_674));
    let row = row(&Measured { first, last, end, lengths: None, ended: None });
    assert_eq!((row.exchanges, row.made, row.answered_bytes), (95, 100, 47_674));
}
