//! Searches among rows in order of time. A search by halves reads a row here and a row there of millions, none of them
//! in the processor's cache; rows are spread over time nearly evenly, and so where one stands is nearly known
//! beforehand.

/// Below so many rows a guess saves nothing.
const FEW: usize = 32;

/// How many rows at the front are not after a time; the rows' times do not fall.
pub fn not_after<T>(rows: &[T], time: impl Fn(&T) -> u64, at: u64) -> usize {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return 0 };
    if rows.len() < FEW {
        return rows.partition_point(|row| time(row) <= at);
    }
    let (first, last) = (time(first), time(last));
    if at < first {
        return 0;
    }
    if last <= at {
        return rows.len();
    }
    let share = (at - first) as f64 / (last - first) as f64;
    not_after_near(rows, (share * rows.len() as f64) as usize, time, at)
}

/// How many rows at the front are before a time.
pub fn before<T>(rows: &[T], time: impl Fn(&T) -> u64, at: u64) -> usize {
    at.checked_sub(1).map_or(0, |at| not_after(rows, time, at))
}

/// The same as [`not_after`], searched outwards from a guess: nearly always a step or two away.
pub fn not_after_near<T>(rows: &[T], guess: usize, time: impl Fn(&T) -> u64, at: u64) -> usize {
    let guess = guess.min(rows.len());
    let mut step = 1;
    if guess < rows.len() && time(&rows[guess]) <= at {
        let mut low = guess;
        while low + step < rows.len() && time(&rows[low + step]) <= at {
            low += step;
            step *= 2;
        }
        let high = (low + step).min(rows.len());
        low + rows[low..high].partition_point(|row| time(row) <= at)
    } else {
        let mut high = guess;
        while high >= step && time(&rows[high - step]) > at {
            high -= step;
            step *= 2;
        }
        let low = high.saturating_sub(step);
        low + rows[low..high].partition_point(|row| time(row) <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_from_anywhere_finds_what_a_search_by_halves_finds() {
        // Evenly spread, all at once, and in bursts with nothing in between.
        let even: Vec<u64> = (0..200).map(|row| 1_000 + row * 7).collect();
        let bursts = (0..200_u64).map(|row| (row / 50) * 1_000_000 + row % 50).collect();
        for rows in [Vec::new(), vec![5], vec![9; 100], even, bursts] {
            let times = rows.iter().flat_map(|&time: &u64| [time.saturating_sub(1), time, time + 1]);
            for at in times.chain([0, 3_000, u64::MAX]) {
                let expected = rows.partition_point(|&time| time <= at);
                assert_eq!(not_after(&rows, |&time| time, at), expected, "{at}");
                assert_eq!(before(&rows, |&time| time, at), rows.partition_point(|&time| time < at), "{at}");
                for guess in [0, 1, rows.len() / 2, rows.len(), usize::MAX] {
                    assert_eq!(not_after_near(&rows, guess, |&time| time, at), expected, "{at} from {guess}");
                }
            }
        }
    }
}
