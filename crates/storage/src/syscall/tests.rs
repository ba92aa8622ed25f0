//! What calls are called, and of which class they are.

use super::*;

#[test]
fn the_table_is_in_order_of_numbers_and_holds_each_once() {
    assert!(CALLS.windows(2).all(|pair| pair[0].number < pair[1].number));
}

#[test]
fn a_call_without_a_name_is_shown_by_its_number() {
    assert_eq!(name(281), "epoll_pwait");
    assert_eq!(name(999), "call 999");
    assert_eq!((number("epoll_pwait"), number("call 999")), (Some(281), None));
}

#[test]
fn a_call_has_the_class_that_its_name_says() {
    let classes = |names: &[&str]| {
        let numbers = CALLS.iter().filter(|call| names.contains(&call.name)).map(|call| class(call.number));
        numbers.collect::<Vec<_>>()
    };
    assert_eq!(classes(&["read", "recvfrom"]), [Class::Read, Class::Read]);
    assert_eq!(classes(&["sendfile", "splice"]), [Class::HandOver, Class::HandOver]);
    assert_eq!(class(u16::MAX), Class::Other);
    assert!(is_read(47) && is_write(40) && is_poll(441) && is_sync(306) && !is_sync(1));
}
