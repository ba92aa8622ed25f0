# A page of a line, for any server of Rack.
run ->(_environment) { [200, { "content-type" => "text/plain" }, ["hello from the casebook\n"]] }
