//! What is read of `--vary`, and what is refused.

use super::Vary;

fn numbers(text: &str) -> Vec<f64> {
    Vary::parse(text).expect("values").values().iter().map(|value| value.number).collect()
}

fn shown(text: &str) -> Vec<String> {
    Vary::parse(text).expect("values").values().iter().map(|value| format!("{}|{}", value.label, value.text)).collect()
}

fn refused(text: &str) -> String {
    Vary::parse(text).expect_err("refused")
}

#[test]
fn a_list_is_taken_in_rising_order_and_shown_as_it_was_typed() {
    assert_eq!(numbers("size=100,1,4K"), [1.0, 100.0, 4096.0]);
    assert_eq!(shown("size=100,1,4k"), ["1|1", "100|100", "4k|4096"]);
    assert_eq!(numbers("n=-1.5, 2"), [-1.5, 2.0]);
    assert_eq!(numbers("n=5"), [5.0]);
}

#[test]
fn powers_of_two_are_walked_with_both_ends() {
    let powers = numbers("size=1..16K:log");
    assert_eq!(powers, (0..15).map(|power| 2_f64.powi(power)).collect::<Vec<_>>());
    assert_eq!(numbers("n=3..20:log"), [3.0, 6.0, 12.0, 20.0]);
    assert_eq!(numbers("n=1..1000:log10"), [1.0, 10.0, 100.0, 1000.0]);
    assert_eq!(numbers("n=0.5..3:log"), [0.5, 1.0, 2.0, 3.0]);
    assert_eq!(shown("size=512..2K:log"), ["512|512", "1K|1024", "2K|2048"]);
    // Nobody who typed 1600 thinks of it in powers of 1024.
    assert_eq!(shown("n=25600..102400:log"), ["25600|25600", "51200|51200", "102400|102400"]);
}

#[test]
fn many_powers_are_walked_in_larger_steps() {
    let powers = numbers("n=1..1024G:log");
    assert!(powers.len() <= 24 && powers.len() > 12, "{powers:?}");
    assert_eq!((powers[0], powers[powers.len() - 1]), (1.0, 2_f64.powi(40)));
}

#[test]
fn ranges_without_powers_are_walked_in_equal_steps() {
    assert_eq!(numbers("n=10..100"), [10.0, 21.0, 33.0, 44.0, 55.0, 66.0, 78.0, 89.0, 100.0]);
    assert_eq!(numbers("n=1..4"), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(numbers("n=10..30:5"), [10.0, 15.0, 20.0, 25.0, 30.0]);
    assert_eq!(numbers("n=0..1:0.25"), [0.0, 0.25, 0.5, 0.75, 1.0]);
    assert_eq!(shown("n=0.1..0.9:0.2"), ["0.1|0.1", "0.3|0.3", "0.5|0.5", "0.7|0.7", "0.9|0.9"]);
}

#[test]
fn a_rate_has_the_units_of_a_link() {
    assert_eq!(numbers("rate=1gbit,1mbit"), [1e6, 1e9]);
    assert_eq!(shown("rate=1mbit..8mbit:log"), ["1mbit|1mbit", "2mbit|2mbit", "4mbit|4mbit", "8mbit|8mbit"]);
    assert_eq!(shown("rate=10mbit..20mbit:5mbit"), ["10mbit|10mbit", "15mbit|15mbit", "20mbit|20mbit"]);
    assert!(refused("rate=1bit..10bit").contains("10kbit"));
}

#[test]
fn a_rate_without_a_unit_is_one_of_requests() {
    assert_eq!(numbers("rate=100,400"), [100.0, 400.0]);
    assert_eq!(shown("rate=100..300:100"), ["100|100", "200|200", "300|300"]);
}

#[test]
fn words_are_numbered_as_they_were_typed() {
    let vary = Vary::parse("cipher=AES256,AES128").expect("words");
    assert!(vary.is_of_words());
    assert_eq!(shown("cipher=AES256,AES128"), ["AES256|AES256", "AES128|AES128"]);
    assert_eq!(numbers("cipher=AES256,AES128"), [0.0, 1.0]);
    assert_eq!(vary.grain(0.0, 1.0, None), None);
}

#[test]
fn what_is_wrong_is_said_with_what_is_allowed() {
    assert!(refused("size").contains("NAME=VALUES"));
    assert!(refused("=1,2").contains("not a name"));
    assert!(refused("a b=1,2").contains("not a name"));
    assert!(refused("server=a,b").contains("address"));
    assert!(refused("n=16..1").contains("empty"));
    assert_eq!(refused("n=5..5"), "`5..5` is one value: give a larger end, or n=5 as a list");
    assert!(refused("n=0..8:log").contains("above 0"));
    assert!(refused("n=-4..8:log").contains("above 0"));
    assert!(refused("n=a..b").contains("`a` is not a number"));
    assert!(refused("n=1..inf").contains("not a number"));
    assert!(refused("n=1,2,x").contains("`x` is not a number"));
    assert!(refused("size=small,large").contains("not a number"));
    assert!(refused("n=1,,2").contains("empty value"));
    assert!(refused("n=1..10:0").contains("not a step") && refused("n=1..10:fast").contains("`log`"));
    assert!(refused("n=1..1000:1").contains("at most 200"));
    assert!(refused("n=1,2,1").contains("twice"));
    assert!(refused("n=").contains("empty"));
}

#[test]
fn a_cliff_is_narrowed_to_a_few_bytes_and_whole_numbers_stay_whole() {
    let size = Vary::parse("size=1..16K:log").expect("values");
    assert_eq!(size.grain(1024.0, 2048.0, None), Some(2.0));
    assert_eq!(size.grain(4.0, 8.0, None), Some(1.0));
    assert_eq!(size.grain(1418.0, 1420.0, None), None);
    assert_eq!(size.grain(1024.0, 2048.0, Some(0.3)), Some(1.0));
    let share = Vary::parse("n=0.1..0.9:0.2").expect("values");
    assert_eq!(share.grain(0.3, 0.5, None), Some(0.002));
    // Of a list nobody said that there is anything between: files of a few sizes, say.
    assert_eq!(Vary::parse("size=16,64,256").expect("values").grain(16.0, 64.0, None), None);
    assert_eq!(share.at(0.31).text, "0.31");
}
