//! Least squares over a few columns: y as a sum of given shapes, each with its weight.

/// Weights of the columns with the least squares, and what is left.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    pub weights: Vec<f64>,
    /// The squares of what no column explains.
    pub rest: f64,
    /// The variance of each weight, in units of the noise's variance.
    pub spreads: Vec<f64>,
}

/// Fits `ys` by `columns`; `None` where the columns depend on each other or there are fewer rows than columns.
pub(crate) fn fit(columns: &[Vec<f64>], ys: &[f64]) -> Option<Fit> {
    let size = columns.len();
    if size > ys.len() {
        return None;
    }
    let dot = |left: &[f64], right: &[f64]| left.iter().zip(right).map(|(one, other)| one * other).sum::<f64>();
    let products: Vec<Vec<f64>> =
        columns.iter().map(|left| columns.iter().map(|right| dot(left, right)).collect()).collect();
    let inverse = inverted(products)?;
    let sums: Vec<f64> = columns.iter().map(|column| dot(column, ys)).collect();
    let weights: Vec<f64> = inverse.iter().map(|row| dot(row, &sums)).collect();
    let explained = |row: usize| columns.iter().zip(&weights).map(|(column, weight)| column[row] * weight).sum::<f64>();
    let rest = ys.iter().enumerate().map(|(row, y)| (y - explained(row)).powi(2)).sum();
    let spreads = (0..size).map(|place| inverse[place][place]).collect();
    Some(Fit { weights, rest, spreads })
}

/// Gauss and Jordan, with the largest pivot of each column.
fn inverted(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    let scale = matrix.iter().flatten().fold(0.0, |most: f64, value| most.max(value.abs()));
    let mut inverse: Vec<Vec<f64>> =
        (0..size).map(|row| (0..size).map(|column| if row == column { 1.0 } else { 0.0 }).collect()).collect();
    for column in 0..size {
        let pivot =
            (column..size).max_by(|one, other| matrix[*one][column].abs().total_cmp(&matrix[*other][column].abs()))?;
        // So small a rest of the largest entry is rounding, not information.
        if matrix[pivot][column].abs() <= scale * 1e-13 {
            return None;
        }
        matrix.swap(column, pivot);
        inverse.swap(column, pivot);
        let over = matrix[column][column];
        for place in 0..size {
            matrix[column][place] /= over;
            inverse[column][place] /= over;
        }
        for row in (0..size).filter(|row| *row != column) {
            let factor = matrix[row][column];
            for place in 0..size {
                matrix[row][place] -= factor * matrix[column][place];
                inverse[row][place] -= factor * inverse[column][place];
            }
        }
    }
    Some(inverse)
}
