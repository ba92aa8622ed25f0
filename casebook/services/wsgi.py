"""A page of a line, for any server of WSGI."""


def application(environ, start_response):
    body = b"hello from the casebook\n"
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
