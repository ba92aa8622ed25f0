//! A figure of plots, one for each size of the page: a grid with labels, what is drawn over it, and an axis across.

use super::{Px, Size};
use askama::Template;

/// Plots of the same thing, with the words that belong to them.
#[derive(Template)]
#[template(
    source = r#"<figure>
{% if is_caption_first %}<figcaption>{{ caption }}</figcaption>
{% endif %}{% for plot in plots %}<svg class="{{ class }} {{ plot.size.class() }} plot" viewBox="0 0 {{ plot.size.width() }} {{ height }}" role="img" aria-label="{{ said }}">
{% for (y, label) in plot.up %}<path class="grid" d="M{{ plot.left }} {{ y }}H{{ plot.right }}"/><text class="up" x="{{ plot.left }}" dx="-6" dy="4" y="{{ y }}">{{ label }}</text>
{% endfor %}{% for shape in plot.shapes %}{% match shape %}{% when Shape::Path with (class, path) %}<path class="{{ class }}" d="{{ path }}"/>
{% when Shape::Band with (class, x, width) %}<rect class="{{ class }}" x="{{ x }}" y="{{ plot.top }}" width="{{ width }}" height="{{ plot.tall() }}"/>
{% when Shape::Dot with (class, x, y) %}<circle class="{{ class }}" cx="{{ x }}" cy="{{ y }}" r="2.5"/>
{% when Shape::Upright with (class, x) %}<path class="{{ class }}" d="M{{ x }} {{ plot.top }}V{{ plot.bottom }}"/>
{% endmatch %}{% endfor %}<path class="axis" d="M{{ plot.left }} {{ plot.bottom }}H{{ plot.right }}"/>
{% for (x, label) in plot.across %}<path class="axis" d="M{{ x }} {{ plot.bottom }}v5"/><text class="across" x="{{ x }}" y="{{ plot.bottom }}" dy="19">{{ label }}</text>
{% endfor %}</svg>
{% endfor %}{% if !is_caption_first %}<figcaption>{{ caption }}</figcaption>
{% endif %}</figure>
"#,
    ext = "html"
)]
pub(crate) struct Figure {
    /// The class that gives shapes their looks.
    pub class: &'static str,
    /// How tall each is, labels included.
    pub height: f64,
    /// For who does not see it.
    pub said: String,
    /// What it shows, and what colours mean.
    pub caption: String,
    /// Whether that stands above.
    pub is_caption_first: bool,
    /// The plots, the wide one first.
    pub plots: Vec<Plot>,
}

/// One size of it.
pub(crate) struct Plot {
    /// For which screens.
    pub size: Size,
    /// Where the grid begins and ends.
    pub left: Px,
    pub right: Px,
    pub top: Px,
    pub bottom: Px,
    /// Labels beside the grid's lines.
    pub up: Vec<(Px, String)>,
    /// Labels under the axis.
    pub across: Vec<(Px, String)>,
    /// What is drawn, those behind first.
    pub shapes: Vec<Shape>,
}

/// What is drawn, by its class.
pub(crate) enum Shape {
    /// Along a path.
    Path(&'static str, String),
    /// From top to bottom, beginning here and so wide.
    Band(&'static str, Px, Px),
    /// At a place.
    Dot(&'static str, Px, Px),
    /// A line from top to bottom.
    Upright(&'static str, Px),
}

impl Figure {
    /// Its HTML.
    pub(crate) fn html(&self) -> String {
        self.render().unwrap_or_default()
    }
}

impl Plot {
    fn tall(&self) -> Px {
        Px(self.bottom.0 - self.top.0)
    }
}
