SELECT host, day, sum(requests) AS requests, sum(bytes) AS bytes
FROM traffic
WHERE part = 'all'
GROUP BY host, day
ORDER BY host, day
