//! Stopping what runs.

use tokio::sync::watch;

/// Stops a run. Dropping it stops nothing.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// Tells a run that it is to stop. Clones are told together.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

impl Stopper {
    /// A stopper, and what it stops.
    #[must_use]
    pub fn new() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Stop(receiver))
    }

    /// Stops everything that holds the other half.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// One that never comes.
    #[must_use]
    pub fn never() -> Self {
        Stopper::new().1
    }

    /// True once it came.
    #[must_use]
    pub fn is_due(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it comes.
    pub async fn due(&mut self) {
        if self.0.wait_for(|due| *due).await.is_err() {
            // The stopper is gone, so nobody can stop this run any more.
            std::future::pending::<()>().await;
        }
    }
}
