//! A panel: lines and areas over one axis, drawn as SVG in both sizes of the page.

use crate::chart::{Figure, Plot, Px, Shape, Size};
use crate::scale::Scale;

/// Where its parts lie.
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 190.0;
const HEIGHT: f64 = 216.0;

/// A curve and its look.
pub(super) struct Curve {
    /// Its class.
    pub class: &'static str,
    /// Its points (x, y); none where it is interrupted.
    pub points: Vec<Option<(f64, f64)>>,
    /// Whether what lies beneath it is filled.
    pub is_area: bool,
}

/// What is to be drawn.
pub(super) struct Panel {
    /// For who does not see it.
    pub said: String,
    /// What stands beneath it.
    pub caption: String,
    /// From where to where x goes.
    pub across: (f64, f64),
    /// The curves, those behind first.
    pub curves: Vec<Curve>,
    /// How a value of y is written.
    pub written: fn(f64) -> String,
    /// Values of x that are written, and how; on a narrow screen every second one.
    pub marks: Vec<(f64, String)>,
    /// Whether y begins at 0 and grows evenly, whatever the values are.
    pub is_linear: bool,
}

impl Panel {
    /// Its HTML; empty where there is nothing to draw.
    pub(super) fn html(&self) -> String {
        let plots = Size::BOTH.into_iter().filter_map(|size| self.plot(size)).collect::<Vec<_>>();
        if plots.is_empty() {
            return String::new();
        }
        let (said, caption) = (self.said.clone(), self.caption.clone());
        Figure { class: "load-chart", height: HEIGHT, said, caption, is_caption_first: false, plots }.html()
    }

    fn plot(&self, size: Size) -> Option<Plot> {
        let right = size.width() - RIGHT;
        let across = Scale::linear(self.across.0, self.across.1, LEFT, right);
        let values = || self.curves.iter().flat_map(|curve| curve.points.iter().flatten().map(|(_, y)| *y));
        let up = if self.is_linear {
            Scale::from_zero(values(), BOTTOM, TOP)?
        } else {
            Scale::logarithmic(values(), BOTTOM, TOP)?
        };
        let every = if size == Size::Wide { 1 } else { 2 };
        let marks = self.marks.iter().step_by(every);
        Some(Plot {
            size,
            left: Px(LEFT),
            right: Px(right),
            top: Px(TOP),
            bottom: Px(BOTTOM),
            up: up.marks(34.0).into_iter().map(|value| (Px(up.place(value)), (self.written)(value))).collect(),
            across: marks.map(|(value, label)| (Px(across.place(*value)), label.clone())).collect(),
            shapes: self.curves.iter().map(|curve| Shape::Path(curve.class, path(curve, &across, &up))).collect(),
        })
    }
}

/// The path of a curve: a stroke from point to point, or an area down to the axis.
fn path(curve: &Curve, across: &Scale, up: &Scale) -> String {
    let mut path = String::new();
    for stretch in curve.points.split(Option::is_none) {
        let mut places = stretch.iter().flatten().map(|(x, y)| (Px(across.place(*x)), Px(up.place(*y)))).peekable();
        let Some((first, _)) = places.peek().copied() else { continue };
        let mut last = first;
        let mut begins = if curve.is_area { format!("M{first} {}L", Px(BOTTOM)) } else { "M".to_string() };
        for (x, y) in places {
            path += &format!("{begins}{x} {y}");
            (begins, last) = ("L".into(), x);
        }
        if curve.is_area {
            path += &format!("L{last} {}Z", Px(BOTTOM));
        } else if last == first {
            // A point alone is a dot: a stroke with round ends.
            path += "h0.1";
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(points: Vec<Option<(f64, f64)>>, is_area: bool) -> String {
        let curves = vec![Curve { class: "p50", points, is_area }];
        let written = |value: f64| value.to_string();
        let across = (0.0, 2.0);
        let marks = vec![(0.0, "0".into())];
        Panel { said: "s".into(), caption: "<c>".into(), across, curves, written, marks, is_linear: false }.html()
    }

    #[test]
    fn a_curve_is_interrupted_where_there_is_nothing() {
        let html = panel(vec![Some((0.0, 1.0)), Some((0.5, 2.0)), None, Some((2.0, 4.0))], false);
        assert_eq!(html.matches("<svg").count(), 2);
        let path = html.lines().find(|line| line.contains("p50")).unwrap_or_default();
        assert_eq!((path.matches('M').count(), path.matches('L').count()), (2, 1), "{path}");
        assert!(!html.contains("<c>"), "{html}");
        assert!(path.ends_with("h0.1\"/>"), "{path}");
        assert!(panel(vec![Some((0.0, 1.0)), Some((1.0, 2.0))], true).contains('Z'));
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert_eq!(panel(vec![None], false), "");
    }
}
