//! A document: what a command comes down to, with what its recordings and trials show. The terminal's text, the page and
//! Markdown are three ways to show the same one; which blocks it has is said in `documents`.

pub(crate) use case::views::{Difference, SideViews};

use case::views::{ArmDots, PageViews};
use case::{
    Answer, Bisection, Comparison, FeedHistory, FeedRefresh, Load, Manifest, Matrix, Steps, Sweep, Traffic, Watched,
};

/// Everything that is shown.
pub struct Document<'a> {
    /// What the command found.
    pub body: Body<'a>,
    /// What recordings show: one for a run, A and B for a comparison, one a regime for a sweep, the good and the bad
    /// world for a bisection, one a version for a matrix. Only the page draws them.
    pub sides: Vec<SideViews>,
    /// Where CPU time differs between sides: B's from A's for a comparison, the bad world's from the good one's for a
    /// bisection, each of the [`case::views::Pairs`] for a matrix.
    pub differences: Vec<Difference>,
    /// Every trial, arm by arm.
    pub arms: Vec<ArmDots>,
    /// How it was run and on which machine, where the case says so.
    pub manifest: Option<&'a Manifest>,
}

/// What a command found.
#[derive(Clone, Copy)]
pub enum Body<'a> {
    /// The answer of a run, or of something that was watched while running.
    Answer(&'a Answer),
    /// Two against each other.
    Comparison(&'a Comparison),
    /// One thing varied.
    Sweep(&'a Sweep),
    /// Which of the things that differ makes the difference.
    Bisection(&'a Bisection),
    /// Versions of a library.
    Matrix(&'a Matrix),
    /// What was counted or measured, with nothing recorded and nothing tried.
    Measured(Measured<'a>),
}

/// What a command found that records no program and tries nothing.
#[derive(Clone, Copy)]
pub enum Measured<'a> {
    /// Access logs.
    Traffic(&'a Traffic),
    /// A series over time.
    Steps(&'a Steps),
    /// Services over time.
    Watched(&'a Watched),
    /// A measured load.
    Load(&'a Load),
    /// Feeds.
    Feeds(Feeds<'a>),
}

/// What a command on feeds found.
#[derive(Clone, Copy)]
pub enum Feeds<'a> {
    /// Rounds just made.
    Refresh(&'a FeedRefresh),
    /// Rounds over days.
    History(&'a FeedHistory),
}

impl<'a> From<&'a FeedRefresh> for Body<'a> {
    fn from(of: &'a FeedRefresh) -> Body<'a> {
        Body::Measured(Measured::Feeds(Feeds::Refresh(of)))
    }
}

impl<'a> From<&'a FeedHistory> for Body<'a> {
    fn from(of: &'a FeedHistory) -> Body<'a> {
        Body::Measured(Measured::Feeds(Feeds::History(of)))
    }
}

impl<'a> Document<'a> {
    /// A document without recordings and trials: all that the terminal and Markdown show.
    pub fn of(body: impl Into<Body<'a>>) -> Document<'a> {
        Document { body: body.into(), sides: Vec::new(), differences: Vec::new(), arms: Vec::new(), manifest: None }
    }

    /// The same with what its recordings and trials show.
    #[must_use]
    pub fn with(self, views: PageViews) -> Document<'a> {
        let PageViews { sides, differences, arms } = views;
        Document { sides, differences, arms, ..self }
    }

    /// The answer, where it is one.
    pub(crate) fn answer(&self) -> Option<&'a Answer> {
        if let Body::Answer(answer) = self.body { Some(answer) } else { None }
    }

    /// The comparison, where it is one.
    pub(crate) fn comparison(&self) -> Option<&'a Comparison> {
        if let Body::Comparison(comparison) = self.body { Some(comparison) } else { None }
    }

    /// The sweep, where it is one.
    pub(crate) fn sweep(&self) -> Option<&'a Sweep> {
        if let Body::Sweep(sweep) = self.body { Some(sweep) } else { None }
    }

    /// The bisection, where it is one.
    pub(crate) fn bisection(&self) -> Option<&'a Bisection> {
        if let Body::Bisection(bisection) = self.body { Some(bisection) } else { None }
    }

    /// The matrix, where it is one.
    pub(crate) fn matrix(&self) -> Option<&'a Matrix> {
        if let Body::Matrix(matrix) = self.body { Some(matrix) } else { None }
    }

    /// What access logs say, where it is that.
    pub(crate) fn traffic(&self) -> Option<&'a Traffic> {
        if let Body::Measured(Measured::Traffic(traffic)) = self.body { Some(traffic) } else { None }
    }

    /// What a load found, where it is that.
    pub(crate) fn load(&self) -> Option<&'a Load> {
        if let Body::Measured(Measured::Load(load)) = self.body { Some(load) } else { None }
    }

    /// Rounds just made, where it is that.
    pub(crate) fn refresh(&self) -> Option<&'a FeedRefresh> {
        if let Body::Measured(Measured::Feeds(Feeds::Refresh(refresh))) = self.body { Some(refresh) } else { None }
    }

    /// Rounds over days, where it is that.
    pub(crate) fn history(&self) -> Option<&'a FeedHistory> {
        if let Body::Measured(Measured::Feeds(Feeds::History(history))) = self.body { Some(history) } else { None }
    }

    /// What services did over time, where it is that.
    pub(crate) fn watched(&self) -> Option<&'a Watched> {
        if let Body::Measured(Measured::Watched(watched)) = self.body { Some(watched) } else { None }
    }

    /// What a series shows, where it is that.
    pub(crate) fn steps(&self) -> Option<&'a Steps> {
        if let Body::Measured(Measured::Steps(steps)) = self.body { Some(steps) } else { None }
    }
}

impl<'a> Body<'a> {
    /// The folder of its case; empty for what is kept in none.
    pub(crate) fn case(self) -> &'a str {
        match self {
            Body::Answer(answer) => &answer.case,
            Body::Comparison(comparison) => &comparison.case,
            Body::Sweep(sweep) => &sweep.case,
            Body::Bisection(bisection) => &bisection.case,
            Body::Matrix(matrix) => &matrix.case,
            Body::Measured(_) => "",
        }
    }

    /// The file of its page; empty for none.
    pub(crate) fn page(self) -> &'a str {
        match self {
            Body::Answer(answer) => &answer.page,
            Body::Comparison(comparison) => &comparison.page,
            Body::Sweep(sweep) => &sweep.page,
            Body::Bisection(bisection) => &bisection.page,
            Body::Matrix(matrix) => &matrix.page,
            Body::Measured(_) => "",
        }
    }

    /// What makes its result worth less.
    pub(crate) fn warnings(self) -> &'a [String] {
        match self {
            Body::Answer(_) | Body::Measured(_) => &[],
            Body::Comparison(comparison) => &comparison.warnings,
            Body::Sweep(sweep) => &sweep.warnings,
            Body::Bisection(bisection) => &bisection.warnings,
            Body::Matrix(matrix) => &matrix.warnings,
        }
    }
}

macro_rules! body {
    ($($kind:ident),*; $($measured:ident),*) => {$(
        impl<'a> From<&'a $kind> for Body<'a> {
            fn from(of: &'a $kind) -> Body<'a> {
                Body::$kind(of)
            }
        }
    )* $(
        impl<'a> From<&'a $measured> for Body<'a> {
            fn from(of: &'a $measured) -> Body<'a> {
                Body::Measured(Measured::$measured(of))
            }
        }
    )*};
}

body!(Answer, Comparison, Sweep, Bisection, Matrix; Traffic, Load, Watched, Steps);

impl<'a> From<&'a case::Document> for Body<'a> {
    fn from(document: &'a case::Document) -> Body<'a> {
        match document {
            case::Document::Answer(answer) => Body::Answer(answer),
            case::Document::Comparison(comparison) => Body::Comparison(comparison),
            case::Document::Sweep(sweep) => Body::Sweep(sweep),
            case::Document::Bisection(bisection) => Body::Bisection(bisection),
            case::Document::Matrix(matrix) => Body::Matrix(matrix),
        }
    }
}
