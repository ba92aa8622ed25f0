//! Overheads as people type them.

use case::Share;

/// Reads `2`, `0.5` or `2%`: percent.
///
/// # Errors
/// One sentence that says what is wrong.
pub fn overhead(text: &str) -> Result<Share, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(Share(percent / 100.0)),
        Ok(_) => Err(format!("`{text}` is not more than 0 and at most 100 percent")),
        Err(_) => Err(format!("`{text}` is not a number of percent, like 2 or 0.5")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_are_read_with_and_without_their_sign() {
        assert_eq!(overhead("2"), Ok(Share(0.02)));
        assert_eq!(overhead("0.5%"), Ok(Share(0.005)));
        assert_eq!(overhead("100 %"), Ok(Share(1.0)));
    }

    #[test]
    fn what_is_no_share_is_refused_with_what_is_wrong() {
        for wrong in ["0", "-1", "101", "nan", "inf"] {
            assert!(overhead(wrong).is_err_and(|why| why.contains("at most 100")), "{wrong}");
        }
        assert!(overhead("little").is_err_and(|why| why.contains("not a number")));
    }
}
