//! What one trial measured, in sentences.

use crate::text::clean;
use case::Nanos;
use case::tables::Trial;

/// What was measured, a line each.
pub fn trial(row: &Trial) -> String {
    let rate = row.exchanges as f64 / row.wall.seconds().max(1e-9);
    let each = |nanos: Nanos| Nanos(nanos.0 / row.exchanges.max(1));
    let mut lines =
        vec![format!("Trial of {}: {} exchanges in {}, {rate:.1} a second.", row.arm, row.exchanges, row.wall)];
    if row.exchanges > 0 {
        let (wall, cpu) = (each(row.exchange_wall), each(row.cpu()));
        lines.push(format!("Per exchange: {wall} of wall time, {cpu} of CPU time."));
    }
    lines.push(format!(
        "CPU time: client {} user, {} system; server {} user, {} system.",
        row.client_user, row.client_system, row.server_user, row.server_system
    ));
    lines.push(match row.exit {
        -1 => "The trial was cut short before the program ended.".to_string(),
        status => format!("The program exited with status {status}."),
    });
    if row.metric.is_finite() {
        lines.push(format!("The metric: {}", row.metric));
    }
    if !row.problem.is_empty() {
        let what = if row.applied { "" } else { "the intervention did not take effect: " };
        lines.push(format!("But {what}{}.", clean(&row.problem)));
    }
    lines.join("\n") + "\n"
}
