const find = id => document.getElementById(id);
const [filter, runs, more, message] = ['filter', 'runs', 'more', 'message'].map(find);

const at = ms => new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** What has happened to a run, in plain words. */
function happened({ state, status, created, ends }) {
  const came = `The request came at ${at(created)}.`;
  if (state === 'running') return `${came} Its handler runs. If its process dies, the lease ends at ${at(ends)}.`;
  if (state === 'unknown')
    return (
      `${came} Its process ended, or lost the store, before it said what it did. ` +
      `Every retry gets 409 until you settle it, at the latest until ${at(ends)}.`
    );
  if (status === undefined)
    return `${came} It ran, and there is no response to replay. Every retry gets 409 until ${at(ends)}.`;
  return `${came} It ran and answered ${status}. Retries get this response until ${at(ends)}.`;
}

/** What can be done with a run, by its state: the name of the button, the question before it, what it settles. */
const actions = {
  running: [],
  done: [
    [
      'Purge',
      'The stored response and the record of this run are removed. The next request with this key RUNS THE HANDLER ' +
        'AGAIN. Purge only if you know that the run did nothing.',
    ],
  ],
  unknown: [
    ['It ran', 'You have looked, and what it does was done. Retries get 409, and it never runs again.', 'ran'],
    [
      'It did not run',
      'You have looked, and nothing was done. The next request with this key RUNS THE HANDLER.',
      'did-not-run',
    ],
  ],
};

const pathOf = run => `keys/${encodeURIComponent(run.cacheKey)}`;

/** Settles a run, or purges it. */
const change = (run, outcome) =>
  outcome
    ? ask(`${pathOf(run)}/resolve`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ outcome }),
      })
    : ask(pathOf(run), { method: 'DELETE' });

/** Asks the server. @throws Error with what went wrong. */
async function ask(path, init) {
  const response = await fetch(path, init);
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.detail ?? `The server answered ${response.status}.`);
  return body;
}

function element(name, text, properties = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...properties });
}

function button(name, run, action) {
  const made = element('button', name);
  made.setAttribute('aria-label', `${name}: ${run.method} ${run.path}, ${at(run.created)}`);
  made.addEventListener('click', () => action(made).catch(tell));
  return made;
}

const tell = error => {
  message.textContent = error.message;
};

/** Shows the stored response below a run. */
async function showResponse(run, item, shower) {
  const { response } = await ask(`${pathOf(run)}?response=true`);
  const bytes = Uint8Array.from(atob(response?.body ?? ''), character => character.charCodeAt(0));
  const lines = (response?.headers ?? []).map(([name, value]) => `${name}: ${value}`);
  const text = [...lines, '', new TextDecoder().decode(bytes)].join('\n');
  item.append(element('pre', response ? text : 'It is not in the store any more.'));
  shower.remove();
}

function itemOf(run) {
  const item = element('li', '');
  item.dataset.state = run.state;
  const buttons = element('div', '', { className: 'actions' });
  if (run.status !== undefined)
    buttons.append(button('Show the response', run, shower => showResponse(run, item, shower)));
  for (const [name, question, outcome] of actions[run.state]) {
    const act = async () => {
      if (!confirm(`${name}: ${run.method} ${run.path}\n\n${question}`)) return;
      await change(run, outcome);
      await look();
      message.textContent = `${name}: done. ${message.textContent}`;
    };
    buttons.append(button(name, run, act));
  }
  item.append(
    element('h2', `${run.method} ${run.path}`),
    element('p', happened(run), { className: 'happened' }),
    element('code', run.cacheKey),
    buttons,
  );
  return item;
}

/** Where the next page begins. */
let after;

async function look(isNext = false) {
  const given = new URLSearchParams(new FormData(filter));
  if (isNext) given.set('after', after);
  message.textContent = 'Looking…';
  const page = await ask(`keys?${given}`);
  if (!isNext) runs.replaceChildren();
  runs.append(...page.items.map(itemOf));
  after = page.after;
  more.hidden = after === undefined;
  message.textContent =
    runs.childElementCount === 0 ? 'There are none.' : `${runs.childElementCount} shown, the newest first.`;
}

filter.addEventListener('submit', event => {
  event.preventDefault();
  look().catch(tell);
});
more.addEventListener('click', () => look(true).catch(tell));
look().catch(tell);
