// Run by test_assets.py with Node's own test runner.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.mjs";

class Field extends EventTarget {
  dataset = {};
  hidden = false;
  classes = new Set();
  attributes = {};
  classList = { toggle: (name, on) => (on ? this.classes.add(name) : this.classes.delete(name)) };
  constructor(fields = {}) {
    super();
    Object.assign(this, fields);
  }
  getAttribute(name) {
    return this.attributes[name] ?? null;
  }
  toggleAttribute(name, on) {
    this.attributes[name] = on;
  }
  querySelectorAll() {
    return this.inner ?? [];
  }
}
class Input extends Field {}
class TextArea extends Field {}

let values = [];
class Form extends Field {
  found = {};
  elements = { namedItem: (name) => this.named?.[name] ?? null };
  querySelectorAll(selector) {
    return this.found[selector] ?? [];
  }
}
const kept = new Map();
Object.assign(globalThis, {
  HTMLInputElement: Input, HTMLTextAreaElement: TextArea, HTMLFormElement: Form,
  FormData: class extends Map {
    constructor() {
      super(values);
    }
  },
  localStorage: {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value),
    removeItem: (name) => kept.delete(name),
  },
  location: { href: "https://lab.example/session/x/questionnaire", origin: "https://lab.example" },
});
const page = { form: null, alert: null };
globalThis.document = Object.assign(new EventTarget(), {
  body: { dataset: {} },
  querySelector: (selector) => (selector === "main form" ? page.form : page.alert),
});
globalThis.window = globalThis;

const { formTexts, isAsked, openQuestions } = await load("questions.js");
const { openQuestionnaire } = await load("questionnaire.js");
const memory = await load("browser_storage.js");
const HERE = "/session/x/questionnaire";

test("several choices become one text, and an empty field leaves no separator", () => {
  const sent = [["a", "x"], ["b", ""], ["a", "y"], ["c", 3], ["b", "z"]];
  assert.deepEqual(formTexts(sent), { a: "x; y", b: "z", c: "3" });
});

test("a question is asked if every condition is met by one of its answers", () => {
  assert.equal(isAsked({}, {}), true);
  assert.equal(isAsked({ a: ["x", "y"] }, { a: "y" }), true);
  assert.equal(isAsked({ a: ["x"] }, { a: "w; x" }), true);
  assert.equal(isAsked({ a: ["x; y"] }, { a: "x; y" }), true);
  assert.equal(isAsked({ a: ["x"] }, { a: "w; y" }), false);
  assert.equal(isAsked({ a: ["x"], b: ["z"] }, { a: "x" }), false);
  assert.equal(isAsked({ a: [""] }, {}), true);
});

test("what is not asked is hidden, and its fields are switched off until it is asked", () => {
  const field = new Input();
  const part = new Field({ dataset: { onlyIf: '{"a": ["x"]}' }, inner: [field] });
  const form = new Form({});
  form.found["[data-only-if]"] = [part];
  values = [["a", "w"]];
  const leaving = new AbortController();
  openQuestions(form, leaving.signal);
  assert.deepEqual([part.hidden, field.attributes.disabled], [true, true]);
  values = [["a", "x"]];
  form.dispatchEvent(new Event("input"));
  assert.deepEqual([part.hidden, field.attributes.disabled], [false, false]);
  leaving.abort();
  values = [];
  form.dispatchEvent(new Event("input"));
  assert.equal(part.hidden, false);
});

test("a slider and its number follow each other, and an untouched slider says so", () => {
  const number = new Input({ value: "" });
  const range = new Input({ value: "50", dataset: { sets: "age" } });
  const form = new Form({ named: { age: number } });
  form.found["input[data-sets]"] = [range];
  openQuestions(form, new AbortController().signal);
  assert.deepEqual([range.classes.has("untouched"), range.value], [true, "50"]);
  const press = (key) => range.dispatchEvent(Object.assign(new Event("keydown"), { key }));
  press("Tab");
  assert.equal(number.value, "");
  press("Enter");
  assert.deepEqual([number.value, range.classes.has("untouched")], ["50", false]);
  const type = (value) => {
    number.value = value;
    number.dispatchEvent(new Event("input"));
  };
  type("7,5");
  assert.equal(range.value, "7.5");
  type("seven");
  assert.deepEqual([range.value, range.classes.has("untouched")], ["7.5", false]);
  type("");
  assert.deepEqual([range.value, range.classes.has("untouched")], ["7.5", true]);
  press(" ");
  assert.equal(number.value, "7.5");
  range.value = "9";
  range.dispatchEvent(new Event("pointerup"));
  assert.equal(number.value, "9");
});

/** A questionnaire with a field of every kind, opened on a page. */
function opened({ alert = null } = {}) {
  const counts = new Input({ name: "_pasted", value: "", type: "hidden" });
  const fields = [
    new TextArea({ name: "note", value: "" }),
    new Input({ name: "age", value: "", type: "text", attributes: { type: "text" } }),
    new Input({ name: "sex", value: "f", type: "radio" }),
    new Input({ name: "sex", value: "m", type: "radio" }),
    new Input({ name: "tongue", value: "de", type: "checkbox" }),
    new Input({ name: "tongue", value: "nl", type: "checkbox" }),
    new Input({ name: "tongue", value: "da", type: "checkbox" }),
    new Input({ name: "token", value: "t", type: "hidden" }),
    counts,
  ];
  const form = new Form({ named: { _pasted: counts } });
  form.found["input, textarea"] = fields;
  Object.assign(page, { form, alert });
  openQuestionnaire(new AbortController().signal);
  return { form, counts, fields };
}

const WRITTEN = { note: "n", age: "30", sex: "m", tongue: "nl; da", token: "old", _pasted: '{"note":3}' };

test("what an earlier page had written comes back in fields of every kind, and hidden ones stay", () => {
  memory.saveValue(HERE, { written: WRITTEN });
  const { fields, counts } = opened();
  assert.deepEqual(fields.slice(0, 2).map(({ value }) => value), ["n", "30"]);
  assert.deepEqual(fields.slice(2, 7).map(({ checked }) => checked), [false, true, false, true, true]);
  assert.deepEqual([fields[7].value, counts.value], ["t", '{"note":3}']);
});

test("what the server sends back to be mended is newer than what was kept", () => {
  memory.saveValue(HERE, { written: WRITTEN });
  const { fields } = opened({ alert: new Field() });
  assert.equal(fields[0].value, "");
});

test("what is written is kept, without the number of the attempt", () => {
  memory.saveValue(HERE, { answered: [1] });
  const { form } = opened();
  values = [["note", "new"], ["try", "2"]];
  form.dispatchEvent(new Event("input"));
  assert.deepEqual(memory.loadValue(HERE), { answered: [1], written: { note: "new" } });
});

test("pasted characters are added up by field, and never kept themselves", () => {
  const { form, counts } = opened();
  counts.value = "";
  const paste = (name, text) => {
    const event = Object.assign(new Event("paste"), { clipboardData: text && { getData: () => text } });
    Object.defineProperty(event, "target", { value: { name } });
    form.dispatchEvent(event);
  };
  for (const [name, text] of [["note", "abc"], ["age", "12"], ["note", "de"], ["", "x"], ["age", null]]) {
    paste(name, text);
  }
  assert.equal(counts.value, '{"note":5,"age":2}');
});
