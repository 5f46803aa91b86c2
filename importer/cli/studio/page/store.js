// @ts-check
// What the page knows: the server's state, what is under way, and what to say to the person. All changes go through here.

import { get, post } from './api.js';
import { batch, computed, signal } from './lib.js';
import { isTyped, takeIn } from './pending.js';

/** @typedef {import('./types.js').State} State */
/** @typedef {import('./types.js').Operation} Operation */

/** The server's state; null before the first answer. @type {import('./lib.js').Signal<State|null>} */
export const state = signal(/** @type {State|null} */ (null));

/** The state for views, which are drawn only when there is one. */
export const current = () => /** @type {State} */ (state.value);

/** The last sentence for the person, read aloud by screen readers.
 * @type {import('./lib.js').Signal<{kind: 'said'|'refused', text: string, hint?: string}|null>} */
export const notice = signal(/** @type {any} */ (null));

/** There is no news: the server does not answer, it fails, or another one answers at its address. */
export const away = signal(false);

/** Columns by their letter. */
export const columnsByLetter = computed(() => new Map((state.value?.columns || []).map((c) => [c.letter, c])));

/** What is suggested. */
export const suggestions = computed(() => state.value?.suggestions || []);

/** Targets by their path. */
export const targetsByPath = computed(() => new Map((state.value?.targets || []).map((t) => [t.path, t])));

/** The verdict is of the present mapping and of all rows. */
export const isJudged = computed(() => state.value?.judgement.complete === true);

/** The target at a path. An activity that was named by its template until the mapping had it is found by its new path.
 * @param {string|undefined} path @returns {import('./types.js').Target|undefined} */
export function targetAt(path) {
	const found = targetsByPath.value.get(path || '');
	const [, template, rest] = /^\/activities\/template=([^/]*)(\/.*)$/.exec(path || '') || [];
	if (found || !template) return found;
	const name = template.replaceAll('~1', '/').replaceAll('~0', '~');
	return state.value?.targets.find((t) => t.group === 'activity' && t.of === name && t.path.endsWith(rest));
}

/** The path of the target that a place of the mapping belongs to: that place, the nearest one above it, or the first one below it.
 * @param {string|null|undefined} path @returns {string|undefined} */
export function targetNear(path) {
	if (!path) return undefined;
	const all = targetsByPath.value;
	for (let at = path; at; at = at.slice(0, at.lastIndexOf('/'))) if (all.has(at)) return at;
	return [...all.keys()].find((at) => at.startsWith(path + '/'));
}

/** @param {string} text */
export function say(text) {
	const isAgain = notice.peek()?.text === text;
	notice.value = { kind: 'said', text: isAgain ? text + '\u00a0' : text }; // what is said again must differ to be read aloud again
}

/** Says why something was refused. @param {any} error @param {string} [what] what was to be done */
export function refuse({ message, hint, code }, what) {
	const text = what ? `Not done: ${what}. ${message[0].toUpperCase()}${message.slice(1)}` : message;
	notice.value = code === 'changed-on-disk' ? null : { kind: 'refused', text, hint }; // the state says that too, and asks
}

/** Takes a state unless a newer one is here already. @param {State} next */
function take(next) {
	const old = state.peek();
	if (!old || next.version > old.version || (next.version === old.version && next.progress >= old.progress)) state.value = next;
}

/** How many changes are on their way. */
export const sending = signal(0);

/** The change before; each waits for it, so that they arrive in order. */
let before = Promise.resolve(true);

/** Asks the server for a change. What was made for an earlier state than the present one is refused by the server.
 * @param {string} path @param {object|(() => object|null)} body a function makes it from the state at the time of sending; null is nothing to do
 * @param {string} [done] what to say then @param {string} [what] its name when it is refused @returns {Promise<boolean>} whether it was done */
function submit(path, body, done, what) {
	const seen = state.peek()?.version || 0;
	const send = async () => {
		try {
			const isMadeNow = typeof body === 'function', made = isMadeNow ? body() : body;
			const next = made && await post(path, { version: isMadeNow ? state.peek()?.version || 0 : seen, ...made });
			if (next) batch(() => { take(next); if (done) say(done); else notice.value = null; });
			return true;
		} catch (error) {
			const { state: present } = /** @type {any} */ (error);
			if (present) take(present);
			refuse(error, what);
			return false;
		} finally {
			sending.value--;
		}
	};
	sending.value++;
	before = before.then(send);
	return before;
}

/** @param {string} label what the history calls it @param {Operation[]|(() => Operation[])} operations a function makes them at the time of sending */
export const patch = (label, operations) => submit('patch', Array.isArray(operations) ? { label, operations } : () => {
	const made = operations();
	return made.length ? { label, operations: made } : null;
}, label, label);

/** @param {string} text the whole file */
export const replaceText = (text) => submit('text', { text }, 'The file is taken as you wrote it.', 'the text of the file');

/** @param {number} [to] the place in the history; default one step back */
export const undo = (to) => submit('history', () => ({ to: to ?? current().mapping.at - 1 }), 'Undone.');

/** Takes back the last change; what is being typed is one. */
export const undoTyped = async () => { if (await takeIn()) undo(); };

/** @param {number} [to] the place in the history; default one step forward */
export const redo = (to) => submit('history', () => ({ to: to ?? current().mapping.at + 1 }), 'Done again.');

/** Answers a question of a first mapping: its comment goes. @param {import('./types.js').Question} q */
export const decide = (q) => submit('decide', () => {
	const now = state.peek()?.mapping.questions.find((x) => x.text === q.text && x.path === q.path);
	return now ? { line: now.line } : null;
}, 'Decided.');

/** Writes the mapping to its file, with what is being typed. @param {boolean} [overwrite] also when another program changed the file */
export const save = async (overwrite = false) => await takeIn()
	&& submit('save', () => ({ overwrite }), `Saved to ${state.peek()?.mapping.path}.`, 'Save');

/** Takes the file as it is on the disk. */
export const reload = () => submit('reload', () => ({}), 'The file is read from the disk. Undo brings back what was here.');

/** @param {string} column its letter @param {boolean} ignored */
export const ignore = (column, ignored) => submit('ignore', { column, ignored },
	ignored ? `Column ${column} is left out on purpose.` : `Column ${column} is open again.`);

/** @param {'dry-run'|'sandbox'} kind */
export const startJob = (kind) => submit('job', () => ({ kind }));

/** Stops the job under way. */
export const cancelJob = () => submit('job/cancel', () => ({}), 'Stopped.');

/** Follows the server's state for as long as the page is open, which keeps the session; less often while the server is away. */
export async function follow() {
	addEventListener('beforeunload', (e) => { if (away.value && isTyped.value) e.preventDefault(); }); // the browser asks whether to leave
	addEventListener('pagehide', () => { takeIn(); });
	for (;;) {
		const now = state.peek();
		try {
			const next = await get('state', { since: now ? `${now.version}.${now.progress}` : undefined });
			if (next) take(next);
			away.value = false;
		} catch (error) {
			if (!now) refuse(error);
			away.value = true;
		}
		await new Promise((done) => setTimeout(done, away.value ? 2000 : 250)); // a browser lets hidden pages wait a second by itself
	}
}
