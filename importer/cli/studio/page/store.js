// @ts-check
// What the page knows: the server's state, what is under way, and what to say to the person. All changes go through here.

import { get, post, ApiError } from './api.js';
import { batch, computed, signal } from './lib.js';
import { isTyped, takeIn } from './pending.js';

/** @typedef {import('./types.js').State} State */
/** @typedef {import('./types.js').Operation} Operation */

/** The server's state; null before the first answer.
 * @type {import('./lib.js').Signal<State|null>} */
export const state = signal(/** @type {State|null} */ (null));

/** The last sentence for the person, read aloud by screen readers.
 * again does once more what did not reach the server.
 * @type {import('./lib.js').Signal<{kind: 'said'|'refused', text: string, hint?: string, again?: () => void}|null>} */
export const notice = signal(/** @type {any} */ (null));

/** Why there is no news: the server does not answer, it fails, or another one answers at its address; '' when there is. */
export const away = signal(/** @type {''|'silent'|'broken'|'another'} */ (''));

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

/** Problems of the mapping, mistakes first. */
export const problems = computed(() => [...(state.value?.mapping.problems || []), ...(state.value?.mapping.warnings || [])]);

/** @param {string} text @param {string} [hint] */
export function say(text, hint) {
	const isAgain = notice.peek()?.text === text;
	notice.value = { kind: 'said', text: isAgain ? text + '\u00a0' : text, hint }; // what is said again must differ to be read aloud again
}

/** Says why something was refused. @param {any} error @param {string} [what] what was to be done @param {() => void} [again] does it once more */
export function refuse(error, what, again) {
	const { message, hint, code, status } = error;
	notice.value = code === 'changed-on-disk' ? null // the state says it too, and asks
		: { kind: 'refused', text: what ? `Not done: ${what}. ${message[0].toUpperCase()}${message.slice(1)}` : message, hint,
			again: status === 0 || status >= 500 ? again : undefined };
}

/** Takes a state unless a newer one is here already. @param {State} next */
function take(next) {
	const old = state.peek();
	if (old && (next.version < old.version || (next.version === old.version && next.progress < old.progress))) return;
	state.value = next;
}

/** How many changes are on their way. */
export const sending = signal(0);

/** A change takes long. */
export const slow = signal(false);

/** The change before; each waits for it, so that they arrive in order. @type {Promise<any>} */
let before = Promise.resolve();

/** A change that the server is asked for. The body is without the version; a function makes it from the state at the time of sending, and null is
 * nothing to do. done is what to say then, what is its name when it is refused; always means the same whatever was changed before.
 * @typedef {{path: string, body: object|(() => object|null), done?: string, what?: string, always?: boolean}} Change */

/** Sends a change, after those before it. What was made for an earlier state than the present one is refused by the server.
 * @param {Change} change
 * @returns {Promise<boolean>} whether it was done */
function submit(change) {
	const seen = state.peek()?.version || 0;
	sending.value++;
	before = before.then(() => send(change, seen)).finally(() => { sending.value--; });
	return before;
}

/** @param {Change} change @param {number} seen the version that the person saw @returns {Promise<boolean>} */
async function send(change, seen) {
	const isMade = typeof change.body === 'function';
	const timer = setTimeout(() => { slow.value = true; }, 3000);
	let sent = /** @type {object|null} */ (null);
	try {
		const body = isMade ? /** @type {() => object|null} */ (change.body)() : change.body;
		if (body === null) return true;
		const version = isMade || change.always ? state.peek()?.version || 0 : seen;
		sent = { version, ...body };
		const next = await post(change.path, sent);
		batch(() => {
			take(next);
			if (change.done) say(change.done);
			else notice.value = null;
		});
		return true;
	} catch (error) {
		if (error instanceof ApiError && error.state) take(error.state);
		const body = sent; // with its version: what has arrived all the same is refused the second time
		refuse(error, change.what, body ? () => { submit({ ...change, body }); } : undefined);
		return false;
	} finally {
		clearTimeout(timer);
		slow.value = false;
	}
}

/** @param {string} label what the history calls it @param {Operation[]|(() => Operation[])} operations a function makes them from the state at the time of sending */
export const patch = (label, operations) => submit({
	path: 'patch', done: label, what: label,
	body: Array.isArray(operations) ? { label, operations } : () => { const list = operations(); return list.length ? { label, operations: list } : null; },
});

/** @param {string} text the whole file */
export const replaceText = (text) => submit({ path: 'text', body: { text }, done: 'The file is taken as you wrote it.', what: 'the text of the file' });

/** @param {number} [to] the place in the history; default one step back */
export const undo = (to) => submit({ path: 'undo', body: to === undefined ? {} : { to }, done: 'Undone.', always: true });

/** @param {number} [to] */
export const redo = (to) => submit({ path: 'redo', body: to === undefined ? {} : { to }, done: 'Done again.', always: true });

/** Answers a question of a first mapping: its comment goes. @param {import('./types.js').Question} q */
export const decide = (q) => submit({ path: 'decide', done: 'Decided.', body: () => {
	const now = state.peek()?.mapping.questions.find((x) => x.text === q.text && x.path === q.path);
	return now ? { line: now.line } : null;
} });

/** Takes what an earlier session left unsaved, or drops it. @param {boolean} take */
export const draft = (take) => submit({ path: 'draft', body: { take },
	done: take ? 'These are the changes of last time.' : 'The changes of last time are dropped.' });

/** Writes the mapping to its file, with what is being typed. @param {boolean} [overwrite] also when another program changed the file */
export async function save(overwrite = false) {
	return await takeIn() && submit({ path: 'save', body: { overwrite }, done: `Saved to ${state.peek()?.mapping.path}.`, what: 'Save', always: true });
}

/** Takes the file as it is on the disk. */
export const reload = () => submit({ path: 'reload', body: {}, done: 'The file is read from the disk. Undo brings back what was here.', always: true });

/** Chooses the sheet, undefined for that of now, and the row that names the columns. @param {string|undefined} name @param {number} headerRow */
export const chooseSheet = (name, headerRow) => patch(`Row ${headerRow} names the columns`, [
	...(name === undefined ? [] : [{ op: /** @type {'add'} */ ('add'), path: '/sheet/name', value: name }]), { op: 'add', path: '/sheet/header_row', value: headerRow }]);

/** @param {string} column its letter @param {boolean} ignored */
export const ignore = (column, ignored) => submit({ path: 'ignore', body: { column, ignored },
	done: ignored ? `Column ${column} is left out on purpose.` : `Column ${column} is open again.` });

/** @param {'dry-run'|'sandbox'} kind */
export const startJob = (kind) => submit({ path: 'job', body: { kind }, always: true });

/** Stops the job under way. */
export const cancelJob = () => submit({ path: 'job/cancel', body: {}, done: 'Stopped.', always: true });

/** How often the page asks for news, in milliseconds, and how often while the server is away or the page is hidden. */
const often = 250, seldom = 2000;

/** Follows the server's state for as long as the page is open. */
export async function follow() {
	const pause = (/** @type {number} */ time) => new Promise((done) => setTimeout(done, time));
	addEventListener('beforeunload', (e) => { if (away.value && isTyped.value) e.preventDefault(); }); // the browser asks whether to leave
	addEventListener('pagehide', () => { takeIn(); });
	for (;;) {
		const now = state.peek();
		try {
			const next = await get('state', { since: now ? `${now.version}.${now.progress}` : undefined });
			if (next) take(next);
			away.value = '';
			await pause(document.visibilityState === 'hidden' ? seldom : often); // the session lasts while a page asks
		} catch (error) {
			if (!now) refuse(error);
			const { status } = /** @type {any} */ (error);
			away.value = status === 401 || status === 403 ? 'another' : status ? 'broken' : 'silent';
			await pause(seldom);
		}
	}
}
