"""The frame around each page: brand, navigation, sidebar."""
