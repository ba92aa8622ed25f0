# A page of a line, for any server of PSGI.
sub { [200, ['Content-Type' => 'text/plain', 'Content-Length' => 24], ["hello from the casebook\n"]] };
