"""Terminal support of commands: interruptions, and progress bars."""
