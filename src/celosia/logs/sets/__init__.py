"""Set-valued data: transactions, and the models and methods that protect them."""
