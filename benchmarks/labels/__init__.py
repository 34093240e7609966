"""Each rule beside what its label promises, over all that a dtype can hold."""
