"""The code behind the public modules. Imports go in one direction: basics <- counting <- text <- scoring <- metrics."""
