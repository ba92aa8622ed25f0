#!/usr/bin/perl
# Reads forms over HTTP/1.1, one connection after the other, and says how many fields each has. Usage: server.pl ADDRESS PORT
use strict;
use warnings;
use IO::Socket::INET;

my ($address, $port) = @ARGV;
my $listener = IO::Socket::INET->new(LocalAddr => $address, LocalPort => $port, Listen => 16, ReuseAddr => 1)
    or die "server.pl: $!\n";

sub fields {
    my ($body) = @_;
    my %form;
    for my $pair (split /&/, $body) {
        my ($name, $value) = split /=/, $pair;
        $form{$name} = $value;    # casebook: a name that collides
    }
    return scalar keys %form;
}

while (my $connection = $listener->accept) {
    while (defined(my $line = <$connection>)) {
        my $length = 0;
        while (defined($line = <$connection>) && $line =~ /\S/) {
            $length = $1 if $line =~ /^content-length:\s*(\d+)/i;
        }
        read($connection, my $body, $length) == $length or last;
        my $answer = fields($body) . "\n";
        $connection->send("HTTP/1.1 200 OK\r\nContent-Length: " . length($answer) . "\r\n\r\n" . $answer);
    }
}
