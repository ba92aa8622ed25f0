//! Least squares of many curves by shapes that differ in their last column only: where the columns are made orthogonal once, a
//! curve and a shape cost as many products as there are rows.

/// A column whose length falls below this share, once the others are taken out of it, is one of their sums.
const DEPENDS: f64 = 1e-7;

/// Shapes that share all columns but the last.
pub(crate) struct LastColumn {
    /// Of length 1, at right angles to each other.
    shared: Vec<Vec<f64>>,
    /// For each shape what is new in its last column, of length 1; `None` where that is nothing.
    last: Vec<Option<Vec<f64>>>,
}

/// The shape that leaves the least squares.
pub(crate) struct Best {
    /// Which of the shapes.
    pub shape: usize,
    /// By which factor its last column lowers the squares that are left.
    pub clearness: f64,
}

impl LastColumn {
    pub fn new(shared: &[Vec<f64>], last: impl IntoIterator<Item = Vec<f64>>) -> LastColumn {
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for column in shared {
            basis.extend(direction(&basis, column));
        }
        let last = last.into_iter().map(|column| direction(&basis, &column)).collect();
        LastColumn { shared: basis, last }
    }

    /// The best shape for a curve with a value for each row; `None` where no shape has anything of its own.
    pub fn best(&self, ys: &[f64]) -> Option<Best> {
        let rest = without(&self.shared, ys);
        let straight = dot(&rest, &rest);
        let gains =
            self.last.iter().enumerate().filter_map(|(shape, last)| Some((shape, dot(last.as_ref()?, &rest).powi(2))));
        let (shape, gain) = gains.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        Some(Best { shape, clearness: straight / (straight - gain).max(f64::MIN_POSITIVE) })
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(one, other)| one * other).sum()
}

/// What is left of a column once those of a basis are taken out.
fn without(basis: &[Vec<f64>], column: &[f64]) -> Vec<f64> {
    let mut rest = column.to_vec();
    for direction in basis {
        let part = dot(direction, &rest);
        rest.iter_mut().zip(direction).for_each(|(value, unit)| *value -= part * unit);
    }
    rest
}

/// The same with length 1. Taken out twice, since the first time leaves what rounding does (Kahan's 'twice is enough').
fn direction(basis: &[Vec<f64>], column: &[f64]) -> Option<Vec<f64>> {
    let mut rest = without(basis, &without(basis, column));
    let (length, whole) = (dot(&rest, &rest).sqrt(), dot(column, column).sqrt());
    if length <= whole * DEPENDS {
        return None;
    }
    for value in &mut rest {
        *value /= length;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::LastColumn;
    use crate::noise::normal;
    use crate::surface::fit;

    #[test]
    fn the_best_shape_and_its_clearness_are_those_of_separate_fits() {
        let mut random = Rng::with_seed(1);
        let xs = (0..12).map(f64::from).collect::<Vec<_>>();
        let shared = [vec![1.0; 12], xs.clone()];
        let bent = |at: usize| xs.iter().map(|x| (x - at as f64).max(0.0)).collect::<Vec<_>>();
        // The last is a sum of the shared ones.
        let shapes = LastColumn::new(&shared, (1..11).map(bent).chain([vec![3.0; 12]]));
        for _ in 0..50 {
            let ys = xs.iter().map(|x| 1000.0 + 20.0 * x + normal(&mut random)).collect::<Vec<_>>();
            let straight = fit(&shared, &ys).unwrap().rest;
            let rests = (1..11).map(|at| fit(&[shared[0].clone(), shared[1].clone(), bent(at)], &ys).unwrap().rest);
            let (shape, rest) = rests.enumerate().min_by(|one, other| one.1.total_cmp(&other.1)).unwrap();
            let best = shapes.best(&ys).unwrap();
            assert_eq!(best.shape, shape);
            assert!((best.clearness / (straight / rest) - 1.0).abs() < 1e-6, "{} {}", best.clearness, straight / rest);
        }
    }

    #[test]
    fn shapes_with_nothing_of_their_own_are_never_the_best() {
        let shapes = LastColumn::new(&[vec![1.0; 3]], [vec![2.0; 3]]);
        assert!(shapes.best(&[1.0, 2.0, 4.0]).is_none());
    }
}
