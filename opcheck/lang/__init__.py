"""What is said in another language than English, and how a sentence is found for it."""
