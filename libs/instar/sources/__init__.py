"""Where rows come from: formats of sources, read into Arrow with every line accounted for."""
