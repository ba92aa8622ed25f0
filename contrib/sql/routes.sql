SELECT name AS route, sum(requests) AS requests, sum(bytes) AS bytes, sum(took) / 1e9 AS seconds, sum(missed) AS missed
FROM traffic
WHERE part = 'route'
GROUP BY name
ORDER BY requests DESC, route
LIMIT 50
