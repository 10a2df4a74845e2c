//! Pictures of messages: decoded off the UI thread, within limits, and kept as textures.
//!
//! Only bytes that a message carries are looked at. An address is never fetched.

mod decode;

use std::{
    collections::{HashMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use egui::{ColorImage, Context, TextureHandle, TextureOptions};

pub use decode::Limits;

use crate::model::{Image, ImageData, MessageId};

/// Pictures that are decoded at a time.
const WORKERS: usize = 2;
/// Pictures that wait, in number and in encoded bytes.
const WAITING: usize = 32;
const WAITING_BYTES: usize = 64 << 20;
/// Pictures are decoded at these longest sides, in pixels, so that a window that grows
/// does not have every picture decoded again at each width.
const SIDES: [u32; 5] = [256, 512, 1024, 2048, 4096];
/// A picture that was not asked for during so many frames is not on screen.
const FRAMES_OFF_SCREEN: u64 = 2;

/// Names a picture of a message for as long as the message lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageKey {
    /// The message.
    pub message: MessageId,
    /// Index of its part.
    pub part: u16,
    /// Index of the picture in the part.
    pub index: u16,
}

/// What there is to show of a picture.
pub enum ImageState<'a> {
    /// It is being decoded.
    Loading,
    /// It can be drawn.
    Ready {
        /// The picture, no larger than was asked for.
        texture: &'a TextureHandle,
        /// Width and height of the whole picture, in its own pixels.
        size: [u32; 2],
    },
    /// It cannot be shown; one line says why.
    Failed(&'a str),
}

/// The pictures of a conversation.
pub struct Images {
    waker: Arc<dyn Fn() + Send + Sync>,
    limits: Limits,
    texture_bytes: usize,
    entries: HashMap<ImageKey, Entry>,
    /// Oldest first; the newest is decoded next.
    waiting: VecDeque<Job>,
    in_hand: usize,
    results: SyncSender<Done>,
    done: Receiver<Done>,
    generation: u64,
    bytes: usize,
}

struct Entry {
    /// Tells a picture that was replaced from the one that was decoded.
    fingerprint: u64,
    shown: Shown,
    /// Longest side that is being decoded, when one is.
    asked_side: Option<u32>,
    /// The last frame that asked for it.
    used: u64,
}

enum Shown {
    Nothing,
    Texture { texture: TextureHandle, size: [u32; 2], side: u32 },
    Failure(Arc<str>),
}

struct Job {
    key: ImageKey,
    fingerprint: u64,
    bytes: Arc<[u8]>,
    side: u32,
}

struct Done {
    key: ImageKey,
    fingerprint: u64,
    side: u32,
    result: Result<decode::Decoded, String>,
}

impl Images {
    /// No pictures yet; `waker` is called from a worker each time one is ready.
    #[must_use]
    pub fn new(waker: Arc<dyn Fn() + Send + Sync>) -> Self {
        Self::with_limits(waker, Limits::default(), 64 << 20)
    }

    /// As [`Self::new`], with limits of its own for files and for bytes of textures.
    #[must_use]
    pub fn with_limits(
        waker: Arc<dyn Fn() + Send + Sync>,
        limits: Limits,
        texture_bytes: usize,
    ) -> Self {
        // One place for each worker, so that none ever waits for a frame.
        let (results, done) = sync_channel(WORKERS);
        Self {
            waker,
            limits,
            texture_bytes,
            entries: HashMap::new(),
            waiting: VecDeque::new(),
            in_hand: 0,
            results,
            done,
            generation: 0,
            bytes: 0,
        }
    }

    /// Begins a frame: takes in what was decoded, lets go what is no longer needed.
    ///
    /// True when a picture is there, or has failed, that was loading before.
    pub fn begin_frame(&mut self, ctx: &Context) -> bool {
        self.generation += 1;
        let mut is_new = false;
        while let Ok(done) = self.done.try_recv() {
            self.in_hand -= 1;
            is_new |= self.absorb(ctx, done);
        }
        self.drop_waiting_off_screen();
        self.hand_out();
        if self.bytes > self.texture_bytes {
            self.forget_oldest();
        }
        is_new
    }

    /// The picture, scaled down so that its longest side is about `max_px` pixels.
    ///
    /// Asks for it to be decoded when it is not there. Call it every frame that shows it.
    pub fn get<'a>(
        &'a mut self,
        ctx: &Context,
        key: ImageKey,
        image: &'a Image,
        max_px: u32,
    ) -> ImageState<'a> {
        let bytes = match &image.data {
            ImageData::Bytes(bytes) => bytes,
            ImageData::Address(_) => {
                return ImageState::Failed("pictures at an address are not fetched");
            }
            ImageData::Unusable(why) => return ImageState::Failed(why),
        };
        let fingerprint = fingerprint(bytes);
        let largest = u32::try_from(ctx.input(|i| i.max_texture_side)).unwrap_or(u32::MAX);
        let side = side_for(max_px).min(largest);
        self.renew(key, fingerprint);
        let generation = self.generation;
        let entry = self.entries.entry(key).or_insert_with(|| {
            let entry = Entry::new(fingerprint);
            self.bytes += entry.bytes();
            entry
        });
        entry.used = generation;
        if entry.wants(side) {
            entry.asked_side = Some(side);
            let job = Job { key, fingerprint, bytes: Arc::clone(bytes), side };
            self.waiting.push_back(job);
            self.drop_waiting_beyond_limits();
            self.hand_out();
        }
        match self.entries.get(&key).map(|entry| &entry.shown) {
            Some(Shown::Texture { texture, size, .. }) => {
                ImageState::Ready { texture, size: *size }
            }
            Some(Shown::Failure(line)) => ImageState::Failed(line),
            Some(Shown::Nothing) | None => ImageState::Loading,
        }
    }

    /// Bytes of the textures that are kept.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Forgets every picture and every request that waits.
    pub fn purge(&mut self) {
        self.entries = HashMap::new();
        self.waiting = VecDeque::new();
        self.bytes = 0;
    }

    /// Forgets a picture whose bytes have changed.
    fn renew(&mut self, key: ImageKey, fingerprint: u64) {
        if self.entries.get(&key).is_some_and(|entry| entry.fingerprint != fingerprint) {
            self.forget(key);
        }
    }

    fn forget(&mut self, key: ImageKey) {
        if let Some(entry) = self.entries.remove(&key) {
            self.bytes -= entry.bytes();
        }
        self.waiting.retain(|job| job.key != key);
    }

    fn absorb(&mut self, ctx: &Context, done: Done) -> bool {
        let Done { key, fingerprint, side, result } = done;
        let Some(entry) = self.entries.get_mut(&key) else { return false };
        if entry.fingerprint != fingerprint || entry.asked_side != Some(side) {
            return false;
        }
        self.bytes -= entry.bytes();
        entry.asked_side = None;
        entry.shown = match result {
            Ok(decode::Decoded { pixels, scaled, size }) => {
                let image = ColorImage::from_rgba_unmultiplied(scaled, &pixels);
                let name = format!("picture {} {} {}", key.message, key.part, key.index);
                let texture = ctx.load_texture(name, image, TextureOptions::LINEAR);
                Shown::Texture { texture, size, side }
            }
            Err(line) => Shown::Failure(line.into()),
        };
        self.bytes += entry.bytes();
        true
    }

    /// Starts workers as long as there is work and a place. A thread lives for one
    /// picture: they are rare, and threads that wait for the next one would not be.
    fn hand_out(&mut self) {
        while self.in_hand < WORKERS
            && let Some(job) = self.waiting.pop_back()
        {
            let (key, waker) = (job.key, Arc::clone(&self.waker));
            let (results, limits) = (self.results.clone(), self.limits);
            let thread = thread::Builder::new()
                .name("picture".to_owned())
                .spawn(move || work(job, limits, &results, &*waker));
            match thread {
                Ok(_) => self.in_hand += 1,
                Err(error) => {
                    let line = format!("no thread could be started to decode it: {error}");
                    if let Some(entry) = self.entries.get_mut(&key) {
                        entry.asked_side = None;
                        entry.shown = Shown::Failure(line.into());
                    }
                }
            }
        }
    }

    /// What has left the screen before its turn came is asked for again if it comes back.
    fn drop_waiting_off_screen(&mut self) {
        let Self { entries, waiting, generation, .. } = self;
        waiting.retain(|job| {
            let Some(entry) = entries.get_mut(&job.key) else { return false };
            let on_screen = entry.used + FRAMES_OFF_SCREEN >= *generation;
            if !on_screen {
                entry.asked_side = None;
            }
            on_screen
        });
    }

    fn drop_waiting_beyond_limits(&mut self) {
        let mut bytes: usize = self.waiting.iter().map(|job| job.bytes.len()).sum();
        while self.waiting.len() > 1
            && (self.waiting.len() > WAITING || bytes > WAITING_BYTES)
            && let Some(job) = self.waiting.pop_front()
        {
            bytes -= job.bytes.len();
            if let Some(entry) = self.entries.get_mut(&job.key) {
                entry.asked_side = None;
            }
        }
    }

    /// Lets go what was shown longest ago. What is on screen stays, whatever its size: it
    /// would only be decoded again.
    fn forget_oldest(&mut self) {
        let oldest_shown = self.generation.saturating_sub(FRAMES_OFF_SCREEN);
        let mut by_age: Vec<(u64, ImageKey)> = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.used < oldest_shown)
            .map(|(key, entry)| (entry.used, *key))
            .collect();
        by_age.sort_unstable();
        for (_, key) in by_age {
            if self.bytes <= self.texture_bytes {
                break;
            }
            self.forget(key);
        }
    }
}

impl Entry {
    fn new(fingerprint: u64) -> Self {
        Self { fingerprint, shown: Shown::Nothing, asked_side: None, used: 0 }
    }

    /// True when it has to be decoded for this side: not yet there, or there but smaller
    /// than both the side and itself.
    fn wants(&self, side: u32) -> bool {
        let is_small = match &self.shown {
            Shown::Nothing => true,
            Shown::Failure(_) => false,
            Shown::Texture { size, side: has, .. } => *has < side && size.iter().any(|n| n > has),
        };
        is_small && self.asked_side.is_none()
    }

    fn bytes(&self) -> usize {
        let shown = match &self.shown {
            Shown::Nothing => 0,
            Shown::Texture { texture, .. } => texture.byte_size(),
            Shown::Failure(line) => line.len(),
        };
        size_of::<(ImageKey, Self)>() + shown
    }
}

fn side_for(max_px: u32) -> u32 {
    SIDES.into_iter().find(|side| *side >= max_px).unwrap_or(SIDES[SIDES.len() - 1])
}

/// Tells pictures apart without reading all of them: pages of a conversation are loaded
/// again and again, so their address says nothing.
fn fingerprint(bytes: &[u8]) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    bytes.len().hash(&mut hasher);
    for part in [0, bytes.len() / 2, bytes.len().saturating_sub(64)] {
        bytes.get(part..bytes.len().min(part + 64)).hash(&mut hasher);
    }
    hasher.finish()
}

fn work(job: Job, limits: Limits, results: &SyncSender<Done>, waker: &dyn Fn()) {
    let Job { key, fingerprint, bytes, side } = job;
    let result = catch_unwind(AssertUnwindSafe(|| decode::decode(&bytes, side, limits)));
    let result = result.unwrap_or_else(|_panic| Err("the decoder gave up on this file".to_owned()));
    drop(bytes);
    if results.send(Done { key, fingerprint, side, result }).is_ok() {
        waker();
    }
}
