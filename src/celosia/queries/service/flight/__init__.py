"""Arrow Flight SQL over the service: ADBC and JDBC drivers ask with the same tokens and budgets.

pyarrow carries Flight; the messages of Flight SQL (`messages`) and its tables about tables
(`metadata`) are written here. A call becomes a call of the `Service` that HTTP calls too, so every
limit, refusal, charge, deadline and note of the audit log is the same (`server`).
"""
