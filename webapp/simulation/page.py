"""What a simulated participant takes from a page, as a browser would."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """One page of the server's.

    Attributes:
        name: Which page it is, as its body says.
        action: Where its form goes; empty where that is the page's own address.
        method: How its form goes there.
        code: The platform's completion code that it shows; empty where there is none.
        hidden: The hidden fields of its form, which the browser sends back unseen.
        fields: The names of all fields of its form.
        session: The JSON text that the trials stand in; empty on other pages.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.name, self.action, self.session = "", "", ""
        self.method, self.code = "get", ""
        self.hidden: dict[str, str] = {}
        self.fields: set[str] = set()
        self._in_session = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what the tag's attributes say."""
        attributes = {name: value or "" for name, value in attrs}
        self._in_session = tag == "script" and attributes.get("id") == "session"
        if tag == "body":
            self.name = attributes.get("data-page", "")
        if tag == "form":
            self.action = attributes.get("action", "")
            self.method = attributes.get("method", "get")
        self.code = attributes.get("data-code", self.code)
        if tag in ("input", "select", "textarea") and "name" in attributes:
            self.fields.add(attributes["name"])
        if tag == "input" and attributes.get("type") == "hidden":
            self.hidden[attributes["name"]] = attributes["value"]

    def handle_endtag(self, tag: str) -> None:
        """Leave the session's script."""
        self._in_session = False

    def handle_data(self, data: str) -> None:
        """Take the text of the session's script."""
        if self._in_session:
            self.session += data
