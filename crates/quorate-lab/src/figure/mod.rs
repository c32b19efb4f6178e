//! Figures as SVG: what experiments find, for pages and files.
//!
//! Text keeps clear of text, whatever font it is shown with; colours are never the only thing that
//! tells two lines apart. Black is the ink of the page: a dark page may take another.

mod canvas;
mod crowd;
mod diagram;
mod pen;
mod plot;
mod scale;
mod spread;
mod text;

pub use self::pen::Palette;
pub use self::text::text_width;
