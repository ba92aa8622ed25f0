SELECT name AS network, sum(requests) AS requests, sum(bytes) AS bytes, sum(missed) AS missed
FROM traffic
WHERE part = 'network'
GROUP BY name
ORDER BY requests DESC, network
LIMIT 50
