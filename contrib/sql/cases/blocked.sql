SELECT number, sum(calls) AS calls, sum(blocked) / 1e9 AS blocked_seconds, count(DISTINCT host || day || run) AS runs
FROM call_sums
GROUP BY number
HAVING sum(blocked) > 0
ORDER BY blocked_seconds DESC, number
LIMIT 50
