SELECT
    CAST(floor(first_s / 86400) AS BIGINT) * 86400 AS day_s,
    CAST(floor(first_s / 3600) AS BIGINT) % 24 AS hour,
    sum(requests) AS requests,
    sum(CASE WHEN kind = 'crawler' THEN traffic.requests ELSE 0 END) AS crawled
FROM traffic
WHERE part = 'time'
GROUP BY day_s, hour
ORDER BY day_s, hour
