"""Who answered: a column of every row that says what was answered."""

from experiment.tables.column import Column

# In every row: no table of people takes in a model's rows unnoticed.
PERSON, PROGRAM, MODEL = "person", "program", "model"
JUDGE = Column(
    "judge",
    "string",
    "who answered: a person, a program in a person's place, or a language model",
    values=(PERSON, PROGRAM, MODEL),
    absent=PERSON,
)
