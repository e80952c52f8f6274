"""What Streamlit runs, with its configuration beside it: apart from `app/pages`, which it would take for its own."""

from app.frame.main import main

main()
