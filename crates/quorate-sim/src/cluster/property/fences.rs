//! Fences strictly grow along the grants of one resource, in the order of entry.
//!
//! The site layer: a fence is above every fence used before it on that resource, also when an
//! earlier holder died without a word. A grant that is told when it is over is no entry.

use quorate_protocol::Fence;
use quorate_site::CallId;

pub(super) const NAME: &str = "fences grow";

/// The highest fence so far, and whose it was, by resource.
#[derive(Debug)]
pub(super) struct Fences {
    highest: Vec<Option<(Fence, CallId)>>,
}

impl Fences {
    pub(super) fn new(names: usize) -> Self {
        Self { highest: vec![None; names] }
    }

    pub(super) fn on_enter(
        &mut self,
        name: usize,
        call: CallId,
        fence: Fence,
    ) -> Result<(), String> {
        match self.highest[name].replace((fence, call)) {
            Some((highest, other)) if fence <= highest => {
                let (other, call) = (other.0, call.0);
                Err(format!("fence {fence} of call {call} follows fence {highest} of call {other}"))
            }
            _ => Ok(()),
        }
    }
}
