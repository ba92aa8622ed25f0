SELECT
    agent,
    sum(requests) AS requests,
    sum(CASE WHEN status = 4 THEN traffic.requests ELSE 0 END) AS refused,
    sum(CASE WHEN status = 5 THEN traffic.requests ELSE 0 END) AS failed
FROM traffic
WHERE part = 'status'
GROUP BY agent
ORDER BY failed DESC, refused DESC, agent
LIMIT 50
