"""What the signs of activations show: how differently a network treats different samples."""
