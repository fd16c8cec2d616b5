"""The live view in the browser: what the page shows, and the server that shows it. No ROS here."""
