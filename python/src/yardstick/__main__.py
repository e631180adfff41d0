"""Serve the policy in a file: python -m yardstick FILE.py [NAME]."""

import sys

from yardstick.load import main

if __name__ == "__main__":
    main(sys.argv[1:])
