//! Stages, samples and memory.

use letterpress::perf::{self, Samples, Summary};

#[test]
fn percentiles_are_samples_by_nearest_rank() {
    let check = |samples: &[f64], expected: [f64; 5]| {
        let Summary { p50, p95, p99, max, mean, count } =
            samples.iter().copied().collect::<Samples>().summary();
        assert_eq!([p50, p95, p99, max, mean], expected, "{samples:?}");
        assert_eq!(count, samples.iter().filter(|sample| !sample.is_nan()).count());
    };
    let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
    check(&[], [0.0; 5]);
    check(&[3.0], [3.0; 5]);
    check(&[4.0, 2.0], [2.0, 4.0, 4.0, 4.0, 3.0]);
    check(&hundred, [50.0, 95.0, 99.0, 100.0, 50.5]);
    check(&[1.0, f64::NAN, 2.0, 3.0], [2.0, 3.0, 3.0, 3.0, 2.0]);
}

#[test]
fn a_full_ring_forgets_the_oldest() {
    let mut samples = Samples::new(3);
    (1..=5).for_each(|sample| samples.push(f64::from(sample)));
    assert_eq!(samples.iter().collect::<Vec<_>>(), [3.0, 4.0, 5.0]);
    assert_eq!((samples.len(), samples.summary().max), (3, 5.0));
    samples.clear();
    samples.push(9.0);
    assert_eq!(samples.iter().collect::<Vec<_>>(), [9.0]);
}

fn outer() {
    perf::scope!("outer");
    inner();
    inner();
}

fn inner() {
    perf::scope!("inner");
    std::hint::black_box((0..1000).sum::<u64>());
}

#[test]
fn stages_are_measured_while_measuring_is_on() {
    outer();
    assert_eq!(perf::take_stages(), [], "measuring is off");
    perf::enable(true);
    outer();
    perf::enable(false);
    let stages = perf::take_stages();
    assert_eq!(
        stages.iter().map(|s| (s.name, s.calls)).collect::<Vec<_>>(),
        [("inner", 2), ("outer", 1)]
    );
    let [inner, outer] = stages.as_slice() else { unreachable!("two names were used") };
    assert!(outer.total >= inner.total && outer.own == outer.total - inner.total);
    assert!(inner.own == inner.total && !inner.total.is_zero());
    assert_eq!(perf::take_stages(), [], "they were taken");
}

#[test]
#[cfg(target_os = "linux")]
fn resident_memory_is_known_and_below_its_peak() {
    let before = perf::rss_bytes().expect("Linux says it");
    let touched = vec![1_u8; 64 << 20];
    let peak = perf::peak_rss_bytes().expect("Linux says it");
    assert!(touched.iter().step_by(4096).all(|byte| *byte == 1));
    assert!(before > 1 << 20 && peak >= 64 << 20, "{before} {peak}");
}

#[test]
fn time_on_processors_grows_with_work() {
    let Some(before) = perf::processor_time() else { return };
    // Enough to be seen, whatever the machine.
    let mut text = String::new();
    while perf::processor_time().is_some_and(|now| now == before) && text.len() < 1 << 28 {
        text.push_str(&"letterpress ".repeat(1000));
    }
    assert!(perf::processor_time() > Some(before));
}
