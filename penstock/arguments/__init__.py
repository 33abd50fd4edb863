"""Arguments that operators of several groups share, as bases of their declarations; native/ops/arguments reads them."""
