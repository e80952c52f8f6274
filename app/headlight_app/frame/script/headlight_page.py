"""The script that Streamlit runs, with its configuration beside it."""

from headlight_app.frame.main import main

if __name__ == "__main__":  # not where a process that is started from within takes this for its own beginning
    main()
