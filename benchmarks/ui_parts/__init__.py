"""What `benchmarks.ui` is made of: the run that it shows, the servers, the peer."""
