//! The algorithms that ours are measured against, each as its paper has it.

pub mod joung;
mod lamport;
mod maekawa;
mod raymond;
mod ricart_agrawala;
mod singhal_dynamic;
mod singhal_heuristic;
mod suzuki_kasami;

pub use self::lamport::Lamport;
pub use self::maekawa::Maekawa;
pub use self::raymond::Raymond;
pub use self::ricart_agrawala::RicartAgrawala;
pub use self::singhal_dynamic::SinghalDynamic;
pub use self::singhal_heuristic::SinghalHeuristic;
pub use self::suzuki_kasami::SuzukiKasami;
