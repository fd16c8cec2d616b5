"""The demonstration: an unknown pendulum is calibrated, then swung up, drawn in the terminal as it goes.

``python -m explore_context.demo`` starts the launch file as anybody would, listens to its topics and leaves a
figure. ``story`` keeps what was seen, ``view`` draws the terminal, ``figure`` the PNG.
"""
