// @ts-check
/**
 * A session of several tasks. The script of each task's response type shows its trials, on a stage that
 * contains only this task's elements.
 *
 * @typedef {import("../../../static/trial_view.js").Tools} Tools
 * @typedef {import("../../../static/trial_view.js").View} View
 * @typedef {import("../../../static/trial_view.js").ResponseScript} ResponseScript
 * @typedef {import("../../../static/trial_sequence.js").Trial} Trial
 *
 * @typedef {{ view: View, parts: Node[], title: string, keys: string[] }} Task
 */

/** @type {Record<string, { script: string, keys: string[], deadline_ms?: number | null }>} */
let tasks = {};
/** @type {Record<string, ResponseScript>} */
let scripts = {};

/** @type {NonNullable<ResponseScript["prepare"]>} */
export const prepare = async (session, fetchScript) => {
  tasks = session.tasks;
  const loading = Object.entries(tasks).map(async ([name, { script }]) => [name, await fetchScript(script)]);
  scripts = Object.fromEntries(await Promise.all(loading));
};

/** @type {ResponseScript["view"]} */
export const view = (tools) => new MixedView(tools);

/** @type {ResponseScript["answer"]} */
export const answer = () => ({});

/** @type {ResponseScript["offered"]} */
export const offered = () => true;

class MixedView {
  #tools;
  #place;
  /** @type {Map<string, Task>} */
  #tasks = new Map();
  /** @type {Task | undefined} */
  #currentTask;

  /** @param {Tools} tools */
  constructor(tools) {
    this.#tools = tools;
    this.#place = /** @type {HTMLElement} */ (tools.place.querySelector("[data-task-place]"));
    for (const template of tools.place.querySelectorAll("template")) {
      const { taskOf: name = "", title = "" } = template.dataset;
      const parts = [...template.content.childNodes];
      // A view listens to the elements on the stage when it is made, not to those of other tasks.
      this.#place.replaceChildren(...parts);
      const settings = { ...tools.settings, deadline_ms: tasks[name].deadline_ms };
      const taskView = tools.makeTrialView(scripts[name], { ...tools, settings });
      this.#tasks.set(name, { view: taskView, parts, title, keys: tasks[name].keys });
    }
    this.#place.replaceChildren();
    const missing = Object.keys(tasks).filter((name) => !this.#tasks.has(name));
    if (missing.length) throw new Error(`The page lacks the tasks ${missing.join(", ")}.`);
  }

  /** The shown trial; undefined once it is answered. */
  get trial() {
    return this.#currentTask?.view.trial;
  }

  /** Whether the last answer came after its task's deadline. */
  get late() {
    return Boolean(this.#currentTask?.view.late);
  }

  /**
   * Shows a trial in the view of its task.
   * @param {Trial} trial
   */
  show(trial) {
    this.close();
    const task = this.#tasks.get(String(trial.task));
    if (!task) return;
    if (task !== this.#currentTask) {
      this.#currentTask = task;
      this.#place.replaceChildren(...task.parts);
      this.#tools.keys.setTaskKeys(task.keys);
      const title = this.#tools.place.querySelector(".question");
      if (title) title.textContent = task.title;
    }
    const keySettings = /** @type {HTMLElement | null} */ (this.#tools.place.querySelector(".keys"));
    if (keySettings) keySettings.hidden = false;
    task.view.show(trial);
  }

  /** Stops accepting presses. */
  close() {
    this.#currentTask?.view.close();
  }
}
