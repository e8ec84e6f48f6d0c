"""Recurrent language models: LSTM, simple recurrent network, and an LSTM with a short window."""
