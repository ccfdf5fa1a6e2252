"""What the public modules are made of: basics <- counting <- text <- scoring <- metrics, in this order of imports."""
