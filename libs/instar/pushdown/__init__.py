"""What statistics say about a filter: which parts hold no row that can match."""
