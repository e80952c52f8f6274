"""The script that Streamlit runs, with its configuration beside it."""

from headlight_app.frame.main import main

if __name__ == "__main__":  # not in a child process that imports this as its main module
    main()
