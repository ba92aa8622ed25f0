SELECT p.executable AS program, count(DISTINCT p.host || p.day || p.run) AS runs, sum(t.on_cpu) / 1e9 AS cpu_seconds
FROM processes AS p
JOIN (
    SELECT host, day, run, pid, sum(on_cpu) AS on_cpu FROM threads GROUP BY host, day, run, pid
) AS t ON t.host = p.host AND t.day = p.day AND t.run = p.run AND t.pid = p.pid
WHERE p.role <> 'other'
GROUP BY p.executable
ORDER BY cpu_seconds DESC, program
LIMIT 50
