"""Reads the forms of an HTML page and fills them in as a person would, from what the page says."""

import dataclasses
import html.parser
import re

REFUSAL = re.compile(r"deny|refuse|cancel|sign out|log out", re.IGNORECASE)
VOID_TYPES = {"reset", "file", "image", "button"}


@dataclasses.dataclass
class Control:
    """An input, button, select or textarea with the text that a person sees beside it."""

    tag: str
    type: str
    name: str
    value: str
    checked: bool
    disabled: bool
    id: str
    label: str = ""
    formaction: str = ""
    chosen: bool = dataclasses.field(default=False, repr=False)


@dataclasses.dataclass
class Form:
    action: str
    method: str
    controls: list

    def filled(self, *, password, refuse):
        """(action, fields) after the button was pressed; None if there is no such button here.

        Every box is ticked: the clients under test shall get what they asked for. What is ticked at
        first is the business of browser_consent.py.
        """
        if self.method != "post":
            return None
        fields, button = [], None
        for control in self.controls:
            if control.disabled or control.type in VOID_TYPES:
                continue
            if control.type == "submit":
                if button is None and bool(REFUSAL.search(control.label)) == refuse:
                    button = control
            elif control.type == "password":
                fields.append((control.name, password))
            elif control.type == "checkbox":
                fields.append((control.name, control.value or "on"))
            elif control.type != "radio" or control.checked:
                fields.append((control.name, control.value))
        if button is None:
            return None
        if button.name:
            fields.append((button.name, button.value))
        return button.formaction or self.action, [(name, value) for name, value in fields if name]


class Page(html.parser.HTMLParser):
    """`Page(text).forms` are the forms of the page, `.text` is what a person reads."""

    def __init__(self, markup):
        super().__init__(convert_charrefs=True)
        self.forms, self.words = [], []
        self._form = self._button = self._select = self._textarea = None
        self._labels, self._open_labels, self._unread = {}, [], 0
        self.feed(markup)
        self.close()
        for form in self.forms:
            for control in form.controls:
                control.label = " ".join(f"{control.label} {self._labels.get(control.id, '')}".split())

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        given = {name: value or "" for name, value in attributes}
        if tag in ("style", "script"):
            self._unread += 1
        elif tag == "form":
            self._form = Form(given.get("action", ""), given.get("method", "get").lower(), [])
            self.forms.append(self._form)
        elif tag == "label":
            self._open_labels.append((given.get("for"), []))
        elif tag in ("input", "button", "select", "textarea") and self._form is not None:
            self._control(tag, given)
        elif tag == "option" and self._select is not None and (not self._select.chosen or "selected" in given):
            self._select.chosen, self._select.value = True, given.get("value", "")

    def _control(self, tag, given):
        usual = {"input": "text", "button": "submit"}.get(tag, tag)
        control = Control(
            tag,
            given.get("type", usual).lower(),
            given.get("name", ""),
            given.get("value", ""),
            "checked" in given,
            "disabled" in given,
            given.get("id", ""),
            formaction=given.get("formaction", ""),
        )
        if tag == "input" and control.type == "submit":
            control.label = control.value
        self._form.controls.append(control)
        for _, inside in self._open_labels:
            inside.append(control)
        if tag in ("button", "select", "textarea"):
            setattr(self, f"_{tag}", control)

    def handle_endtag(self, tag):
        if tag in ("style", "script"):
            self._unread -= 1
        elif tag == "label" and self._open_labels:
            self._open_labels.pop()
        elif tag in ("form", "button", "select", "textarea"):
            setattr(self, f"_{tag}", None)

    def handle_data(self, data):
        if self._unread:
            return
        self.words.append(data)
        if self._button is not None:
            self._button.label += data
        if self._textarea is not None:
            self._textarea.value += data
        for target, inside in self._open_labels:
            if target:
                self._labels[target] = self._labels.get(target, "") + data
            for control in inside:
                control.label += data
