#!/usr/bin/perl
# Prints a form whose names all come into one bucket of a hash, if the process that reads it has this one's seed. Usage: names.pl COUNT
use strict;
use warnings;
use Hash::Util qw(hash_value);

my ($count) = @ARGV;
# As many buckets as a hash of so many names has.
my $buckets = 1;
$buckets *= 2 while $buckets < $count;
my (@names, $number);
for ($number = 0; @names < $count; $number++) {
    my $name = "field$number";
    push @names, $name if (hash_value($name) & ($buckets - 1)) == 0;
}
print join "&", map { "$_=1" } @names;
