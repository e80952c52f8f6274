"""What Streamlit runs, with its configuration beside it: apart from `app/pages`, which it would take for its own."""

from app.frame.main import main

if __name__ == "__main__":  # not where a process that is started from within takes this for its own beginning
    main()
