"""What the pages of Learn show: techniques, worked examples, attacks in steps, live controls.

Nothing here knows a browser. Heavy work (`Lesson.compute`) is done once, in a worker process, with
the functions of the library itself; what it found is put into words in the language of each page.
"""
