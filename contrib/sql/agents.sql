SELECT agent, kind, claim, sum(requests) AS requests, sum(bytes) AS bytes, sum(took) / 1e9 AS seconds
FROM traffic
WHERE part = 'agent'
GROUP BY agent, kind, claim
ORDER BY requests DESC, agent, claim
LIMIT 50
