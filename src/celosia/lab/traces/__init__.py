"""The study `traces`: figures of published and provable facts about traces."""
