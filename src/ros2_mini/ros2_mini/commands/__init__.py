"""One module for each verb, with ``add_arguments(parser)`` and ``main(args) -> exit code``."""
