"""What enrolment refuses, with words for a person."""


class CourseError(Exception):
    """`user_message` says what is wrong and what to do."""

    def __init__(self, user_message: str, *, retryable: bool = False) -> None:
        super().__init__(user_message)
        self.user_message = user_message
        self.retryable = retryable
