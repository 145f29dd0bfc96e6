"""SiGeo: proxies after a little training, on images and on click logs."""
