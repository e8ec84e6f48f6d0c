"""Recurrent models: an LSTM, a simple recurrent network, an LSTM with a short context window."""
