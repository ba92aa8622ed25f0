SELECT sum(requests) AS requests, sum(bytes) AS bytes, sum(took) / 1e9 AS seconds
FROM traffic
WHERE part = 'all'
