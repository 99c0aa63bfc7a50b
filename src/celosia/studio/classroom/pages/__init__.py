"""The pages of a class: the entrance, the student's, the teacher's; and the forms behind them."""
