//! A place for one session: whoever comes first opens it, everybody else waits for the same.

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};

use super::Live;
use crate::ConnectionError;

/// A session that is being opened, or its end.
pub(crate) type Opening = Shared<BoxFuture<'static, Result<Arc<Live>, ConnectionError>>>;

/// A place for one session.
#[derive(Default)]
pub(super) struct Slot {
    now: Mutex<Option<Opening>>,
}

impl Slot {
    /// The session, if it is open and of this generation of settings.
    pub(super) fn live(&self, generation: u64) -> Option<Arc<Live>> {
        let now = self.lock();
        match now.as_ref()?.peek() {
            Some(Ok(live)) if live.usable(generation) => Some(live.clone()),
            Some(Ok(_) | Err(_)) | None => None,
        }
    }

    /// The session or the opening that is under way; starts one where there is neither. Says what it took the place of.
    pub(super) fn open(
        &self,
        generation: u64,
        start: impl FnOnce() -> Opening,
    ) -> (Opening, Option<Arc<Live>>) {
        let mut now = self.lock();
        match now.as_ref() {
            Some(opening)
                if opening
                    .peek()
                    .is_none_or(|r| r.as_ref().is_ok_and(|live| live.usable(generation))) =>
            {
                (opening.clone(), None)
            }
            Some(_) | None => {
                let opening = start();
                let before = now.replace(opening.clone()).and_then(resolved);
                (opening, before)
            }
        }
    }

    /// Empties the place; the session in it, if one is open.
    pub(super) fn take(&self) -> Option<Arc<Live>> {
        let opening = self.lock().take();
        opening.and_then(resolved)
    }

    /// The session in it, taken out; one that is being opened stays.
    pub(super) fn take_open(&self) -> Option<Arc<Live>> {
        let mut now = self.lock();
        now.as_ref()?.peek()?;
        now.take().and_then(resolved)
    }

    /// Empties the place if this session is in it.
    pub(super) fn discard(&self, gone: &Arc<Live>) {
        let mut now = self.lock();
        let same = now
            .as_ref()
            .and_then(Opening::peek)
            .is_some_and(|r| r.as_ref().is_ok_and(|l| Arc::ptr_eq(l, gone)));
        if same {
            *now = None;
        }
    }

    /// The session in it, of whatever generation, open or not.
    pub(super) fn any(&self) -> Option<Arc<Live>> {
        self.lock().clone().and_then(resolved)
    }

    /// Whether nothing is in it and nothing on its way.
    pub(super) fn is_vacant(&self) -> bool {
        match self
            .lock()
            .as_ref()
            .map(|opening| opening.peek().map(Result::is_ok))
        {
            None | Some(Some(false)) => true,
            Some(None | Some(true)) => false,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Opening>> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn resolved(opening: Opening) -> Option<Arc<Live>> {
    opening.now_or_never().and_then(Result::ok)
}
