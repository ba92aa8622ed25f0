SELECT host, day, sum(run_delay) / 1e9 AS waiting_seconds, sum(on_cpu) / 1e9 AS cpu_seconds
FROM scheduler_sums
GROUP BY host, day
ORDER BY waiting_seconds DESC, host, day
LIMIT 50
