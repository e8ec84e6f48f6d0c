"""Recurrent language models: LSTM, simple recurrent network, and an LSTM that sees few words."""
