//! Figures as SVG, for pages and files.
//!
//! Texts do not overlap, whatever the font; no two lines differ by colour alone. Black stands for
//! the text colour of the page: a dark page may replace it.

mod canvas;
mod diagram;
mod occupied;
mod palette;
mod plot;
mod scale;
mod spread;
mod text;

pub use self::palette::Palette;
pub use self::text::text_width;
