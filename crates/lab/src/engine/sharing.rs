//! How questions share the false alarms that a whole experiment may have: 5 %, over all metrics, contrasts and looks.

/// The part that the deciding metric gets; the others share the rest, so that all intervals hold together.
const FIRST_SHARE: f64 = 0.6;

/// The part of the false alarms that a metric gets, by its place among so many, for each of so many contrasts. The looks share
/// that part in turn ([`stats::Looks::sharing`]).
pub fn share(place: usize, metrics: usize, contrasts: usize) -> f64 {
    let of_metric = match (place, metrics) {
        (_, 1) => 1.0,
        (0, _) => FIRST_SHARE,
        _ => (1.0 - FIRST_SHARE) / (metrics - 1) as f64,
    };
    of_metric / contrasts.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn all_shares_add_up_to_one() {
        for (metrics, contrasts) in [(1, 1), (2, 1), (5, 1), (3, 4)] {
            let all = (0..metrics).map(|place| share(place, metrics, contrasts)).sum::<f64>() * contrasts as f64;
            assert!((all - 1.0).abs() < 1e-12, "{metrics} metrics, {contrasts} contrasts: {all}");
        }
    }
}
