"""What a person chose: state, session and URL."""
